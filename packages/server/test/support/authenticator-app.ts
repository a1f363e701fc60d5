import { codeOf, stepOf } from '../../src/features/auth/totp.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** As an authenticator application reads it. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** What the application shows at a time, in milliseconds; `steps` later or earlier. */
export const codeAt = (secret: Buffer, milliseconds: number, steps = 0): string =>
  codeOf(secret, stepOf(milliseconds) + steps)
