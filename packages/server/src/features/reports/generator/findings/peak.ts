import { leastDeviation, mean, median, mirrored, robustDegrees, robustScale, twoSided } from './robust.ts'

/** The greatest bucket of a course. */
export interface Peak {
  readonly index: number
  /** Whether it stands out from the others by more than they vary. */
  readonly standsOut: boolean
}

const minBuckets = 6
/** From so many on buckets are short, and their values skewed as single purchases are: their logarithms are compared. */
const manyBuckets = 20
const maxFalse = 0.01
const logarithm = mirrored((value) => Math.log(value + 0.5))
const linear = (value: number) => value

/**
 * The one greatest bucket, and whether it lies above the others' median by more than their robust deviation lets expect
 * of the greatest of so many (Bonferroni's correction); none where several are equal. `levelled` are the values after the
 * season, with which it is compared.
 */
export function findPeak(
  values: readonly number[],
  levelled: readonly number[] = values,
  isCount = false,
): Peak | undefined {
  const greatest = Math.max(...values)
  const index = values.indexOf(greatest)
  if (index === -1 || greatest <= 0 || index !== values.lastIndexOf(greatest)) return undefined
  const scale = levelled.length < manyBuckets ? linear : logarithm
  const scaled = levelled.map(scale)
  const others = scaled.filter((_, i) => i !== index)
  if (others.length < minBuckets - 1) return { index, standsOut: false }
  const own = scaled[index] ?? 0
  if (own <= mean(others)) return { index, standsOut: false }
  const level = Math.abs(median(levelled.filter((_, i) => i !== index)))
  const deviation = robustScale(others, scale(level + leastDeviation(level, isCount)) - scale(level))
  const statistic = (own - median(others)) / deviation
  const pValue = (twoSided(statistic, robustDegrees(others.length)) / 2) * values.length
  return { index, standsOut: pValue <= maxFalse }
}
