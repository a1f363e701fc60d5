import { createHmac, timingSafeEqual } from 'node:crypto'

/** RFC 6238 with the values that authenticator applications share: 30 s, six digits, SHA-1. */
export const stepSeconds = 30
const digits = 6

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** RFC 4648 6, without padding. */
export function toBase32(bytes: Buffer): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet[(value >>> bits) & 31]
    }
    value &= (1 << bits) - 1
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text
}

/** The code of one step (RFC 4226 5.3). */
export function codeOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = mac.readUInt8(mac.length - 1) & 15
  const number = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** digits
  return String(number).padStart(digits, '0')
}

export function stepOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000 / stepSeconds)
}

/**
 * The step whose code this is, out of the present one and one on either side, for clocks that differ a little
 * (RFC 6238 5.2); undefined when it is none of theirs.
 */
export function matchingStep(secret: Buffer, code: string, milliseconds: number): number | undefined {
  const given = Buffer.from(code)
  const present = stepOf(milliseconds)
  let found: number | undefined
  for (const step of [present - 1, present, present + 1]) {
    const expected = Buffer.from(codeOf(secret, step))
    if (expected.length === given.length && timingSafeEqual(expected, given)) found = step
  }
  return found
}

/** Address that authenticator applications read, from a QR code or a link. */
export function authenticatorAddress(secret: Buffer, account: string, issuer = 'Millrace'): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${stepSeconds}`
}
