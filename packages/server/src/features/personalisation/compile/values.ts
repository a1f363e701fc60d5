import type { Zone } from '../../analytics/query/time/zone.ts'

/** The company's wall clock. */
export type WallClock = Pick<Zone, 'localOf' | 'instantOf'>

/**
 * The value of what failed, as against undefined for what is absent: no condition matches it, not even `empty`, so that
 * a failure leads to the default.
 */
export const failed: unique symbol = Symbol('failed')

/** A node of which another one needs the value that it does not have. */
export class NoValue extends Error {}

/** A value as a preview shows it: what failed has none. */
export const previewOf = (value: unknown): unknown => (value === failed || value === undefined ? null : value)

export const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** A list where one value is needed counts with its first. */
function single(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value
}

/** As text; undefined where it is absent. */
export function readText(value: unknown): string | undefined {
  const one = single(value)
  switch (typeof one) {
    case 'string':
      return one === '' ? undefined : one
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(one)
    case 'object':
      if (one === null) return undefined
      return one instanceof Date ? one.toISOString() : JSON.stringify(one)
    default:
      return undefined
  }
}

const numberPattern = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/

/** A finite number, also of a decimal text; undefined for anything else. */
export function readNumber(value: unknown): number | undefined {
  const one = single(value)
  if (typeof one === 'number') return Number.isFinite(one) ? one : undefined
  if (typeof one !== 'string') return undefined
  const text = one.trim()
  if (text.length > 400 || !numberPattern.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

export function readBoolean(value: unknown): boolean | undefined {
  const one = single(value)
  if (typeof one === 'boolean') return one
  if (one === 1 || one === '1' || one === 'true') return true
  if (one === 0 || one === '0' || one === 'false') return false
  return undefined
}

/** Entries as texts: a single value is a list of one, an absent one the empty list. */
export function readList(value: unknown): readonly string[] {
  if (!Array.isArray(value)) {
    const text = readText(value)
    return text === undefined ? [] : [text]
  }
  const texts: string[] = []
  for (const entry of value) {
    const text = readText(entry)
    if (text !== undefined) texts.push(text)
  }
  return texts
}

/** Instants from `from` up to and without `end`: a day of the company, or one millisecond. */
export interface Moment {
  readonly from: number
  readonly end: number
}

const datePattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i
const dayMs = 86_400_000

/** ISO 8601; without a zone it is read on the company's wall clock, without a time it is the whole day. */
export function readMoment(value: unknown, clock: WallClock): Moment | undefined {
  const one = single(value)
  if (one instanceof Date) return instant(one.getTime())
  if (typeof one === 'number') return instant(one)
  if (typeof one !== 'string' || one.length > 40) return undefined
  const found = datePattern.exec(one.trim())
  if (!found) return undefined
  const [, year, month, day, hour, minute, second = '0', fraction = '0', zone] = found
  // Parsed, as `Date.UTC` takes the years 0 to 99 for those of last century.
  const date = Date.parse(`${year}-${month}-${day}`)
  if (new Date(date).getUTCDate() !== Number(day)) return undefined
  if (hour === undefined) return { from: clock.instantOf(date), end: clock.instantOf(date + dayMs) }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const milliseconds = Math.floor(Number(`0.${fraction}`) * 1000)
  const local =
    date + Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second) * 1000 + milliseconds
  return instant(zone === undefined ? clock.instantOf(local) : local - offsetOf(zone))
}

function instant(at: number): Moment | undefined {
  const whole = Math.floor(at)
  return Number.isFinite(whole) && Math.abs(whole) <= 8.64e15 ? { from: whole, end: whole + 1 } : undefined
}

function offsetOf(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000
}

/** As it stands in a content: lists with commas, nothing for what is absent. */
export function printValue(value: unknown): string {
  if (value === failed) return ''
  if (Array.isArray(value)) return value.map((entry) => readText(entry) ?? '').join(', ')
  return readText(value) ?? ''
}
