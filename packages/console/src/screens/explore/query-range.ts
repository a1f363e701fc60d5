import { lastDayOf, sizes } from '../../data/buckets.ts'
import type { Granularity } from '../../data/format.ts'
import {
  addDays,
  type Comparison,
  comparedDays,
  type Days,
  daysOf,
  granularityFor,
  type Preset,
  presets,
  type Range,
  readRange,
} from '../../data/ranges.ts'
import { type Query, sourceOf, type TimeDimension } from './query-state.ts'

type DateRange = NonNullable<TimeDimension['dateRange']>

const between = (first: number, last: number): string =>
  `from ${first} days ago to ${last === 0 ? 'now' : `${last} days ago`}`

/** Ranges of so many days, by the first and the last of them, counted back from today. */
const lengths: Partial<Record<Preset, readonly [first: number, last: number]>> = {
  today: [0, 0],
  yesterday: [1, 1],
  '7d': [6, 0],
  '30d': [29, 0],
  '90d': [89, 0],
  '12m': [364, 0],
}

const words: Partial<Record<Preset, string>> = {
  today: 'today',
  yesterday: 'yesterday',
  month: 'month to date',
  'last-month': 'last month',
  year: 'year to date',
}

/** A range as a query has it: a relative one stays true tomorrow. */
export function dateRangeOf(range: Range): DateRange {
  if (typeof range !== 'string') return [range[0], range[1]]
  const preset = range as Preset
  const days = lengths[preset]
  return words[preset] ?? (days ? between(...days) : range)
}

const daysAgo = /^from (\d{1,5}) days? ago to (?:now|today|(\d{1,5}) days? ago)$/
const lastDays = /^last (\d{1,5}) days?$/

/** The days that a range of a query holds, as far as this page can tell without asking. */
export function daysOfRange(range: DateRange | null | undefined, today: string): Days | undefined {
  if (range === null || range === undefined) return undefined
  if (typeof range !== 'string') {
    const [from, to = from] = range.map((each) => (each === null ? null : each?.slice(0, 10)))
    return readRange([from, to]) === undefined ? undefined : { from: from as string, to: to as string }
  }
  const preset = presets.find((each) => words[each] === range)
  if (preset) return daysOf(preset, today)
  const ago = daysAgo.exec(range)
  if (ago) return { from: addDays(today, -Number(ago[1])), to: addDays(today, -Number(ago[2] ?? 0)) }
  const last = lastDays.exec(range)
  if (last) return { from: addDays(today, -Number(last[1])), to: addDays(today, -1) }
  return readRange([range, range]) ? { from: range, to: range } : undefined
}

/** The name in the picker, or the days; a text of the query language where it is neither. */
function rangeOf(range: DateRange | null | undefined): Range | undefined {
  if (range === null || range === undefined) return undefined
  const preset = presets.find((each) => JSON.stringify(dateRangeOf(each)) === JSON.stringify(range))
  if (preset) return preset
  const isOfDays = typeof range !== 'string' && range.every((each) => each?.length === 10)
  return isOfDays ? readRange([range[0], range[1] ?? range[0]]) : undefined
}

/** The range that another is compared with, as a query has it. */
export function comparedRangeOf(
  range: DateRange,
  comparison: Exclude<Comparison, 'none'>,
  today: string,
): DateRange | undefined {
  const preset = presets.find((each) => dateRangeOf(each) === range)
  const [first, last] = (preset && lengths[preset]) ?? []
  if (first !== undefined && last !== undefined) {
    const shift = comparison === 'year' ? 365 : first - last + 1
    return between(first + shift, last + shift)
  }
  const days = daysOfRange(range, today)
  const compared = days && comparedDays(days, comparison)
  return compared && [compared.from, compared.to]
}

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
