import type { DateRange, TimeDimension } from '@millrace/contract/resources/query.ts'
import type { Dimension } from '../../catalogue/member.ts'
import type { Grouping } from '../query.ts'
import type { QueryFaults } from '../query-faults.ts'
import { DateFault, type Now, readRange } from '../time/dates.ts'
import { always, type Interval, intersectionOf, isBounded, unionOf } from '../time/interval.ts'
import { resolveTime } from './parse-members.ts'

/** Gives what is read, or notes why a date cannot be read. */
export function readDates<T>(
  path: string,
  faults: QueryFaults,
  read: () => T,
  member?: string,
): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof DateFault)) throw error
    faults.invalid(path, error.message, member)
    return undefined
  }
}

/** Reads a date range, or notes why it cannot be read. */
export function readRangeAt(
  range: DateRange,
  path: string,
  now: Now,
  faults: QueryFaults,
): Interval | undefined {
  return readDates(path, faults, () => readRange(range, now))
}

/** Reads a date range that others are compared with: it has a name, and so a begin and an end. */
export function readComparedAt(
  range: DateRange,
  path: string,
  now: Now,
  faults: QueryFaults,
): Interval | undefined {
  const interval = readRangeAt(range, path, now, faults)
  if (!interval || isBounded(interval)) return interval
  faults.invalid(path, 'a range that is compared needs a begin and an end')
  return undefined
}

/** The time dimensions of a query: all their ranges hold at once, since times are one axis. */
export function parseTimeDimensions(asked: readonly TimeDimension[], now: Now, faults: QueryFaults) {
  const members: Dimension[] = []
  const groupings: Grouping[] = []
  let when = always
  let comparison: readonly Interval[] | undefined
  for (const [i, time] of asked.entries()) {
    const path = `timeDimensions.${i}`
    const dimension = resolveTime(time.dimension, `${path}.dimension`, faults)
    // Null is the same as absent.
    const granularity = time.granularity ?? undefined
    const dateRange = time.dateRange ?? undefined
    const compareDateRange = time.compareDateRange ?? undefined
    if (dimension) {
      members.push(dimension)
      if (granularity !== undefined) {
        const key = `${dimension.id}.${granularity}`
        groupings.push({ key, dimension, granularity })
      }
    }
    if (dateRange !== undefined && compareDateRange !== undefined) {
      faults.invalid(path, 'dateRange and compareDateRange exclude each other: give one of them')
    } else if (compareDateRange !== undefined) {
      if (comparison) {
        faults.invalid(path, 'one time dimension of a query can have compareDateRange, not two')
      }
      comparison = compareDateRange.flatMap(
        (range, j) => readComparedAt(range, `${path}.compareDateRange.${j}`, now, faults) ?? [],
      )
    } else if (dateRange !== undefined) {
      const range = readRangeAt(dateRange, `${path}.dateRange`, now, faults)
      if (range) when = intersectionOf(when, unionOf([range]))
    }
  }
  return { members, groupings, when, comparison }
}
