import { chiSquareSurvival } from '../../../../platform/distributions/chi-square.ts'
import { mean, median } from './robust.ts'

/** A day of a course without gaps: its value and its day of the week, 0 to 6 from Monday on. */
export interface Day {
  readonly value: number
  readonly weekday: number
}

/** Days of the week that differ from each other by more than chance. */
export interface Season {
  /** Weekdays by their mean rank within the weeks, greatest first. */
  readonly ranking: readonly number[]
  readonly pValue: number
}

/** Whole weeks that are needed. */
const minWeeks = 4
const maxPValue = 0.01

/**
 * Whether days of the week differ, by Friedman's test (1937, "The use of ranks to avoid the assumption of normality",
 * JASA 32) with weeks as blocks: days are ranked within their week, so a trend or a strong month makes no season, and an
 * extraordinary day counts as the greatest of its week, no more. Ranks of equal values are their mean, and the statistic
 * is corrected for them.
 */
export function findSeason(days: readonly Day[]): Season | undefined {
  const weeks = wholeWeeks(days)
  if (weeks.length < minWeeks) return undefined
  const sums = new Array<number>(7).fill(0)
  let ties = 0
  for (const week of weeks) {
    const ranked = ranksOf(week)
    ranked.ranks.forEach((rank, weekday) => {
      sums[weekday] = (sums[weekday] ?? 0) + rank
    })
    ties += ranked.ties
  }
  const n = weeks.length
  const squares = sums.reduce((total, sum) => total + sum ** 2, 0)
  const uncorrected = (12 / (n * 7 * 8)) * squares - 3 * n * 8
  const correction = 1 - ties / (n * (7 ** 3 - 7))
  if (correction <= 0) return undefined
  const pValue = chiSquareSurvival(Math.max(0, uncorrected / correction), 6)
  if (pValue > maxPValue) return undefined
  const ranking = [0, 1, 2, 3, 4, 5, 6].sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0) || a - b)
  return { ranking, pValue }
}

/** Values by weekday of each seven days that follow each other, from the beginning on. */
function wholeWeeks(days: readonly Day[]): number[][] {
  const weeks: number[][] = []
  for (let i = 0; i + 7 <= days.length; i += 7) {
    const week = new Array<number>(7).fill(0)
    for (const { weekday, value } of days.slice(i, i + 7)) week[weekday] = value
    weeks.push(week)
  }
  return weeks
}

function ranksOf(values: readonly number[]): { ranks: number[]; ties: number } {
  let ties = 0
  const ranks = values.map((value) => {
    const below = values.filter((other) => other < value).length
    const equal = values.filter((other) => other === value).length
    // Each of t equal values adds t² - 1: together t³ - t.
    ties += equal ** 2 - 1
    return below + (equal + 1) / 2
  })
  return { ranks, ties }
}

/**
 * The level of each day of the week against the level of all, from the median share that it has of its week; 1 for all
 * where there are too few weeks or no season.
 */
export function weekdayFactors(days: readonly Day[]): number[] {
  const flat = new Array<number>(7).fill(1)
  if (!findSeason(days)) return flat
  const weeks = wholeWeeks(days).filter((week) => mean(week) > 0)
  const factors = flat.map((_, weekday) => median(weeks.map((week) => (week[weekday] ?? 0) / mean(week))))
  const level = mean(factors)
  return level > 0 ? factors.map((factor) => factor / level) : flat
}
