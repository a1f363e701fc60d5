import { DateTime, type DateTimeFormatOptions } from 'luxon'
import { localeOf, zoneOf } from './locales.ts'
import {
  constant,
  type TransformFunction,
  takes,
  WrongArgument,
  withVariables,
} from './transform-function.ts'

const at = (instant: unknown, givenZone: unknown): DateTime =>
  DateTime.fromMillis(instant as number, { zone: zoneOf(givenZone) })

const localized = (options: DateTimeFormatOptions) => (date: DateTime) => date.toLocaleString(options)

/** Formats by name; those that are localized are written as the locale does. */
const dateFormats: Readonly<Record<string, (date: DateTime) => string | null>> = {
  iso: (date) => date.toISO(),
  'iso-date': (date) => date.toISODate(),
  'iso-time': (date) => date.toFormat('HH:mm:ss'),
  timestamp: (date) => String(date.toMillis()),
  'date-short': localized(DateTime.DATE_SHORT),
  'date-medium': localized(DateTime.DATE_MED),
  'date-long': localized(DateTime.DATE_FULL),
  'date-full': localized(DateTime.DATE_HUGE),
  'time-short': localized(DateTime.TIME_SIMPLE),
  'time-medium': localized(DateTime.TIME_WITH_SECONDS),
  'time-24': localized(DateTime.TIME_24_SIMPLE),
  'datetime-short': localized(DateTime.DATETIME_SHORT),
  'datetime-medium': localized(DateTime.DATETIME_MED),
  'datetime-long': localized(DateTime.DATETIME_FULL),
  weekday: localized({ weekday: 'long' }),
  'weekday-short': localized({ weekday: 'short' }),
  month: localized({ month: 'long' }),
  'month-short': localized({ month: 'short' }),
  'day-month': localized({ day: 'numeric', month: 'long' }),
  'month-year': localized({ month: 'long', year: 'numeric' }),
  year: (date) => date.toFormat('yyyy'),
}

const units = ['seconds', 'minutes', 'hours', 'days', 'weeks', 'months', 'years'] as const
type Unit = (typeof units)[number]

const formatDate: TransformFunction = {
  description: 'A date in one of the named formats; in `en_US` and `UTC` when absent',
  parameters: [takes.date, constant('format', 'text', Object.keys(dateFormats)), takes.locale, takes.zone],
  result: 'text',
  evaluate: ([date, format, locale, givenZone]) =>
    dateFormats[format as string]?.(at(date, givenZone).setLocale(localeOf(locale))),
  check([, , locale, givenZone]) {
    localeOf(locale)
    zoneOf(givenZone)
  },
}

const maxFormatLength = 100
const maxFormatFields = 10

/**
 * A field of one or two digits beside another can be read in several ways, and those of many fields multiply, before a
 * text turns out to be none of them.
 */
function assertFormat(format: string): void {
  if (format === '' || format.length > maxFormatLength)
    throw new WrongArgument(`format must have 1 to ${maxFormatLength} characters`)
  const letters = [...format.replace(/'[^']*'/g, ' ').matchAll(/([A-Za-z])\1*/g)].map(([, letter]) => letter)
  if (letters.length > maxFormatFields || new Set(letters).size < letters.length)
    throw new WrongArgument(
      `format must have at most ${maxFormatFields} fields, each once; text stands between single quotation marks`,
    )
}

function parseDate(text: string, format: string, givenZone: unknown, locale: unknown): number {
  if (format !== 'iso') assertFormat(format)
  const options = { zone: zoneOf(givenZone), locale: localeOf(locale) }
  const date = format === 'iso' ? DateTime.fromISO(text, options) : DateTime.fromFormat(text, format, options)
  if (text.length > maxFormatLength || !date.isValid)
    throw new WrongArgument(`"${text.slice(0, 40)}" is no date of the format "${format}"`)
  return date.toMillis()
}

const shift = (sign: 1 | -1): TransformFunction => ({
  description: `A date ${sign === 1 ? 'moved on' : 'moved back'} by whole units; days and longer ones by the calendar of the zone`,
  parameters: [takes.date, { name: 'amount', type: 'number' }, constant('unit', 'text', units), takes.zone],
  result: 'date',
  evaluate([date, amount, unit, givenZone]) {
    const moved = at(date, givenZone).plus({ [unit as Unit]: sign * Math.trunc(amount as number) })
    if (!moved.isValid) throw new WrongArgument('the amount leads out of the range of dates')
    return moved.toMillis()
  },
  check: ([, , , givenZone]) => void zoneOf(givenZone),
})

/** Functions over dates (docs/workflows.md, Transform functions). */
export const dateFunctions = {
  'format-date': formatDate,
  'format-date-locale-var': withVariables(formatDate, ['locale']),
  'parse-date': {
    description:
      'The date that a text writes: `iso`, or a format as `dd/MM/yyyy HH:mm`; in `UTC` when absent',
    parameters: [takes.text, constant('format', 'text'), takes.zone, takes.locale],
    result: 'date',
    evaluate: ([text, format, givenZone, locale]) =>
      parseDate((text as string).slice(0, maxFormatLength + 1), format as string, givenZone, locale),
    check([, format, givenZone, locale]) {
      zoneOf(givenZone)
      localeOf(locale)
      if (typeof format === 'string' && format !== 'iso') assertFormat(format)
    },
  },
  'diff-dates': {
    description: 'Whole units from the first date to the second, negative where the second is earlier',
    parameters: [
      { name: 'from', type: 'date' },
      { name: 'to', type: 'date' },
      constant('unit', 'text', units),
      takes.zone,
    ],
    result: 'number',
    evaluate: ([from, to, unit, givenZone]) =>
      Math.trunc(
        at(to, givenZone)
          .diff(at(from, givenZone), unit as Unit)
          .as(unit as Unit),
      ) + 0,
    check: ([, , , givenZone]) => void zoneOf(givenZone),
  },
  'add-to-date': shift(1),
  'sub-to-date': shift(-1),
  'get-date-occurence': {
    description:
      'The first anniversary of a date that is not before `after`, as the next birthday; 29 February is the 28th in other years',
    parameters: [takes.date, { name: 'after', type: 'date' }, takes.zone],
    result: 'date',
    evaluate([date, after, givenZone]) {
      const [first, wanted] = [at(date, givenZone), at(after, givenZone)]
      const inYear = (year: number) => first.set({ year })
      const candidate = inYear(wanted.year)
      return (candidate.toMillis() >= wanted.toMillis() ? candidate : inYear(wanted.year + 1)).toMillis()
    },
    check: ([, , givenZone]) => void zoneOf(givenZone),
  },
} as const satisfies Record<string, TransformFunction>
