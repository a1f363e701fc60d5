import type { DateRange, Filter, Query, TimeDimension } from '@millrace/contract/resources/query.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import type { Interval } from '../analytics/query/time/interval.ts'
import type { Period, Periods } from './periods.ts'

const rangeOperators: ReadonlySet<string> = new Set(['inDateRange', 'notInDateRange'])

const isBounded = ({ from, to }: Interval) => Number.isFinite(from) && Number.isFinite(to)

/** A query whose ranges do not depend on when it runs, nor on the company's time zone. */
export interface AbsoluteQuery {
  readonly query: Query
  /** Its first range with a begin and an end. */
  readonly period?: Period
}

/**
 * Reads relative ranges as of an instant, in filters too; undefined where a range cannot be read.
 * @param periods as of the instant, in the zone of the query
 */
export function absoluteQuery(
  query: Query,
  meta: StatisticsMeta,
  periods: Periods,
): AbsoluteQuery | undefined {
  let period: Period | undefined
  let isReadable = true

  function absolute(range: DateRange): DateRange {
    const read = periods.read(range)
    if (!read) {
      isReadable = false
      return range
    }
    if (isBounded(read)) {
      // Of the present month only the days up to today can be compared.
      const whole = periods.periodOf(read)
      const until = periods.untilToday(whole) ?? whole
      period ??= until
      return periods.rangeOf(until)
    }
    // Open to the past it stays as it is; open to the future it ends with the present day.
    if (read.to === Infinity && Number.isFinite(read.from) && read.from < periods.today.to) {
      const until = periods.periodOf({ from: read.from, to: periods.today.to })
      period ??= until
      return periods.rangeOf(until)
    }
    return Number.isFinite(read.to) ? [null, periods.rangeOf({ from: read.to - 1, to: read.to })[1]] : range
  }

  function time({ dimension, granularity, dateRange, compareDateRange }: TimeDimension): TimeDimension {
    return {
      dimension,
      ...(granularity ? { granularity } : {}),
      ...(dateRange ? { dateRange: absolute(dateRange) } : {}),
      ...(compareDateRange ? { compareDateRange: compareDateRange.map(absolute) } : {}),
    }
  }

  function filter(each: Filter): Filter {
    if (!('operator' in each)) {
      return {
        ...(each.and ? { and: each.and.map(filter) } : {}),
        ...(each.or ? { or: each.or.map(filter) } : {}),
      }
    }
    const member = each.member ?? each.dimension ?? ''
    if (meta.dimensions[member]?.type !== 'time' || !each.values?.length) return each
    if (rangeOperators.has(each.operator)) {
      const range = each.values.length === 1 ? (each.values[0] ?? '') : each.values
      const read = periods.read(range)
      if (!read || !isBounded(read)) return each
      return { ...each, values: [...periods.rangeOf(read)] }
    }
    return { ...each, values: each.values.map(moment) }
  }

  /** A day or an instant by the present, as `today` or `3 days ago`. */
  function moment(value: string): string {
    if (/^\s*\d{4}-/.test(value)) return value
    if (value.trim().toLowerCase() === 'now') return periods.zone.format(periods.now.instant)
    const read = periods.read(value)
    return read && isBounded(read) ? periods.rangeOf(read)[0] : value
  }

  const { offset, limit, order, fill } = query
  const timeDimensions = query.timeDimensions.map(time)
  const filters = query.filters.map(filter)
  if (!isReadable) return undefined
  return {
    query: {
      measures: [...query.measures],
      dimensions: [...query.dimensions],
      filters,
      timeDimensions,
      timezone: periods.zone.name,
      ...(limit ? { limit } : {}),
      ...(offset ? { offset } : {}),
      ...(order ? { order } : {}),
      ...(fill ? { fill } : {}),
    },
    ...(period ? { period } : {}),
  }
}
