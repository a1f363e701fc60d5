import type { OperationData } from '@millrace/sdk'
import type { Language } from '../texts/texts.ts'

type SentMeta = OperationData<'readStatisticsMeta'>
type SentMeasure = SentMeta['measures'][string]
/** `amount EUR` is an amount in a currency. */
type Format = SentMeasure['format'] | `amount ${string}`
export type MeasureMeta = Omit<SentMeasure, 'format'> & { readonly format: Format }
export type Meta = Omit<SentMeta, 'measures'> & { readonly measures: Readonly<Record<string, MeasureMeta>> }
export type DimensionMeta = Meta['dimensions'][string]

/** Labels and parameters can be asked for whether the model lists them or not: its list ends after a thousand. */
const labelForm = /^(events|purchases)\.label\..|^workflows\.parameter\../s

export const isDimension = (meta: Meta, id: string): boolean =>
  Object.hasOwn(meta.dimensions, id) || labelForm.test(id)

export const isMeasure = (meta: Meta, id: string): boolean => Object.hasOwn(meta.measures, id)

/** A formatter is made once for each of its options: making one takes a hundred times as long as using it. */
function keptByOptions<Options, Formatter>(make: (language: Language, options: Options) => Formatter) {
  const kept = new Map<string, Formatter>()
  return (language: Language, options: Options): Formatter => {
    const key = language + JSON.stringify(options)
    const known = kept.get(key) ?? make(language, options)
    kept.set(key, known)
    return known
  }
}

const numbers = keptByOptions(
  (language, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(language, options),
)
const dates = keptByOptions(
  // Hours are those of 24, in every language: times of screens, logs and schedules are compared.
  (language, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language, { hourCycle: 'h23', ...options }),
)

/** 1.5 h, 3 min 20 s, 12 s: the two greatest units. */
function duration(language: Language, seconds: number): string {
  const size = Math.abs(seconds)
  if (size < 60) return `${numbers(language, { maximumFractionDigits: size < 10 ? 1 : 0 }).format(seconds)} s`
  const [great, small, unit, part] =
    size < 3_600 ? [60, 1, 'min', 's'] : size < 86_400 ? [3_600, 60, 'h', 'min'] : [86_400, 3_600, 'd', 'h']
  const whole = Math.trunc(size / (great as number))
  const rest = Math.round((size - whole * (great as number)) / (small as number))
  const text = `${whole} ${unit}${rest > 0 ? ` ${rest} ${part}` : ''}`
  return seconds < 0 ? `−${text}` : text
}

/** The model with its amounts in the currency of the company, where it has one. */
export function inCurrency(meta: Meta, currency: string | null | undefined): Meta {
  if (!currency) return meta
  const measures = Object.entries(meta.measures).map(([id, measure]): [string, MeasureMeta] => [
    id,
    measure.format === 'amount' ? { ...measure, format: `amount ${currency}` } : measure,
  ])
  return { ...meta, measures: Object.fromEntries(measures) }
}

/**
 * A value of a measure as people read it.
 * @param isShort for axes and figures: 12.3K instead of 12,345
 */
export function formatMeasure(
  language: Language,
  format: MeasureMeta['format'] | undefined,
  value: number | null | undefined,
  isShort = false,
): string {
  if (value === null || value === undefined) return '–'
  if (format?.startsWith('amount ')) {
    const isCompact = isShort && Math.abs(value) >= 10_000
    return numbers(language, {
      style: 'currency',
      currency: format.slice('amount '.length),
      currencyDisplay: 'narrowSymbol',
      ...(isCompact && { notation: 'compact', maximumFractionDigits: 1 }),
    }).format(value)
  }
  switch (format) {
    case 'ratio':
      return numbers(language, {
        style: 'percent',
        maximumFractionDigits: Math.abs(value) < 0.1 ? 2 : 1,
      }).format(value)
    case 'seconds':
      return duration(language, value)
    case 'milliseconds':
      return value < 1_000
        ? `${numbers(language, { maximumFractionDigits: 0 }).format(value)} ms`
        : duration(language, value / 1_000)
    case 'amount':
      return numbers(
        language,
        isShort && Math.abs(value) >= 10_000
          ? { notation: 'compact', maximumFractionDigits: 1 }
          : { minimumFractionDigits: 2, maximumFractionDigits: 2 },
      ).format(value)
    default:
      return numbers(
        language,
        isShort && Math.abs(value) >= 10_000
          ? { notation: 'compact', maximumFractionDigits: 1 }
          : { maximumFractionDigits: format === 'integer' ? 0 : 2 },
      ).format(value)
  }
}

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** 12 kB, 3.4 MB: in steps of a thousand. */
export function formatBytes(language: Language, bytes: number): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1_000 ** step
  const options = { style: 'unit', unit: units[step], unitDisplay: 'short' } as const
  return numbers(language, { ...options, maximumFractionDigits: value < 10 && step > 0 ? 1 : 0 }).format(
    value,
  )
}

/** Change in per cent from `before` to `now`; undefined where there is none to tell. */
export function changeOf(
  now: number | null | undefined,
  before: number | null | undefined,
): number | undefined {
  if (now === null || now === undefined || before === null || before === undefined || before === 0)
    return undefined
  return (now - before) / Math.abs(before)
}

export const formatChange = (language: Language, change: number): string =>
  numbers(language, {
    style: 'percent',
    maximumFractionDigits: Math.abs(change) < 0.1 ? 1 : 0,
    signDisplay: 'exceptZero',
  }).format(change)

export type Granularity = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'

/**
 * The first instant of a bucket as the answer writes it, `2026-01-31T00:00:00.000+01:00`: its wall clock is that of the
 * query's time zone, so it is read from the text and not in the zone of the browser.
 */
export function formatBucket(
  language: Language,
  text: string,
  granularity: Granularity,
  isShort = false,
): string {
  const wall = new Date(`${text.slice(0, 19)}Z`)
  const say = (options: Intl.DateTimeFormatOptions) =>
    dates(language, { timeZone: 'UTC', ...options }).format(wall)
  switch (granularity) {
    case 'year':
      return say({ year: 'numeric' })
    case 'quarter':
      return `${language === 'fr' ? 'T' : 'Q'}${Math.floor(wall.getUTCMonth() / 3) + 1} ${wall.getUTCFullYear()}`
    case 'month':
      return say({ month: isShort ? 'short' : 'long', year: 'numeric' })
    case 'week':
    case 'day':
      return isShort
        ? say({ day: 'numeric', month: 'short' })
        : say({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
    case 'hour':
    case 'minute':
      return say({
        ...(isShort ? {} : { day: 'numeric', month: 'short' }),
        hour: '2-digit',
        minute: '2-digit',
      })
    case 'second':
      return say({ hour: '2-digit', minute: '2-digit', second: '2-digit' })
  }
}

const instantStyles = {
  minute: { dateStyle: 'medium', timeStyle: 'short' },
  day: { dateStyle: 'medium' },
  /** Of today. */
  time: { timeStyle: 'medium' },
} as const

export type InstantStyle = keyof typeof instantStyles

/** An instant in a zone, or in that of the browser while none is known. */
export const formatInstant = (
  language: Language,
  instant: string | number | Date,
  timeZone: string | undefined,
  style: InstantStyle = 'minute',
): string =>
  dates(language, { ...instantStyles[style], ...(timeZone !== undefined && { timeZone }) }).format(
    new Date(instant),
  )
