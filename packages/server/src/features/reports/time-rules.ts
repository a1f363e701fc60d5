import type { DateRange, Granularity } from '@millrace/contract/resources/query.ts'
import type { Interval } from '../statistics/query/time/interval.ts'
import type { Zone } from '../statistics/query/time/zone.ts'

export type { Interval, Zone }

/** The one source of rules about zones, calendars and ranges: that of queries. */
export interface TimeRules {
  /** Throws a RangeError for a name that is no zone. */
  readonly openZone: (name: string) => Zone
  /** The first instant of the unit that holds this one. */
  readonly startOf: (zone: Zone, instant: number, unit: Granularity) => number
  /** The instant some units later. */
  readonly add: (zone: Zone, instant: number, count: number, unit: Granularity) => number
  /** A range as queries take it; what is wrong with it in words, where it is none. */
  readonly readRange: (
    range: DateRange,
    now: { readonly instant: number; readonly zone: Zone },
  ) => Interval | { readonly fault: string }
}
