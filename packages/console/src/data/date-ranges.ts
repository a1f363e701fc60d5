import type { Query } from '@millrace/sdk'
import {
  addDays,
  type Comparison,
  comparedDays,
  type Days,
  daysOf,
  type Preset,
  presets,
  type Range,
  readRange,
} from './ranges.ts'

/** A range as a query has it: a text of the query language, or the first and the last day or instant. */
export type DateRange = NonNullable<Query['timeDimensions'][number]['dateRange']>

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
export function rangeOf(range: DateRange | null | undefined): Range | undefined {
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
