import { median, robustDegrees, robustDeviation } from './robust.ts'
import { type Day, weekdayFactors } from './season.ts'
import { twoSided } from './student.ts'

/** A day far from what its neighbours and its day of the week let expect. */
export interface Outlier {
  /** Index among the days. */
  readonly index: number
  /** What was expected of it. */
  readonly expected: number
  readonly pValue: number
}

/** Days that are needed. */
const minDays = 21
/** Days to either side whose median is the level of a day. */
const reach = 10
/** Chance of any false outlier in a course. */
const maxFalse = 0.01

/**
 * Days beyond a robust bound after the season (docs/reports.md, How findings are computed): the logarithm of a day over
 * its level, the running median of its neighbours after the factors of weekdays, in robust deviations, tested with
 * Bonferroni's correction for the number of days. Weekdays that are closed as a rule, and days of 0 among them, are no
 * outliers.
 */
export function findOutliers(days: readonly Day[]): Outlier[] {
  if (days.length < minDays) return []
  const factors = weekdayFactors(days)
  const levelled = days.map(({ value, weekday }) => {
    const factor = factors[weekday] ?? 1
    return factor > 0.05 ? value / factor : undefined
  })
  const expected = levelled.map((own, i) => {
    if (own === undefined) return undefined
    const around = levelled
      .slice(Math.max(0, i - reach), i + reach + 1)
      .filter((value, j) => value !== undefined && j !== Math.min(i, reach)) as number[]
    return around.length >= reach ? median(around) : undefined
  })
  // A count of few has a wide chance on the scale of logarithms: a half is added to both.
  const offset = 0.5
  const residuals = levelled.map((own, i) => {
    const level = expected[i]
    if (own === undefined || level === undefined || level <= 0) return undefined
    return Math.log((own + offset) / (level + offset))
  })
  const known = residuals.filter((residual) => residual !== undefined)
  if (known.length < minDays) return []
  const center = median(known)
  const deviation = robustDeviation(known)
  if (!(deviation > 0)) return []
  return residuals.flatMap((residual, index) => {
    const level = expected[index]
    const day = days[index]
    if (residual === undefined || level === undefined || day === undefined) return []
    const pValue = twoSided((residual - center) / deviation, robustDegrees(known.length)) * known.length
    if (pValue > maxFalse) return []
    return [{ index, expected: level * (factors[day.weekday] ?? 1), pValue }]
  })
}
