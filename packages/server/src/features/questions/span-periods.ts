import type { Interval } from '../analytics/query/time/interval.ts'
import type { Period, Periods } from './periods.ts'

/** A day, month, quarter, half, week or year of the calendar, perhaps without its year; or a fixed stretch. */
export type Point =
  | { readonly kind: 'fixed'; readonly period: Period }
  | {
      readonly kind: 'calendar'
      readonly unit: 'day' | 'week' | 'month' | 'quarter' | 'half' | 'year'
      /** Number of the week, month, quarter or half. */
      readonly number: number
      readonly day?: number
      readonly year?: number
    }

/** A range as it stands in a question: one point, from one to another, or from one until now. */
export interface Span {
  readonly first: Point
  readonly last?: Point
  readonly untilNow?: true
}

/** The periods that spans mean at this moment. */
export function createSpanPeriods(periods: Periods) {
  function intervalOf(point: Point, year: number): Interval | undefined {
    if (point.kind === 'fixed') return point.period
    const padded = (number: number) => String(number).padStart(2, '0')
    const months = (first: number, last: number) => {
      const from = periods.read(`${year}-${padded(first)}`)
      const to = periods.read(`${year}-${padded(last)}`)
      return from && to && { from: from.from, to: to.to }
    }
    switch (point.unit) {
      case 'year':
        return periods.read(String(year))
      case 'half':
        return months(point.number * 6 - 5, point.number * 6)
      case 'quarter':
        return months(point.number * 3 - 2, point.number * 3)
      case 'month':
        return months(point.number, point.number)
      case 'week':
        return periods.week(year, point.number)
      case 'day':
        return periods.read(`${year}-${padded(point.number)}-${padded(point.day ?? 0)}`)
    }
  }

  /** The latest one that has begun, where no year is said. */
  function latest(point: Point): Interval | undefined {
    const thisYear = periods.yearOf(periods.now.instant)
    const candidates = [thisYear, thisYear - 1, thisYear - 2, thisYear - 3, thisYear - 4]
    for (const year of candidates) {
      const interval = intervalOf(point, year)
      if (interval && interval.from <= periods.now.instant) return interval
    }
    return undefined
  }

  const yearOfPoint = (point: Point | undefined) => (point?.kind === 'calendar' ? point.year : undefined)
  const resolve = (point: Point, year: number | undefined) =>
    point.kind === 'calendar' && year === undefined ? latest(point) : intervalOf(point, year ?? 0)

  /**
   * The period of a span up to today; undefined when the calendar has no such day, when it ends before it begins, and
   * when it has not begun.
   * @param year for points that say none: that of the range which this one is compared with
   */
  function periodOf(span: Span, year?: number): Period | undefined {
    const period = wholePeriodOf(span, year)
    return period && periods.untilToday(period)
  }

  function wholePeriodOf({ first, last, untilNow }: Span, year?: number): Period | undefined {
    const ownYear = yearOfPoint(first) ?? yearOfPoint(last) ?? year
    if (!last) {
      const interval = resolve(first, ownYear)
      if (!interval || !periods.isWithin(interval)) return undefined
      if (!untilNow) return first.kind === 'fixed' ? first.period : periods.periodOf(interval)
      if (interval.from >= periods.today.to) return undefined
      const isToDate = first.kind === 'fixed' && first.period.to === periods.today.to
      return isToDate ? first.period : periods.periodOf({ from: interval.from, to: periods.today.to })
    }
    if (ownYear === undefined) return fromLatest(first, last)
    const to = resolve(last, yearOfPoint(last) ?? ownYear)
    if (!to) return undefined
    const isUndated = first.kind === 'calendar' && yearOfPoint(first) === undefined
    const from = resolve(first, isUndated ? periods.yearOf(to.from) : yearOfPoint(first))
    if (from && from.from >= to.to && isUndated) {
      const earlier = resolve(first, periods.yearOf(to.from) - 1)
      return earlier && joined(earlier, to)
    }
    if (from && from.from >= to.to && last.kind === 'calendar' && yearOfPoint(last) === undefined) {
      const later = resolve(last, periods.yearOf(from.from) + 1)
      return later && joined(from, later)
    }
    return from && joined(from, to)
  }

  /** Without any year the latest range that has begun, which may reach over the turn of a year. */
  function fromLatest(first: Point, last: Point): Period | undefined {
    const from = resolve(first, undefined)
    if (!from) return undefined
    const year = periods.yearOf(from.from)
    const to = resolve(last, last.kind === 'calendar' ? year : undefined)
    if (to && to.to > from.from) return joined(from, to)
    const later = last.kind === 'calendar' ? resolve(last, year + 1) : undefined
    return later && joined(from, later)
  }

  function joined(from: Interval, to: Interval): Period | undefined {
    const interval = { from: from.from, to: to.to }
    return interval.from < interval.to && periods.isWithin(interval) ? periods.periodOf(interval) : undefined
  }

  return {
    periodOf,
    /** The year that a span says. */
    yearOf: ({ first, last }: Span) => yearOfPoint(first) ?? yearOfPoint(last),
  }
}

export type SpanPeriods = ReturnType<typeof createSpanPeriods>
