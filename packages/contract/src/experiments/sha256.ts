// SHA-256 (FIPS 180-4) of short texts. Browsers have it as an asynchronous function only, which is too late for what
// a page is about to show.

/** The first 32 bits of the fractional part of a root of a prime. */
const fraction = (root: number): number => (root * 2 ** 32) | 0

/** The initial hash and the round constants: of the square roots of the first 8 primes, the cube roots of 64. */
const initial: number[] = []
const constants: number[] = []
for (let candidate = 2; constants.length < 64; candidate++) {
  let divisor = 2
  while (candidate % divisor !== 0) divisor++
  if (divisor < candidate) continue
  if (initial.length < 8) initial.push(fraction(Math.sqrt(candidate)))
  constants.push(fraction(Math.cbrt(candidate)))
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

/** The text as UTF-8, padded to blocks of 16 words. */
function blocksOf(text: string): Uint32Array {
  const bytes = new TextEncoder().encode(text)
  const padded = new Uint8Array((((bytes.length + 8) >> 6) << 6) + 64)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 4, bytes.length * 8)
  return Uint32Array.from({ length: padded.length / 4 }, (_, i) => view.getUint32(i * 4))
}

const schedule = new Int32Array(64)

/** The first 8 bytes of the hash, as two unsigned numbers of 32 bits. Texts are shorter than 512 MiB. */
export function sha256Head(text: string): [high: number, low: number] {
  const blocks = blocksOf(text)
  const hash = Int32Array.from(initial)
  for (let start = 0; start < blocks.length; start += 16) {
    schedule.set(blocks.subarray(start, start + 16))
    for (let i = 16; i < 64; i++) {
      const x = word(schedule, i - 15)
      const y = word(schedule, i - 2)
      const small = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)
      const large = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10)
      schedule[i] = word(schedule, i - 16) + small + word(schedule, i - 7) + large
    }
    const block = hash.slice()
    // The eight words move up by one place each round, so it is their places that move here: a is at -round.
    for (let i = 0; i < 64; i++) {
      const place = (n: number) => (n - i) & 7
      const a = word(block, place(0))
      const e = word(block, place(4))
      const choice = (e & word(block, place(5))) ^ (~e & word(block, place(6)))
      const b = word(block, place(1))
      const c = word(block, place(2))
      const majority = (a & b) ^ (a & c) ^ (b & c)
      const upper = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      const lower = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
      const step = word(block, place(7)) + upper + choice + word(constants, i) + word(schedule, i)
      block[place(3)] = word(block, place(3)) + step
      block[place(7)] = step + lower + majority
    }
    for (let i = 0; i < 8; i++) hash[i] = word(hash, i) + word(block, i)
  }
  return [word(hash, 0) >>> 0, word(hash, 1) >>> 0]
}

const word = (words: ArrayLike<number>, index: number): number => words[index] as number
