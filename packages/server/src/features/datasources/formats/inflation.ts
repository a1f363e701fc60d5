import { SourceFault, tooLarge } from './source-fault.ts'
import type { SourceLimits } from './source-options.ts'
import { sizeText } from './text-reader.ts'

/**
 * Holds decompressed content against its limits. Call it for each piece, with the compressed bytes that have given all
 * pieces so far.
 */
export function boundInflation(limits: SourceLimits): (bytes: number, compressedSoFar: number) => void {
  let inflated = 0
  return (bytes, compressedSoFar) => {
    inflated += bytes
    if (inflated > limits.contentBytes) {
      throw tooLarge(`More than ${sizeText(limits.contentBytes)} of content: split the file`)
    }
    if (inflated > limits.ratioFreeBytes && inflated > limits.inflationRatio * Math.max(1, compressedSoFar)) {
      throw new SourceFault(
        'inflation',
        `The compressed content becomes more than ${limits.inflationRatio} times as large, beyond ${sizeText(limits.ratioFreeBytes)}: send it without compression`,
      )
    }
  }
}
