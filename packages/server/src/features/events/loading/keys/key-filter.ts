/** Odd multipliers of the split block Bloom filter, one for each word of a block (Apache Parquet's specification). */
const salts = Int32Array.of(
  0x47b6137b,
  0x44974d91,
  0x8824ad5b,
  0xa2b7289d,
  0x705495c7,
  0x2df1424b,
  0x9efc4947,
  0x5c6bfb31,
)
const wordsPerBlock = salts.length
const bitsPerBlock = 32 * wordsPerBlock

/** At capacity about 6 of 1,000 unknown keys are false positives, at half of it hardly any. */
const bitsPerKey = 12

/** Keys whose blocks are fetched together: one fetch is slow, and many at once are not slower. */
const together = 64

/**
 * A set of 64-bit hashes without false negatives and with few false positives: a split block Bloom filter, whose
 * look-up touches one cache line.
 */
export class KeyFilter {
  /** Keys up to which the rate of false positives holds; it takes more keys, at a higher rate. */
  readonly capacity: number
  readonly #words: Int32Array
  readonly #blocks: number
  readonly #starts = new Int32Array(together + 1)
  #count = 0

  constructor(capacity: number) {
    this.capacity = capacity
    this.#blocks = Math.max(1, Math.ceil((capacity * bitsPerKey) / bitsPerBlock))
    this.#words = new Int32Array(this.#blocks * wordsPerBlock)
  }

  /** The filter whose parts these are; undefined where they do not fit together. */
  static of(capacity: number, count: number, bits: Uint8Array): KeyFilter | undefined {
    const filter = new KeyFilter(capacity)
    if (filter.bits.length !== bits.length) return undefined
    filter.bits.set(bits)
    filter.#count = count
    return filter
  }

  /** Keys that were new to it. */
  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#words.byteLength
  }

  /** Its bits as bytes, in the order of this processor. */
  get bits(): Uint8Array {
    return new Uint8Array(this.#words.buffer)
  }

  /**
   * Adds keys.
   * @param halves of each key the low half and then the high one
   * @param onKnown called with the index of each key that may have been there before
   */
  add(halves: Uint32Array, onKnown: (key: number) => void): void {
    const keys = halves.length >> 1
    for (let from = 0; from < keys; from += together) {
      const to = Math.min(from + together, keys)
      this.#fetch(halves, from, to)
      for (let key = from; key < to; key++) {
        if (this.#addOne(this.#starts[key - from] as number, halves[2 * key] as number)) onKnown(key)
      }
    }
  }

  /** Finds the blocks of some keys, and has them in the processor's cache afterwards. */
  #fetch(halves: Uint32Array, from: number, to: number): void {
    let touched = 0
    for (let key = from; key < to; key++) {
      const high = halves[2 * key + 1] as number
      const start = Math.floor((high * this.#blocks) / 0x1_0000_0000) * wordsPerBlock
      this.#starts[key - from] = start
      touched |= this.#words[start] as number
    }
    // Kept, so that the compiler does not leave the fetching out as useless.
    this.#starts[together] = touched
  }

  #addOne(start: number, low: number): boolean {
    const words = this.#words
    let missing = 0
    for (let index = 0; index < wordsPerBlock; index++) {
      const bit = 1 << (Math.imul(low, salts[index] as number) >>> 27)
      const word = words[start + index] as number
      missing |= bit & ~word
      words[start + index] = word | bit
    }
    if (missing === 0) return true
    this.#count++
    return false
  }
}
