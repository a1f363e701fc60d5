import type { BinaryFilter, DateRange, Filter, Query } from '@millrace/contract/resources/query.ts'
import { readRange, type TimeRules, type Zone } from '../../questions/time-rules.ts'

/** Dates, months, years and instants; every other text means something else on another day. */
const absolute = /^\s*\d{4}(?:-|\s*$)/
const rangeOperators: ReadonlySet<string> = new Set(['inDateRange', 'notInDateRange'])
const momentOperators: ReadonlySet<string> = new Set([
  'beforeDate',
  'beforeOrOnDate',
  'afterDate',
  'afterOrOnDate',
])

/** They compare texts and numbers too. */
const dayOperators: ReadonlySet<string> = new Set(['equals', 'notEquals'])
const isOfTime = ({ member, dimension }: BinaryFilter) => (member ?? dimension ?? '').endsWith('.time')

/**
 * The same query with dates that stay what they are and a zone of its own, so that it can be run again on any day.
 * What cannot be read stays as it is: running it says what is wrong.
 */
export function pinQuery(query: Query, at: number, company: Zone, time: TimeRules): Query {
  const zone = zoneOf(query, company, time)
  const pin = (range: DateRange): DateRange => {
    const texts = typeof range === 'string' ? [range] : range
    if (texts.every((text) => text === null || absolute.test(text))) return range
    const read = readRange(time, range, { instant: at, zone })
    if ('fault' in read) return range
    const [from, to] = [read.from, read.to].map((instant) =>
      Number.isFinite(instant) ? zone.format(instant) : null,
    )
    return [from ?? null, to ?? null]
  }

  function pinOne(filter: BinaryFilter): BinaryFilter {
    const { operator, values } = filter
    if (!values) return filter
    if (rangeOperators.has(operator)) {
      const [first = '', ...more] = values
      const pinned = pin(more.length === 0 ? first : values)
      const texts = [pinned].flat()
      return texts.every((text) => text !== null) ? { ...filter, values: texts } : filter
    }
    if (!momentOperators.has(operator) && !(dayOperators.has(operator) && isOfTime(filter))) return filter
    return { ...filter, values: values.map((value) => pinMoment(value)) }
  }

  /** A day as its date, which keeps what is on it and what is after it. */
  function pinMoment(value: string): string {
    if (absolute.test(value)) return value
    if (value.trim().toLowerCase() === 'now') return zone.format(at)
    const read = readRange(time, value, { instant: at, zone })
    return 'fault' in read || !Number.isFinite(read.from) ? value : zone.format(read.from).slice(0, 10)
  }

  const pinFilter = (filter: Filter): Filter => {
    if ('operator' in filter) return pinOne(filter)
    const { and, or } = filter
    return { ...(and && { and: and.map(pinFilter) }), ...(or && { or: or.map(pinFilter) }) }
  }

  return {
    ...query,
    filters: query.filters.map(pinFilter),
    timeDimensions: query.timeDimensions.map((each) => ({
      ...each,
      ...(each.dateRange && { dateRange: pin(each.dateRange) }),
      ...(each.compareDateRange && { compareDateRange: each.compareDateRange.map(pin) }),
    })),
    timezone: zone.name,
  }
}

function zoneOf({ timezone }: Query, company: Zone, { openZone }: TimeRules): Zone {
  if (!timezone) return company
  try {
    return openZone(timezone)
  } catch (error) {
    if (error instanceof RangeError) return company
    throw error
  }
}
