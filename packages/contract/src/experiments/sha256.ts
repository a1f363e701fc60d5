// SHA-256 (FIPS 180-4) of short texts. Browsers have it as an asynchronous function only, which is too late for what
// a page is about to show.

/** The first 32 bits of the fractional part of a root of a prime. */
const fraction = (root: number): number => (root * 2 ** 32) | 0

/** The initial hash and the round constants: of the square roots of the first 8 primes, the cube roots of 64. */
const initial = new Int32Array(8)
const constants = new Int32Array(64)
for (let candidate = 2, found = 0; found < 64; candidate++) {
  let divisor = 2
  while (candidate % divisor !== 0) divisor++
  if (divisor < candidate) continue
  if (found < 8) initial[found] = fraction(Math.sqrt(candidate))
  constants[found++] = fraction(Math.cbrt(candidate))
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

const encoder = new TextEncoder()
/** Used again and again: the texts of assignments are short. */
const scratch = new Uint8Array(1024)

/** The text as UTF-8, padded to blocks of 64 bytes: memory that begins with them, and their length. */
function padded(text: string): { readonly bytes: Uint8Array; readonly length: number } {
  // A code unit takes three bytes at most, the padding at most 72.
  const room = text.length * 3 + 72
  const bytes = room <= scratch.length ? scratch : new Uint8Array(room)
  const { written } = encoder.encodeInto(text, bytes)
  const length = ((written + 8) >> 6) * 64 + 64
  bytes[written] = 0x80
  bytes.fill(0, written + 1, length - 4)
  const bits = written * 8
  for (let i = 0; i < 4; i++) bytes[length - 1 - i] = bits >>> (8 * i)
  return { bytes, length }
}

const schedule = new Int32Array(64)

/** Mixes the block that stands in the first 16 words of the schedule into the hash (FIPS 180-4, 6.2.2). */
function mix(hash: Int32Array): void {
  for (let i = 16; i < 64; i++) {
    const x = word(schedule, i - 15)
    const y = word(schedule, i - 2)
    const small = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)
    const large = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10)
    schedule[i] = (((word(schedule, i - 16) + small) | 0) + ((word(schedule, i - 7) + large) | 0)) | 0
  }
  let a = word(hash, 0)
  let b = word(hash, 1)
  let c = word(hash, 2)
  let d = word(hash, 3)
  let e = word(hash, 4)
  let f = word(hash, 5)
  let g = word(hash, 6)
  let h = word(hash, 7)
  for (let i = 0; i < 64; i++) {
    const upper = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const choice = (e & f) ^ (~e & g)
    const lower = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const added = (word(constants, i) + word(schedule, i)) | 0
    const step = (((h + upper) | 0) + ((choice + added) | 0)) | 0
    h = g
    g = f
    f = e
    e = (d + step) | 0
    d = c
    c = b
    b = a
    a = (((step + lower) | 0) + majority) | 0
  }
  hash[0] = word(hash, 0) + a
  hash[1] = word(hash, 1) + b
  hash[2] = word(hash, 2) + c
  hash[3] = word(hash, 3) + d
  hash[4] = word(hash, 4) + e
  hash[5] = word(hash, 5) + f
  hash[6] = word(hash, 6) + g
  hash[7] = word(hash, 7) + h
}

const hash = new Int32Array(8)

/** The first 8 bytes of the hash, as two unsigned numbers of 32 bits. Texts are shorter than 512 MiB. */
export function sha256Head(text: string): [high: number, low: number] {
  const { bytes, length } = padded(text)
  hash.set(initial)
  for (let start = 0; start < length; start += 64) {
    for (let i = 0; i < 16; i++) {
      const at = start + 4 * i
      schedule[i] =
        (word(bytes, at) << 24) |
        (word(bytes, at + 1) << 16) |
        (word(bytes, at + 2) << 8) |
        word(bytes, at + 3)
    }
    mix(hash)
  }
  return [word(hash, 0) >>> 0, word(hash, 1) >>> 0]
}

const word = (words: Int32Array | Uint8Array, index: number): number => words[index] as number
