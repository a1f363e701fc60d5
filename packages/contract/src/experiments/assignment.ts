import { sha256Head } from './sha256.ts'

/** A variant as assignment reads it. */
export interface Allocated {
  readonly id: string
  /** Share of the units, in (0, 1]. */
  readonly allocation: number
}

/**
 * Where a unit lies in an experiment: a number in [0, 1) that is a multiple of 2^-53, the same in every
 * implementation (docs/experiments.md, Assignment). A lone surrogate counts as U+FFFD.
 */
export function assignmentPoint(salt: string, unit: string): number {
  const [high, low] = sha256Head(`${salt}:${unit}`)
  return (high * 2 ** 21 + (low >>> 11)) / 2 ** 53
}

/** The upper bound of each variant; the last is 1, so that no rounding leaves a unit without a variant. */
export function assignmentBounds(variants: readonly Allocated[]): number[] {
  let sum = 0
  return variants.map(({ allocation }, i) => {
    sum += allocation
    return i === variants.length - 1 ? 1 : sum
  })
}

/** The variant of a unit by the salted hash. @throws {RangeError} without variants */
export function assignVariant<V extends Allocated>(salt: string, unit: string, variants: readonly V[]): V {
  const point = assignmentPoint(salt, unit)
  const variant = variants[assignmentBounds(variants).findIndex((bound) => point < bound)]
  if (!variant) throw new RangeError('an experiment has variants')
  return variant
}
