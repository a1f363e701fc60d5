import type { DateRange, Granularity } from '@millrace/contract/resources/query.ts'
import type { ComparisonWindows, Window } from '@millrace/contract/resources/report.ts'
import type { Now } from '../analytics/query/time/dates.ts'
import type { Interval } from '../analytics/query/time/interval.ts'
import { readRange, type TimeRules } from './time-rules.ts'

/** A stretch of time, and how far back the stretch lies that it is compared with. */
export interface Period extends Interval {
  readonly step: { readonly count: number; readonly unit: Granularity }
}

/** Years that questions and queries may name. */
export const firstYear = 1970
export const lastYear = 2099

const hour = 3_600_000

/** Milliseconds, of months and longer units on average. */
const lengths: Readonly<Record<Granularity, number>> = {
  second: 1_000,
  minute: 60_000,
  hour,
  day: 24 * hour,
  week: 7 * 24 * hour,
  month: 30.4 * 24 * hour,
  quarter: 91.3 * 24 * hour,
  year: 365.25 * 24 * hour,
}

/** A little below the most rows that statistics divide a range into. */
const maxUnits = 49_000

export const windowOf = ({ from, to }: Interval): Window => ({
  start: new Date(from).toISOString(),
  end: new Date(to).toISOString(),
})

/** Periods as of an instant, in a zone. */
export function createPeriods(calendar: TimeRules, at: number, zoneName: string) {
  const { startOf, add } = calendar
  const zone = calendar.openZone(zoneName)
  const now: Now = { instant: at, zone }
  const today = startOf(zone, at, 'day')
  const tomorrow = add(zone, today, 1, 'day')
  const isStart = (instant: number, unit: Granularity) => startOf(zone, instant, unit) === instant

  /** Reads a range as a query names it, also a date or month alone; undefined where it cannot be read. */
  function read(range: DateRange): Interval | undefined {
    const found = readRange(calendar, range, now)
    return 'fault' in found ? undefined : found
  }

  /** The number of whole units between two starts of such units. */
  function countOf(from: number, to: number, unit: Granularity): number {
    return Math.max(1, Math.round((to - from) / lengths[unit]))
  }

  function stepOf({ from, to }: Interval): Period['step'] {
    for (const unit of ['year', 'month', 'day'] as const) {
      if (isStart(from, unit) && isStart(to, unit)) return { count: countOf(from, to, unit), unit }
    }
    return { count: Math.max(1, Math.round((to - from) / hour)), unit: 'hour' }
  }

  const periodOf = (interval: Interval): Period => ({ ...interval, step: stepOf(interval) })

  /** Whole units: the first lies so many before (negative) or after the present one. */
  function whole(unit: Granularity, first: number, count = 1): Period {
    const from = startOf(zone, add(zone, startOf(zone, at, unit), first, unit), unit)
    return periodOf({ from, to: startOf(zone, add(zone, from, count, unit), unit) })
  }

  /** The unit in which the instant lies, up to the end of the day. */
  function toDate(unit: Granularity): Period {
    return { from: startOf(zone, at, unit), to: tomorrow, step: { count: 1, unit } }
  }

  /**
   * The same stretch so many units later or earlier. Months and longer units keep the days of the month, and whole
   * months stay whole.
   */
  function shift({ from, to }: Interval, count: number, unit: Granularity): Interval {
    const isCalendar = unit === 'month' || unit === 'quarter' || unit === 'year'
    const moved = (instant: number) => add(zone, instant, count, unit)
    // The beginning of a unit is compared with as many days of another, all of which it has at most.
    if (isCalendar && isStart(from, unit) && isStart(to, 'day') && !isStart(to, unit)) {
      const begin = moved(from)
      const days = Math.round((zone.localOf(to) - zone.localOf(from)) / lengths.day)
      const units = Math.ceil((to - from) / lengths[unit] - 0.1)
      return { from: begin, to: Math.min(add(zone, begin, days, 'day'), add(zone, begin, units, unit)) }
    }
    if (!isCalendar || !isStart(to, 'day') || (isStart(from, 'month') && isStart(to, 'month'))) {
      return { from: moved(from), to: moved(to) }
    }
    const lastDay = startOf(zone, to - 1, 'day')
    return { from: moved(from), to: add(zone, startOf(zone, moved(lastDay), 'day'), 1, 'day') }
  }

  const isWithin = ({ from, to }: Interval) =>
    from >= Date.UTC(firstYear, 0, 1) - 24 * hour && to <= Date.UTC(lastYear + 1, 0, 1) + 24 * hour

  /** The same days of the year before; of whole weeks the weeks 52 earlier, so that weekdays meet. */
  function yearBefore(period: Period): Interval {
    const isWholeWeeks = isStart(period.from, 'week') && isStart(period.to, 'week')
    const isOfWeeks = period.step.unit === 'week' || (isWholeWeeks && !isStart(period.from, 'year'))
    return isOfWeeks ? shift(period, -52, 'week') : shift(period, -1, 'year')
  }

  /** Ends with today what reaches into the future, and keeps by how much it is moved to compare it. */
  function untilToday({ from, to, step }: Period): Period | undefined {
    if (from >= tomorrow) return undefined
    return { from, to: Math.min(to, tomorrow), step }
  }

  /** Without the present day, which is not over; of that day alone there is nothing else. */
  function ofWholeDays(period: Period): Period {
    const { from, to, step } = period
    if (to <= at || from >= today) return period
    const until = { from, to: Math.min(to, today) }
    return step.unit === 'day' ? periodOf(until) : { ...until, step }
  }

  const before = (period: Period) => shift(period, -period.step.count, period.step.unit)

  const isWhole = ({ from, to }: Interval) => isStart(from, 'day') && isStart(to, 'day')

  return {
    zone,
    now,
    today: { from: today, to: tomorrow, step: { count: 1, unit: 'day' } } satisfies Period,
    ...{ periodOf, whole, toDate, shift, isWithin, yearBefore, untilToday, ofWholeDays, before },
    read,
    /** The days of an ISO 8601 week. */
    week(year: number, week: number): Interval | undefined {
      const fourth = read(`${year}-01-04`)
      if (!fourth) return undefined
      const from = add(zone, startOf(zone, fourth.from, 'week'), week - 1, 'week')
      const thursday = add(zone, from, 3, 'day')
      if (week < 1 || !zone.format(thursday).startsWith(`${year}-`)) return undefined
      return { from, to: add(zone, from, 1, 'week') }
    },
    /** As a query names it: dates where it has whole days, else instants. */
    rangeOf(interval: Interval): DateRange & [string, string] {
      if (!isWhole(interval)) return [zone.format(interval.from), zone.format(interval.to)]
      return [zone.format(interval.from).slice(0, 10), zone.format(interval.to - 1).slice(0, 10)]
    },
    /**
     * What a period is compared with, up to its last whole day: what the question names or else the period before, and
     * the same of the year before where these are others. Days are compared with those 52 weeks before, so that weekdays
     * meet.
     */
    comparisonsOf(period: Period, compared?: Interval): ComparisonWindows {
      const told = ofWholeDays(period)
      const previous = compared ?? before(told)
      const year = told.step.unit === 'day' ? shift(told, -52, 'week') : yearBefore(told)
      const isOther = year.to <= previous.from || year.from >= previous.to
      return {
        previousPeriod: windowOf(previous),
        ...(isOther && isWithin(year) ? { previousYear: windowOf(year) } : {}),
      }
    },
    /** A unit by which the course of a stretch is shown in some ten to hundred points. */
    unitFor(stretches: readonly Interval[]): Granularity {
      const days = Math.max(...stretches.map(({ from, to }) => to - from)) / (24 * hour)
      if (days <= 2) return 'hour'
      if (days <= 62) return 'day'
      return days <= 200 ? 'week' : 'month'
    },
    /** Whether the stretches have as many of the units as one query can answer. */
    isCountable(stretches: readonly Interval[], unit: Granularity): boolean {
      const count = stretches.reduce((sum, { from, to }) => sum + (to - from) / lengths[unit], 0)
      return count <= maxUnits
    },
    yearOf: (instant: number): number => Number(zone.format(instant).slice(0, 4)),
  }
}

export type Periods = ReturnType<typeof createPeriods>
