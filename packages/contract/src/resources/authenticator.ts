import { type Static, Type } from 'typebox'
import { flag, like, listOf, named, text } from './formats.ts'

/** Whether the user signs in with one-time codes too. */
export const AuthenticatorState = named('AuthenticatorState', {
  enabled: flag('Whether signing in needs a one-time code'),
  recoveryCodes: Type.Integer({ description: 'Recovery codes that are left' }),
})
export type AuthenticatorState = Static<typeof AuthenticatorState>

/** What an authenticator application needs; shown once. */
export const AuthenticatorOffer = named('AuthenticatorOffer', {
  secret: text('Base32, to type in', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'),
  address: text(
    'The same as an `otpauth://` address, for a QR code',
    'otpauth://totp/Millrace:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
  ),
})
export type AuthenticatorOffer = Static<typeof AuthenticatorOffer>

export const RecoveryCodes = named('RecoveryCodes', {
  recoveryCodes: listOf(like('k7mq2-x4ftz-8wn3c'), 'Each works once in place of a code; shown only now'),
})
export type RecoveryCodes = Static<typeof RecoveryCodes>
