import type { Granularity } from '@millrace/contract/resources/query.ts'
import type { Parameters } from './parameters.ts'
import type { Grouping } from './query.ts'
import type { Zone } from './zone.ts'

/** How a column's cells come from the engine, and so how they are shown. */
export type CellForm =
  /** Index of a range of the comparison. */
  | 'range'
  /** A local date, the start of its day. */
  | 'date'
  /** An instant in seconds, or in milliseconds, since 1970. */
  | 'seconds'
  | 'milliseconds'
  | 'text'
  | 'boolean'
  /** A number, as text where it has 64 bits or is a decimal. */
  | 'number'

/** The form of the cells that `groupingSql` gives. */
export function formOf({ dimension, granularity }: Grouping): CellForm {
  if (dimension.type !== 'time') return dimension.type === 'boolean' ? 'boolean' : 'text'
  if (granularity === undefined) return 'milliseconds'
  return granularity === 'second' || granularity === 'minute' || granularity === 'hour' ? 'seconds' : 'date'
}

const dateFunctions = {
  day: 'toDate',
  week: 'toMonday',
  month: 'toStartOfMonth',
  quarter: 'toStartOfQuarter',
  year: 'toStartOfYear',
} as const satisfies Partial<Record<Granularity, string>>

/**
 * What a grouping groups by, over the SQL of its dimension. Times fall into buckets of the zone: days and
 * longer are local dates; hours are instants, of which two of one name stay apart when a clock is set back.
 */
export function groupingSql(
  { dimension, granularity }: Grouping,
  sql: string,
  zone: Zone,
  parameters: Parameters,
): string {
  if (dimension.type !== 'time') return sql
  const seconds = `toUnixTimestamp(${sql})`
  const zoneName = () => parameters.bind('String', zone.name)
  switch (granularity) {
    case undefined:
      return `toUnixTimestamp64Milli(${sql})`
    case 'second':
      return seconds
    case 'minute':
      return `intDiv(${seconds}, 60) * 60`
    case 'hour':
      return zone.hasWholeHours()
        ? `intDiv(${seconds}, 3600) * 3600`
        : `${seconds} - positiveModulo(${seconds} + timezoneOffset(toTimeZone(${sql}, ${zoneName()})), 3600)`
    default:
      return `${dateFunctions[granularity]}(${sql}, ${zoneName()})`
  }
}
