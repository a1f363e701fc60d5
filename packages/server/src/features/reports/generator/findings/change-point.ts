import { seededRandom, shuffled } from '../../../../platform/distributions/random.ts'
import { type Bucket, withoutWeekdays } from './compare-periods.ts'
import { minVariation } from './robust.ts'

/** Where a course goes over to another level. */
export interface ChangePoint {
  /** Index of the first bucket of the new level. */
  readonly index: number
  readonly pValue: number
  readonly rises: boolean
}

/** Buckets on either side. */
const minSide = 5
const permutations = 999
const maxPValue = 0.01
/** The same course gives the same answer. */
const seed = 20_111_109

/**
 * The bucket at which the rate changes most (docs/reports.md, How findings are computed): every division of the course
 * into two is scanned for the greatest weighted difference of the rates (a CUSUM; Page 1954), and the greatest of all is
 * held against those of the same buckets in random orders, so that the choice among the divisions is corrected for and no
 * distribution taken for granted. Weekdays are levelled first.
 */
export function findChangePoint(buckets: readonly Bucket[]): ChangePoint | undefined {
  return divide(withoutWeekdays(buckets))
}

function divide(levelled: readonly Bucket[]): ChangePoint | undefined {
  if (levelled.length < 2 * minSide) return undefined
  const found = scan(levelled)
  if (found === undefined || Math.abs(found.difference) < minVariation * found.level) return undefined
  const random = seededRandom(seed)
  let atLeast = 0
  for (let i = 0; i < permutations; i++) {
    const other = scan(shuffled(levelled, random))
    if (other !== undefined && other.strength >= found.strength) atLeast++
  }
  const pValue = (atLeast + 1) / (permutations + 1)
  return pValue <= maxPValue ? { index: found.index, pValue, rises: found.difference > 0 } : undefined
}

/** How often a part is divided again: into eight levels at most. */
const maxDepth = 3

/**
 * The buckets with the greatest and least few at the next value, of which a level that is looked for has more: an
 * extraordinary bucket makes no level, and hides none.
 */
function withoutExtremes(buckets: readonly Bucket[]): Bucket[] {
  const values = buckets.filter(({ base }) => base > 0).map(({ value }) => value)
  const sorted = values.toSorted((a, b) => a - b)
  const cut = Math.min(minSide - 1, Math.floor(maxExtreme * sorted.length))
  const [least = 0, greatest = 0] = [sorted[cut], sorted.at(-1 - cut)]
  return buckets.map((bucket) => ({
    ...bucket,
    value: bucket.base > 0 ? Math.min(greatest, Math.max(least, bucket.value)) : bucket.value,
  }))
}

/** The part of a course, at either end of its values, that may be extraordinary. */
const maxExtreme = 0.05

/**
 * Every bucket at which the course of a count or sum goes over to another level, in the order of time: each part is
 * looked at again.
 */
export function findLevels(buckets: readonly Bucket[]): ChangePoint[] {
  const within = (part: readonly Bucket[], depth: number): ChangePoint[] => {
    const found = depth > 0 ? divide(part) : undefined
    if (!found) return []
    const right = within(part.slice(found.index), depth - 1)
    return [
      ...within(part.slice(0, found.index), depth - 1),
      found,
      ...right.map((each) => ({ ...each, index: each.index + found.index })),
    ]
  }
  return within(withoutWeekdays(withoutExtremes(buckets)), maxDepth)
}

interface Division {
  readonly index: number
  readonly strength: number
  /** Of the rate behind it to the rate before it. */
  readonly difference: number
  /** The greater of both rates. */
  readonly level: number
}

/** The strongest division: the squared difference of the rates, weighted by the bases on both sides. */
function scan(buckets: readonly Bucket[]): Division | undefined {
  let [value, base] = [0, 0]
  for (const bucket of buckets) {
    value += bucket.value
    base += bucket.base
  }
  let best: Division | undefined
  let [left, leftBase] = [0, 0]
  buckets.forEach((bucket, i) => {
    if (i >= minSide && i <= buckets.length - minSide && leftBase > 0 && base > leftBase) {
      const [before, after] = [left / leftBase, (value - left) / (base - leftBase)]
      const difference = after - before
      const strength = difference ** 2 * ((leftBase * (base - leftBase)) / base)
      if (best === undefined || strength > best.strength) {
        best = { index: i, strength, difference, level: Math.max(Math.abs(before), Math.abs(after)) }
      }
    }
    left += bucket.value
    leftBase += bucket.base
  })
  return best
}
