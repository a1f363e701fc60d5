import { randomBytes, randomInt } from 'node:crypto'

const processRandom = randomBytes(5).toString('hex')
let counter = randomInt(0x1000000)

/**
 * A new identifier: 24 lower-case hexadecimal characters, made of 4 bytes of time in seconds,
 * 5 bytes that are random for each process, and a 3-byte counter, so that ids sort roughly by age
 * and two processes do not meet (docs/interface.md, Names).
 */
export function newId(now: number = Date.now()): string {
  counter = (counter + 1) & 0xffffff
  const seconds = Math.floor(now / 1000) >>> 0
  return seconds.toString(16).padStart(8, '0') + processRandom + counter.toString(16).padStart(6, '0')
}

const idPattern = /^[0-9a-fA-F]{24}$/

/** Whether a text is an identifier; `$` in JavaScript does not match before a final line feed. */
export function isId(text: string): boolean {
  return idPattern.test(text)
}

/** Upper case is accepted on input; everything stored and compared is lower case. */
export function normalizeId(id: string): string {
  return id.toLowerCase()
}
