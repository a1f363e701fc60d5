import { lastDayOf, sizes } from '../../data/buckets.ts'
import { comparedRangeOf, type DateRange, daysOfRange, rangeOf } from '../../data/date-ranges.ts'
import { sourceOf } from '../../data/filters.ts'
import type { Granularity } from '../../data/format.ts'
import { type Comparison, type Days, granularityFor, type Range } from '../../data/ranges.ts'
import type { Query, TimeDimension } from './query-state.ts'

export interface TimeState {
  /** What the picker shows; absent where the query has another text, or no range. */
  readonly range: Range | undefined
  /** The text of the query where the picker has no name for it; undefined without a range. */
  readonly text: string | undefined
  readonly days: Days | undefined
  /** `own` are ranges that the builder has no word for. */
  readonly comparison: Comparison | 'own'
  readonly granularity: Granularity | undefined
}

const textOf = (range: DateRange): string =>
  typeof range === 'string' ? range : range.map((each) => each ?? '…').join(' – ')

/** How the builder shows the time of a query. */
export function timeStateOf(query: Query, today: string): TimeState {
  const [time] = query.timeDimensions
  const [first, second, ...more] = time?.compareDateRange ?? []
  const asked = first ?? time?.dateRange ?? undefined
  const days = daysOfRange(asked, today)
  const comparison = () => {
    if (first === undefined || first === null) return 'none'
    const compared = JSON.stringify(daysOfRange(second, today))
    const found = (['previous', 'year'] as const).find((each) => {
      const wanted = comparedRangeOf(first, each, today)
      return wanted !== undefined && JSON.stringify(daysOfRange(wanted, today)) === compared
    })
    return second === undefined || more.length > 0 ? 'own' : (found ?? 'own')
  }
  return {
    range: rangeOf(asked),
    text: asked === undefined ? undefined : textOf(asked),
    days,
    comparison: comparison(),
    granularity: time?.granularity ?? undefined,
  }
}

/** The unit in which a range is drawn when none was chosen. */
export const automaticGranularity = (days: Days | undefined): Granularity =>
  days ? granularityFor(days) : 'month'

/** The query over another range, or compared with another: its unit follows unless it was chosen. */
export function withRange(
  query: Query,
  change: { readonly range?: DateRange | undefined; readonly comparison?: Comparison },
  today: string,
): Query {
  const before = timeStateOf(query, today)
  const [time, ...others] = query.timeDimensions
  const { compareDateRange, dateRange, ...rest } = time ?? { dimension: timeOf(query) }
  const range = 'range' in change ? change.range : (compareDateRange?.[0] ?? dateRange ?? undefined)
  const comparison = change.comparison ?? (before.comparison === 'own' ? 'none' : before.comparison)
  const compared =
    range !== undefined && comparison !== 'none' ? comparedRangeOf(range, comparison, today) : undefined
  const isAutomatic = rest.granularity === automaticGranularity(before.days)
  const next: TimeDimension = {
    ...rest,
    ...(isAutomatic ? { granularity: automaticGranularity(daysOfRange(range, today)) } : {}),
    ...(range === undefined
      ? {}
      : compared === undefined
        ? { dateRange: range }
        : { compareDateRange: [range, compared] }),
  }
  const { fill, ...whole } = query
  return {
    ...whole,
    ...(fill && range !== undefined ? { fill } : {}),
    timeDimensions: [next, ...others],
  }
}

/** The time of the source that a query is about. */
export function timeOf({ measures, dimensions }: Query): string {
  const source = sourceOf(measures[0] ?? dimensions[0] ?? '')
  return ['purchases', 'sessions', 'workflows'].includes(source) ? `${source}.time` : 'events.time'
}

/** The query grouped by another unit of time, or by none. */
export function withGranularity(query: Query, granularity: Granularity | undefined): Query {
  const [time, ...others] = query.timeDimensions
  const { granularity: _, ...rest } = time ?? { dimension: timeOf(query) }
  const { fill, ...whole } = query
  return {
    ...whole,
    ...(fill && granularity ? { fill } : {}),
    timeDimensions: [{ ...rest, ...(granularity ? { granularity } : {}) }, ...others],
  }
}

/**
 * What was dragged over, from the first to the last bucket: days where the unit has any, else instants, of which the
 * second is the end.
 */
export function zoomedRange(from: string, to: string, granularity: Granularity): DateRange {
  const size = sizes[granularity]
  if (size === undefined) return [from.slice(0, 10), lastDayOf(to, granularity)]
  return [new Date(from).toISOString(), new Date(Date.parse(to) + size).toISOString()]
}
