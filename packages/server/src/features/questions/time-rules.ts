import type { DateRange, Granularity } from '@millrace/contract/resources/query.ts'
import type { Now } from '../analytics/query/time/dates.ts'
import type { Interval } from '../analytics/query/time/interval.ts'
import type { Zone } from '../analytics/query/time/zone.ts'

export type { Interval, Zone }

/** The one source of rules about zones, calendars and ranges: that of statistics, by which queries read their dates. */
export interface TimeRules {
  /** @throws {RangeError} when the name is no time zone */
  openZone(name: string): Zone
  /** @throws {Error} saying why a text is no range */
  readRange(range: string | readonly (string | null)[], now: Now): Interval
  startOf(zone: Zone, instant: number, unit: Granularity): number
  add(zone: Zone, instant: number, count: number, unit: Granularity): number
}

/** A range as queries take it; what is wrong with it, where it is none. */
export function readRange(
  time: TimeRules,
  range: DateRange,
  now: Now,
): Interval | { readonly fault: string } {
  try {
    return time.readRange(range, now)
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) throw error
    return { fault: error.message }
  }
}
