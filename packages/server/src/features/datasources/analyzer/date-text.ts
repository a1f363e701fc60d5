import type { FieldLocale } from './field-types.ts'

/** How a date is written: year first, day and month in digits, or the name of the month. */
export type DateKind = 'iso' | 'year_first' | 'digits' | 'month_name' | 'compact' | 'cjk'

export interface DateForm {
  readonly kind: DateKind
  readonly separator?: string | undefined
  /** Of `digits`: the two numbers in front of the year. */
  readonly first?: number | undefined
  readonly second?: number | undefined
  /** Of `month_name`: the languages that have it. */
  readonly locales?: readonly FieldLocale[] | undefined
}

interface Parsed extends DateForm {
  readonly year: number
  readonly month: number | undefined
  readonly day: number | undefined
  readonly time: string | undefined
}

const months: Readonly<Record<string, readonly string[]>> = {
  en: 'january february march april may june july august september october november december'.split(' '),
  de: 'januar februar märz april mai juni juli august september oktober november dezember'.split(' '),
  fr: 'janvier février mars avril mai juin juillet août septembre octobre novembre décembre'.split(' '),
  es: 'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' '),
  pt: 'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'.split(' '),
  nl: 'januari februari maart april mei juni juli augustus september oktober november december'.split(' '),
  ru: 'января февраля марта апреля мая июня июля августа сентября октября ноября декабря'.split(' '),
  uk: 'січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня'.split(' '),
}

/** Month by its name or its first letters, with the languages that have it. */
const monthNames = new Map<string, { month: number; locales: FieldLocale[] }>()
for (const [locale, names] of Object.entries(months)) {
  for (const [index, name] of names.entries()) {
    for (const form of new Set([
      name,
      name.slice(0, 3),
      name.slice(0, 4),
      ...(name === 'september' ? ['sept'] : []),
    ])) {
      const known = monthNames.get(form)
      if (known === undefined) monthNames.set(form, { month: index + 1, locales: [locale as FieldLocale] })
      else if (known.month === index + 1) known.locales.push(locale as FieldLocale)
    }
  }
}

const time =
  '(?:(?:\\s*,\\s*|[T\\s]\\s*|\\s*-\\s+)(?<time>\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?(?:\\s?[AaPp]\\.?[Mm]\\.?)?(?:\\s?(?:Z|UTC|GMT|[+-]\\d{2}:?\\d{2}))?))?'
const weekday = '(?:\\p{L}{2,12}\\.?,?\\s+)?'

/** How dates are written, in the order in which the forms are tried. */
const forms: readonly (readonly [DateKind, RegExp])[] = [
  ['iso', new RegExp(`^(?<year>[12]\\d{3})-(?<month>\\d{2})-(?<day>\\d{2})${time}$`)],
  [
    'year_first',
    new RegExp(
      `^(?<year>[12]\\d{3})(?<separator>[/.])(?<month>\\d{1,2})\\k<separator>(?<day>\\d{1,2})${time}$`,
    ),
  ],
  [
    'digits',
    new RegExp(
      `^(?<first>\\d{1,2})(?<separator>[/.-])(?<second>\\d{1,2})\\k<separator>(?<year>\\d{4}|\\d{2})${time}$`,
    ),
  ],
  [
    'compact',
    /^(?<year>(?:19|20)\d{2})(?<month>\d{2})(?<day>\d{2})(?:T?(?<hour>\d{2})(?<minute>\d{2})(?<seconds>\d{2})?Z?)?$/,
  ],
  ['cjk', new RegExp(`^(?<year>\\d{4})年(?<month>\\d{1,2})月(?<day>\\d{1,2})日${time}$`)],
  [
    'month_name',
    new RegExp(
      `^${weekday}(?<day>\\d{1,2})(?:\\.|st|nd|rd|th|º)?[\\s-](?:de\\s)?(?<name>\\p{L}{3,12})\\.?,?[\\s-](?:de\\s)?(?<year>\\d{4})(?:\\s?г\\.|\\sр\\.)?${time}$`,
      'iu',
    ),
  ],
  [
    'month_name',
    new RegExp(
      `^${weekday}(?<name>\\p{L}{3,12})\\.?\\s(?<day>\\d{1,2})(?:st|nd|rd|th)?,?\\s(?<year>\\d{4})${time}$`,
      'iu',
    ),
  ],
]

function parse(given: string): Parsed | undefined {
  const text = given.trim()
  if (text.length < 6 || text.length > 60) return undefined
  for (const [kind, pattern] of forms) {
    const groups = pattern.exec(text)?.groups
    if (groups) return parsedOf(kind, groups)
  }
  return undefined
}

function parsedOf(kind: DateKind, groups: Readonly<Record<string, string | undefined>>): Parsed | undefined {
  const { year = '', name, hour, minute, seconds = '00', separator } = groups
  const number = (group: string) => (groups[group] === undefined ? undefined : Number(groups[group]))
  const named = name === undefined ? undefined : monthNames.get(name.toLowerCase())
  if (name !== undefined && named === undefined) return undefined
  return {
    kind,
    separator,
    first: number('first'),
    second: number('second'),
    locales: named?.locales,
    year: fullYear(year),
    month: named?.month ?? number('month'),
    day: number('day'),
    time: hour === undefined ? groups.time : `${hour}:${minute}:${seconds}`,
  }
}

/** Two digits are years from 1970 to 2069. */
function fullYear(text: string): number {
  const year = Number(text)
  return text.length === 4 ? year : year < 70 ? 2000 + year : 1900 + year
}

/** How a text is written that may be a date; `undefined` where it is none in any reading. */
export function dateForm(text: string): DateForm | undefined {
  const parsed = parse(text)
  if (parsed === undefined) return undefined
  if (parsed.kind !== 'digits') return millisecondsOf(parsed, true) === undefined ? undefined : parsed
  return millisecondsOf(parsed, true) === undefined && millisecondsOf(parsed, false) === undefined
    ? undefined
    : parsed
}

/** Whether the day is in front of the month where both are digits: everywhere but in English. */
export function isDayFirst(locale: FieldLocale | undefined): boolean {
  return locale !== 'en'
}

/**
 * Milliseconds since 1970 of a date that is written as text, in UTC where it names no zone. The language decides
 * between day and month in `1/2/2025`; with points the day is always in front.
 */
export function readDate(text: string, locale: FieldLocale | undefined): number | undefined {
  const parsed = parse(text)
  return parsed && millisecondsOf(parsed, parsed.separator === '.' || isDayFirst(locale))
}

const clock =
  /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s?([AaPp])\.?[Mm]\.?)?(?:\s?(Z|UTC|GMT|[+-]\d{2}:?\d{2}))?$/

function millisecondsOf(parsed: Parsed, dayFirst: boolean): number | undefined {
  const day = parsed.day ?? (dayFirst ? parsed.first : parsed.second)
  const month = parsed.month ?? (dayFirst ? parsed.second : parsed.first)
  if (day === undefined || month === undefined || month < 1 || month > 12 || day < 1) return undefined
  // Systems write 01.01.0001 where they have no date, and `Date` takes the years 0 to 99 for those of last century.
  if (parsed.year < 1000) return undefined
  const midnight = Date.UTC(parsed.year, month - 1, day)
  if (new Date(midnight).getUTCDate() !== day) return undefined
  if (parsed.time === undefined) return midnight
  const match = clock.exec(parsed.time)
  if (match === null) return undefined
  const [, hours, minutes, seconds = '0', fraction = '0', half, zone] = match
  let hour = Number(hours)
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined
    hour = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  }
  if (hour > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined
  const offset = zone?.startsWith('+') || zone?.startsWith('-') ? offsetMinutes(zone) : 0
  const ofDay = ((hour * 60 + Number(minutes) - offset) * 60 + Number(seconds)) * 1000
  return midnight + ofDay + Math.floor(Number(`0.${fraction}`) * 1000)
}

function offsetMinutes(zone: string): number {
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))
  return zone.startsWith('-') ? -minutes : minutes
}

const firstEpoch = Date.UTC(1990, 0, 1)
const lastEpoch = Date.UTC(2100, 0, 1)

/** Whole milliseconds since 1970 of a number of seconds (10 digits) or milliseconds (13) between 1990 and 2100. */
export function readEpoch(number: number): number | undefined {
  const isTime = (milliseconds: number) => milliseconds >= firstEpoch && milliseconds < lastEpoch
  const milliseconds = [number, number * 1000].find(isTime)
  return milliseconds === undefined ? undefined : Math.round(milliseconds)
}
