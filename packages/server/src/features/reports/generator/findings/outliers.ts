import { leastDeviation, median, mirrored, robustDegrees, robustScale, twoSided } from './robust.ts'
import { type Day, weekdayFactors } from './season.ts'

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
/** Neighbours that a day needs: of a level that has just begun, or soon ends, there are few. */
const minNeighbours = 4
/** Days with a value that are needed where most are 0. */
const minFilled = 7
/** Chance of any false outlier in a course. */
const maxFalse = 0.01

/**
 * Days beyond a robust bound after the season (docs/reports.md, How findings are computed): the difference of a day from
 * its level, the running median of its neighbours after the factors of weekdays, in robust deviations, tested with
 * Bonferroni's correction for the number of days. Weekdays that are closed as a rule, and days of 0 among them, are no
 * outliers. Days before and behind a change of the level (`levels`: the first days of each) are no neighbours. Where most
 * days are 0, the others are held against each other, and taken to vary by half of their level at least.
 */
export function findOutliers(
  days: readonly Day[],
  isCount = false,
  levels: readonly number[] = [],
): Outlier[] {
  if (days.length < minDays) return []
  const isSparse = median(days.map(({ value }) => value)) === 0
  const factors = isSparse ? [] : weekdayFactors(days)
  const levelled = days.map(({ value, weekday }) => {
    if (isSparse && value === 0) return undefined
    const factor = factors[weekday] ?? 1
    return factor > 0.05 ? value / factor : undefined
  })
  const expected = levelled.map((own, i) => {
    if (own === undefined) return undefined
    const reached = isSparse ? days.length : reach
    const begin = Math.max(i - reached, 0, ...levels.filter((first) => first <= i))
    const end = Math.min(i + reached + 1, days.length, ...levels.filter((first) => first > i))
    const around = levelled
      .slice(begin, end)
      .filter((value, j): value is number => value !== undefined && begin + j !== i)
    return around.length >= minNeighbours ? median(around) : undefined
  })
  const usual = median(expected.filter((level) => level !== undefined))
  const least = isSparse ? Math.abs(usual) / 2 : leastDeviation(usual, isCount)
  const chances = scales.map((scale) => {
    const residuals = levelled.map((own, i) => {
      const level = expected[i]
      return own === undefined || !level ? undefined : scale(own) - scale(level)
    })
    const leastResidual = scale(Math.abs(usual) + least) - scale(Math.abs(usual))
    return chancesOf(residuals, leastResidual, isSparse ? minFilled : minDays)
  })
  return days.flatMap(({ weekday }, index) => {
    const level = expected[index]
    const pValue = Math.max(...chances.map((each) => each[index] ?? 1))
    if (level === undefined || pValue > maxFalse) return []
    return [{ index, expected: level * (factors[weekday] ?? 1), pValue }]
  })
}

/**
 * A day is extraordinary on both: by logarithms a few events less look far, by square roots (Anscombe 1948, by which
 * counts of any level vary alike) a great amount does.
 */
const scales: readonly ((value: number) => number)[] = [
  mirrored((value) => Math.log(value + 0.5)),
  mirrored((value) => Math.sqrt(value + 0.375)),
]

/** The chance of each residual among so many, in robust deviations; 1 where it is not known. */
function chancesOf(residuals: readonly (number | undefined)[], least: number, needed: number): number[] {
  const known = residuals.filter((residual) => residual !== undefined)
  if (known.length < needed) return residuals.map(() => 1)
  const deviation = robustScale(known, least)
  const center = median(known)
  return residuals.map((residual) =>
    residual === undefined
      ? 1
      : twoSided((residual - center) / deviation, robustDegrees(known.length)) * known.length,
  )
}
