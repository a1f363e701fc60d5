import { isObject } from '../../../platform/plain-object.ts'
import { readBoolean } from './booleans.ts'
import { readDate, readEpoch } from './date-text.ts'
import { isEmptyValue } from './empty-values.ts'
import type { FieldLocale, FieldPrimitive, FieldType } from './field-types.ts'
import { readNumber } from './number-text.ts'
import type { RowValue } from './row.ts'
import { textOf } from './rules.ts'

/** A value by its primitive; `undefined` where it cannot be taken. The value given is not empty. */
export type Convert = (value: unknown, locale: FieldLocale | undefined) => RowValue | undefined

const toText: Convert = (value) => (typeof value === 'string' ? value.trim() : textOf(value))

function toNumber(value: unknown, locale: FieldLocale | undefined): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'string' ? readNumber(value, locale) : undefined
}

const toBoolean: Convert = (value) => {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return value === 1 ? true : value === 0 ? false : undefined
  return typeof value === 'string' ? readBoolean(value) : undefined
}

function toTime(value: unknown, locale: FieldLocale | undefined): number | undefined {
  if (typeof value === 'number') return readEpoch(value)
  if (typeof value !== 'string') return undefined
  const time = readDate(value, locale)
  return time ?? (/^\d{9,13}(\.\d+)?$/.test(value.trim()) ? readEpoch(Number(value)) : undefined)
}

function listOf(value: unknown): unknown[] {
  return (Array.isArray(value) ? value : [value]).filter((element) => !isEmptyValue(element))
}

const toNumbers: Convert = (value, locale) => {
  const numbers = listOf(value).map((element) => toNumber(element, locale))
  return numbers.every((number) => typeof number === 'number') ? numbers : undefined
}

function toRecord<Value>(
  value: unknown,
  convert: (value: unknown) => Value | undefined,
): Record<string, Value> | undefined {
  const given = typeof value === 'string' ? parseObject(value) : value
  if (!isObject(given)) return undefined
  // Keys come from outside: a list of pairs becomes an object without ever assigning one.
  const entries: [string, Value][] = []
  for (const [key, each] of Object.entries(given)) {
    if (isEmptyValue(each)) continue
    const converted = convert(each)
    if (converted === undefined) return undefined
    entries.push([key, converted])
  }
  return Object.fromEntries(entries)
}

function parseObject(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const toRecordOfNumbers: Convert = (value, locale) => toRecord(value, (each) => toNumber(each, locale))

const toIsoTime: Convert = (value, locale) => {
  const time = toTime(value, locale)
  return time === undefined ? undefined : new Date(time).toISOString()
}

/** How values are converted, and what is expected of them. */
const byPrimitive: Readonly<Record<FieldPrimitive, readonly [convert: Convert, expected: string]>> = {
  string: [toText, 'a text'],
  number: [toNumber, 'a number'],
  boolean: [toBoolean, 'yes or no, such as true, 1 or yes'],
  datetime: [toTime, 'a date, such as 2025-12-31T08:00:00Z'],
  datetime_iso: [toIsoTime, 'a date, such as 2025-12-31T08:00:00Z'],
  'string[]': [(value) => listOf(value).map(textOf), 'a list'],
  'number[]': [toNumbers, 'a list of numbers'],
  'string{}': [(value) => toRecord(value, textOf), 'an object'],
  'number{}': [toRecordOfNumbers, 'an object of numbers'],
}

/** Values that a type excludes although its primitive takes them. */
const ranges: Partial<Readonly<Record<FieldType, readonly [min: number, max: number]>>> = {
  latitude: [-90, 90],
  longitude: [-180, 180],
  price: [0, Number.MAX_VALUE],
  user_age: [0, 150],
}

/** How values of a field are converted, and what to say of those that cannot be. */
export function converterOf(
  type: FieldType,
  primitive: FieldPrimitive,
): { convert: Convert; expected: string } {
  const [convert, expected] = byPrimitive[primitive]
  const range = ranges[type]
  if (range === undefined) return { convert, expected }
  const [min, max] = range
  return {
    convert: (value, locale) => {
      const number = convert(value, locale)
      return typeof number === 'number' && number >= min && number <= max ? number : undefined
    },
    expected: max === Number.MAX_VALUE ? `a number of at least ${min}` : `a number from ${min} to ${max}`,
  }
}
