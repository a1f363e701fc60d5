import { stepOf, codeOf as totpOf } from '../../src/features/identity/sign-in/second-factor/totp.ts'
import { type Auth, goodPassword } from './auth.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const url = '/v2/entities/users/me/authenticator'

/** As an authenticator application reads it. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** What the application shows now, or some steps of 30 s later. */
export const oneTimeCode = (auth: Pick<Auth, 'time'>, secret: Buffer, steps = 0): string =>
  codeAt(secret, auth.time.clock.now(), steps)

/** What the application shows at a time, in milliseconds; `steps` later or earlier. */
export const codeAt = (secret: Buffer, milliseconds: number, steps = 0): string =>
  totpOf(secret, stepOf(milliseconds) + steps)

/** Turns the second step on for the user of this access token; afterwards the code of this step is used up. */
export async function turnOnAuthenticator(
  auth: Pick<Auth, 'call' | 'time'>,
  token: string,
): Promise<{ secret: Buffer; recoveryCodes: string[] }> {
  const offered = await auth.call(token, 'POST', url, { password: goodPassword })
  if (offered.statusCode !== 200) throw new Error(offered.body)
  const secret = fromBase32(offered.json().data.secret)
  const confirmed = await auth.call(token, 'POST', `${url}/confirm`, { code: oneTimeCode(auth, secret) })
  if (confirmed.statusCode !== 200) throw new Error(confirmed.body)
  auth.time.advance(30_000)
  return { secret, recoveryCodes: confirmed.json().data.recoveryCodes }
}
