import type { DateRange } from '@millrace/contract/resources/query.ts'
import type { Interval } from '../statistics/query/time/interval.ts'
import type { Zone } from '../statistics/query/time/zone.ts'
import type { Calendar } from './questions/periods.ts'

export type { Interval, Zone }

/** The one source of rules about zones, calendars and ranges: that of queries. */
export type TimeRules = Calendar

/** A range as queries take it; what is wrong with it, where it is none. */
export function readRange(
  time: TimeRules,
  range: DateRange,
  now: { readonly instant: number; readonly zone: Zone },
): Interval | { readonly fault: string } {
  try {
    return time.readRange(range, now)
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) throw error
    return { fault: error.message }
  }
}
