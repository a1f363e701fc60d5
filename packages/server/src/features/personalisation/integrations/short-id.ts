import { randomInt } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const length = 10
const pattern = /^[0-9A-Za-z]{10}$/

/** The part of an address that names an integration: 59 random bits, so that trying finds none. */
export function newShortId(): string {
  let text = ''
  while (text.length < length) text += alphabet.charAt(randomInt(alphabet.length))
  return text
}

/** Whether an integration can have it, which spares the store what is no short id at all. */
export function isShortId(text: string): boolean {
  return pattern.test(text)
}
