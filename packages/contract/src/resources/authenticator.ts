import { type Static, Type } from 'typebox'
import { strict } from './formats.ts'

/** Whether the user signs in with one-time codes too. */
export const AuthenticatorState = Type.Object(
  {
    enabled: Type.Boolean({ description: 'Whether signing in needs a one-time code' }),
    recoveryCodes: Type.Integer({ description: 'Recovery codes that are left' }),
  },
  { ...strict, title: 'AuthenticatorState' },
)
export type AuthenticatorState = Static<typeof AuthenticatorState>

/** What an authenticator application needs; shown once. */
export const AuthenticatorOffer = Type.Object(
  {
    secret: Type.String({
      description: 'Base32, to type in',
      examples: ['GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'],
    }),
    address: Type.String({
      description: 'The same as an `otpauth://` address, for a QR code',
      examples: ['otpauth://totp/Millrace:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'],
    }),
  },
  { ...strict, title: 'AuthenticatorOffer' },
)
export type AuthenticatorOffer = Static<typeof AuthenticatorOffer>

export const RecoveryCodes = Type.Object(
  {
    recoveryCodes: Type.Array(Type.String({ examples: ['k7mq2-x4ftz-8wn3c'] }), {
      description: 'Each works once in place of a code; shown only now',
    }),
  },
  { ...strict, title: 'RecoveryCodes' },
)
export type RecoveryCodes = Static<typeof RecoveryCodes>
