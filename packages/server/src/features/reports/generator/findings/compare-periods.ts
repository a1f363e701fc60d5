import {
  mean,
  median,
  minVariation,
  robustDegrees,
  robustDeviation,
  twoSided,
  varianceInflation,
} from './robust.ts'

/**
 * One bucket of time: what was counted or summed, over what it is a rate of. The base of a plain count or sum is 1 in
 * every bucket, so that its rate is the mean of the buckets.
 */
export interface Bucket {
  readonly value: number
  readonly base: number
  /** 0 to 6 from Monday on, where buckets are days. */
  readonly weekday?: number | undefined
}

/** Whether two periods differ by more than their buckets vary. */
export interface Comparison {
  readonly pValue: number
  /** The difference of the rates in standard errors. */
  readonly statistic: number
}

const noDifference: Comparison = { pValue: 1, statistic: 0 }

/** Buckets with a base that each period needs. */
const minBuckets = 4

/**
 * Compares the rate of a period with that of another by the variation of the buckets within each
 * (docs/reports.md, How findings are computed): a ratio estimator with its linearised variance, so that days of many
 * sessions weigh more and no distribution of the counts is taken for granted; weekdays removed, dependence of neighbours
 * counted in; Welch's degrees of freedom.
 */
export function comparePeriods(now: readonly Bucket[], before: readonly Bucket[]): Comparison {
  const effects = weekdayEffects([now, before])
  const [a, b] = [estimate(now, effects), estimate(before, effects)]
  if (!a || !b) return noDifference
  const variance = a.variance + b.variance
  const difference = a.rate - b.rate
  if (difference === 0 || !(variance > 0)) return noDifference
  const degrees = variance ** 2 / (a.variance ** 2 / a.degrees + b.variance ** 2 / b.degrees)
  const statistic = difference / Math.sqrt(variance)
  return { statistic, pValue: twoSided(statistic, degrees) }
}

/** Buckets that a new level needs. */
const minLevel = 5
/** Days of the whole course from which weekdays can be levelled. */
const minDailyCourse = 28

/**
 * Whether the rate went over to another level somewhere within a period, the beginning of it included: of all such
 * divisions of the course of both periods the least p-value, times their number. The variance is that of all buckets
 * around the rates of both sides: a few buckets at the end are no measure of their own variation.
 */
export function compareLevels(now: readonly Bucket[], before: readonly Bucket[]): Comparison {
  const course = [...before, ...now]
  const isDaily = course.every(({ weekday }) => weekday !== undefined)
  if (before.length < minLevel || (isDaily && course.length < minDailyCourse)) return noDifference
  const buckets = withoutWeekdays(course).filter(({ base }) => base > 0)
  const beginning = before.filter(({ base }) => base > 0).length
  const bases = buckets.map(({ base }) => base)
  let best = noDifference
  let divisions = 0
  for (let i = Math.max(1, beginning); i <= buckets.length - minLevel; i++) {
    const [left, right] = [buckets.slice(0, i), buckets.slice(i)]
    const [leftRate, rightRate] = [rateOf(left), rateOf(right)]
    const residuals = [
      ...left.map(({ value, base }) => value - leftRate * base),
      ...right.map(({ value, base }) => value - rightRate * base),
    ]
    const degrees = Math.max(1, residuals.length - 2 - (isDaily ? 6 : 0))
    const squares = residuals.reduce((sum, residual) => sum + residual ** 2, 0)
    const least = minVariation * Math.max(Math.abs(leftRate), Math.abs(rightRate)) * mean(bases)
    const perBucket = Math.max(squares / degrees, least ** 2)
    const ofRates = left.length / sumOf(left, 'base') ** 2 + right.length / sumOf(right, 'base') ** 2
    const variance = perBucket * ofRates * varianceInflation(residuals)
    divisions++
    if (!(variance > 0)) continue
    const statistic = (rightRate - leftRate) / Math.sqrt(variance)
    const pValue = twoSided(statistic, degrees)
    if (pValue < best.pValue) best = { statistic, pValue }
  }
  return { ...best, pValue: Math.min(1, best.pValue * divisions) }
}

/** Buckets with each day of the week at the rate of all; those that are no days, or too few, as they are. */
export function withoutWeekdays(buckets: readonly Bucket[]): Bucket[] {
  const isDaily = buckets.every(({ weekday }) => weekday !== undefined)
  if (!isDaily || buckets.length < minDailyCourse) return [...buckets]
  const all = rateOf(buckets)
  const byWeekday = Map.groupBy(buckets, ({ weekday }) => weekday)
  const rates = new Map([...byWeekday].map(([weekday, same]) => [weekday, rateOf(same)]))
  return buckets.map((bucket) => ({
    ...bucket,
    value: bucket.value - ((rates.get(bucket.weekday) ?? all) - all) * bucket.base,
  }))
}

function rateOf(buckets: readonly Bucket[]): number {
  const base = sumOf(buckets, 'base')
  return base > 0 ? sumOf(buckets, 'value') / base : 0
}

function sumOf(buckets: readonly Pick<Bucket, 'value' | 'base'>[], field: 'value' | 'base'): number {
  return buckets.reduce((sum, bucket) => sum + bucket[field], 0)
}

interface Estimate {
  readonly rate: number
  readonly variance: number
  readonly degrees: number
}

function estimate(buckets: readonly Bucket[], effects: ReadonlyMap<number, number>): Estimate | undefined {
  const filled = buckets.filter(({ base }) => base > 0)
  const n = filled.length
  if (n < minBuckets) return undefined
  const base = mean(filled.map((bucket) => bucket.base))
  const rate = mean(filled.map(({ value }) => value)) / base
  const residuals = filled.map(
    (bucket) => bucket.value - (rate + (effects.get(bucket.weekday ?? -1) ?? 0)) * bucket.base,
  )
  const degrees = Math.max(1, n - 1 - effects.size / 2)
  const squares = residuals.reduce((sum, residual) => sum + residual ** 2, 0)
  const measured = (squares / degrees / base ** 2) * varianceInflation(residuals)
  return { rate, variance: Math.max(measured, (minVariation * rate) ** 2) / n, degrees }
}

/** Weeks that are needed before weekdays are told apart. */
const minWeeks = 3

/** A bucket beside the level of its period. */
type Levelled = Pick<Bucket, 'value' | 'base'> & { readonly level: number }

/**
 * How far each day of the week lies from the level of all, over both periods together so that a difference between them
 * is not taken for one; none where buckets are no days or too few.
 */
function effectsOf(
  periods: readonly (readonly Bucket[])[],
  levelOf: (buckets: readonly Bucket[]) => number,
  effectOf: (days: readonly Levelled[]) => number,
): Map<number, number> {
  const byWeekday = new Map<number, Levelled[]>()
  for (const buckets of periods) {
    const filled = buckets.filter(({ base }) => base > 0)
    if (filled.length < 7 * minWeeks) return new Map()
    const level = levelOf(filled)
    for (const { value, base, weekday } of filled) {
      if (weekday === undefined) return new Map()
      byWeekday.set(weekday, [...(byWeekday.get(weekday) ?? []), { value, base, level }])
    }
  }
  return new Map([...byWeekday].map(([weekday, days]) => [weekday, effectOf(days)]))
}

const weekdayEffects = (periods: readonly (readonly Bucket[])[]) =>
  effectsOf(periods, rateOf, (days) => {
    const excess = days.reduce((sum, { value, base, level }) => sum + value - level * base, 0)
    return excess / sumOf(days, 'base')
  })

const medianEffects = (periods: readonly (readonly Bucket[])[]) =>
  effectsOf(
    periods,
    (buckets) => median(buckets.map(({ value, base }) => value / base)),
    (days) => median(days.map(({ value, base, level }) => value / base - level)),
  )

/**
 * Compares the means of two periods as `comparePeriods` does, with medians and the median of absolute deviations in
 * the place of means and standard deviations: a single extraordinary day decides nothing. Where many buckets are equal,
 * as in shops that sell on few days or at one price, a median leaps from one value to another, and that of deviations is
 * 0: trimmed means are compared then.
 */
export function compareRobustly(now: readonly Bucket[], before: readonly Bucket[]): Comparison {
  const effects = medianEffects([now, before])
  const [a, b] = [now, before].map((buckets) =>
    buckets
      .filter(({ base }) => base > 0)
      .map(({ value, base, weekday }) => value / base - (effects.get(weekday ?? -1) ?? 0)),
  )
  if (!a || !b || Math.min(a.length, b.length) < minBuckets) return noDifference
  const residuals = [a, b].flatMap((values) => values.map((value) => value - median(values)))
  const n = residuals.length
  // The medians of both periods and those of weekdays were fitted to the residuals, which makes these smaller.
  const fitted = n / Math.max(1, n - 2 - effects.size)
  const isTied = [now, before].some((buckets) => shareOfTies(buckets) >= maxTies)
  if (isTied) return compareTrimmed(a, b, fitted * varianceInflation(residuals))
  const deviation = robustDeviation(residuals)
  const least = minVariation * Math.max(...[a, b].map((values) => Math.abs(median(values))))
  // The variance of a median of normal values is π / 2 times that of their mean.
  const variance =
    Math.max(deviation, least) ** 2 *
    fitted *
    (1 / a.length + 1 / b.length) *
    (Math.PI / 2) *
    varianceInflation(residuals)
  const statistic = (median(a) - median(b)) / Math.sqrt(variance)
  return { statistic, pValue: twoSided(statistic, robustDegrees(n - 1 - effects.size)) }
}

/** The part of equal buckets from which on medians are not compared. */
const maxTies = 0.25

/** The part that the most frequent value has. */
function shareOfTies(buckets: readonly Bucket[]): number {
  const counts = [...Map.groupBy(buckets, ({ value, base }) => value / base).values()]
  return Math.max(...counts.map(({ length }) => length)) / buckets.length
}

/** The part of the buckets that is left out at either end. */
const trimmed = 0.1

/**
 * Compares means without their greatest and least values, by winsorised variances (Yuen 1974, "The two-sample trimmed t
 * for unequal population variances", Biometrika 61).
 * @param inflation of the variances
 */
function compareTrimmed(a: readonly number[], b: readonly number[], inflation: number): Comparison {
  const [own, other] = [a, b].map((values) => {
    const sorted = values.toSorted((x, y) => x - y)
    const cut = Math.floor(trimmed * sorted.length)
    const kept = sorted.slice(cut, sorted.length - cut)
    const [least = 0, greatest = 0] = [kept[0], kept.at(-1)]
    const winsorised = values.map((value) => Math.min(greatest, Math.max(least, value)))
    const center = mean(winsorised)
    const squares = winsorised.reduce((sum, value) => sum + (value - center) ** 2, 0)
    const level = mean(kept)
    const variance = Math.max(squares * inflation, (minVariation * level) ** 2 * (values.length - 1))
    return { level, variance: variance / kept.length / (kept.length - 1), degrees: kept.length - 1 }
  })
  if (!own || !other || own.level === other.level) return noDifference
  const variance = own.variance + other.variance
  const degrees = variance ** 2 / (own.variance ** 2 / own.degrees + other.variance ** 2 / other.degrees)
  const statistic = (own.level - other.level) / Math.sqrt(variance)
  return { statistic, pValue: twoSided(statistic, degrees) }
}
