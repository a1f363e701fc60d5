import type { StagedBatch } from '../staged-rows.ts'

const bytesPerKey = 8

/**
 * Reads 64-bit keys as the engine writes them in RowBinary, little-endian as every processor of Node.js is.
 * @param onKeys is given some of them at a time: of each the low half and then the high one; the array is used again
 */
export async function readKeys(
  bytes: StagedBatch['keys'],
  onKeys: (halves: Uint32Array) => void,
): Promise<void> {
  // Words want an address that a part of a stream need not have.
  let aligned = new Uint8Array(128 * 1024)
  let filled = 0
  for await (const part of bytes) {
    if (filled + part.length > aligned.length) {
      const larger = new Uint8Array(2 * (filled + part.length))
      larger.set(aligned.subarray(0, filled))
      aligned = larger
    }
    aligned.set(part, filled)
    filled += part.length
    const whole = filled - (filled % bytesPerKey)
    if (whole > 0) onKeys(new Uint32Array(aligned.buffer, 0, whole / 4))
    aligned.copyWithin(0, whole, filled)
    filled -= whole
  }
  if (filled > 0) throw new Error(`The last key has ${filled} bytes instead of ${bytesPerKey}`)
}
