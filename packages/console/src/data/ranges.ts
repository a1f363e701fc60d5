import type { Granularity } from './format.ts'

/** A range in the address of a view: a name of `presets`, or its first and last day. */
export type Range = string | readonly [from: string, to: string]

/** Days as `2026-01-31`, both within the range. */
export interface Days {
  readonly from: string
  readonly to: string
}

export const presets = [
  'today',
  'yesterday',
  '7d',
  '30d',
  '90d',
  'month',
  'last-month',
  'year',
  '12m',
] as const
export type Preset = (typeof presets)[number]

const dayMs = 86_400_000
const dayPattern = /^\d{4}-\d\d-\d\d$/

const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
const toMs = (day: string): number => Date.parse(`${day}T00:00:00Z`)

/** The day it is now in a time zone. */
export const todayIn = (timezone: string | undefined, now = Date.now()): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short' }).format(now)

export const addDays = (day: string, days: number): string => toDay(toMs(day) + days * dayMs)

export const lengthOf = ({ from, to }: Days): number => Math.round((toMs(to) - toMs(from)) / dayMs) + 1

function addMonths(day: string, months: number): string {
  const date = new Date(toMs(day))
  const month = date.getUTCMonth() + months
  const last = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate()
  return toDay(Date.UTC(date.getUTCFullYear(), month, Math.min(date.getUTCDate(), last)))
}

const isDay = (value: unknown): value is string =>
  typeof value === 'string' &&
  dayPattern.test(value) &&
  !Number.isNaN(toMs(value)) &&
  toDay(toMs(value)) === value

/** What an address says, if it is a range. */
export function readRange(value: unknown): Range | undefined {
  if (Array.isArray(value)) {
    const [from, to] = value
    return isDay(from) && isDay(to) && from <= to ? [from, to] : undefined
  }
  return presets.find((each) => each === value)
}

export function daysOf(range: Range, today: string): Days {
  if (typeof range !== 'string') return { from: range[0], to: range[1] }
  switch (range as Preset) {
    case 'today':
      return { from: today, to: today }
    case 'yesterday':
      return { from: addDays(today, -1), to: addDays(today, -1) }
    case '7d':
      return { from: addDays(today, -6), to: today }
    case '30d':
      return { from: addDays(today, -29), to: today }
    case '90d':
      return { from: addDays(today, -89), to: today }
    case 'month':
      return { from: `${today.slice(0, 8)}01`, to: today }
    case 'last-month':
      return { from: addMonths(`${today.slice(0, 8)}01`, -1), to: addDays(`${today.slice(0, 8)}01`, -1) }
    case 'year':
      return { from: `${today.slice(0, 5)}01-01`, to: today }
    case '12m':
      return { from: addMonths(addDays(today, 1), -12), to: today }
  }
}

export const comparisons = ['none', 'previous', 'year'] as const
export type Comparison = (typeof comparisons)[number]

/** The range that another is compared with: as many days right before it, or the same days a year before. */
export function comparedDays(days: Days, comparison: Comparison): Days | undefined {
  if (comparison === 'none') return undefined
  if (comparison === 'year') return { from: addMonths(days.from, -12), to: addMonths(days.to, -12) }
  const length = lengthOf(days)
  return { from: addDays(days.from, -length), to: addDays(days.to, -length) }
}

/** The unit in which a range has some tens of points. */
export function granularityFor(days: Days): Granularity {
  const length = lengthOf(days)
  if (length <= 2) return 'hour'
  if (length <= 100) return 'day'
  if (length <= 400) return 'week'
  return 'month'
}
