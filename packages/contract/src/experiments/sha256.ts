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

/** The first 8 bytes of the hash, as two unsigned numbers of 32 bits. Texts are shorter than 512 MiB. */
export function sha256Head(text: string): [high: number, low: number] {
  const blocks = blocksOf(text)
  const hash = Int32Array.from(initial)
  const schedule = new Int32Array(64)
  for (let start = 0; start < blocks.length; start += 16) {
    schedule.set(blocks.subarray(start, start + 16))
    for (let i = 16; i < 64; i++) {
      const [a, b] = [schedule[i - 15] as number, schedule[i - 2] as number]
      const small = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)
      const large = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10)
      schedule[i] = (schedule[i - 16] as number) + small + (schedule[i - 7] as number) + large
    }
    let [a, b, c, d, e, f, g, h] = hash as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    for (let i = 0; i < 64; i++) {
      const choice = (e & f) ^ (~e & g)
      const majority = (a & b) ^ (a & c) ^ (b & c)
      const upper = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      const lower = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
      const step = (h + upper + choice + (constants[i] as number) + (schedule[i] as number)) | 0
      ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + step) | 0, c, b, a, (step + lower + majority) | 0]
    }
    const block = [a, b, c, d, e, f, g, h]
    for (let i = 0; i < 8; i++) hash[i] = (hash[i] as number) + (block[i] as number)
  }
  return [(hash[0] as number) >>> 0, (hash[1] as number) >>> 0]
}
