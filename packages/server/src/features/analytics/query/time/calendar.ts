import type { Granularity } from '@millrace/contract/resources/query.ts'
import type { TimeSet } from './interval.ts'
import { day, hour, minute, second, type Zone } from './zone.ts'

const fixed = { second, minute, hour, day, week: 7 * day } as const
const months = { month: 1, quarter: 3, year: 12 } as const

const isFixed = (unit: Granularity): unit is keyof typeof fixed => unit in fixed

/** A wall clock reading, cut to the start of its unit; weeks begin on Monday. */
export function startOfLocal(local: number, unit: Granularity): number {
  const date = new Date(local)
  if (unit === 'week') return Math.floor(local / day) * day - ((date.getUTCDay() + 6) % 7) * day
  if (isFixed(unit)) return Math.floor(local / fixed[unit]) * fixed[unit]
  const month = date.getUTCMonth()
  return Date.UTC(date.getUTCFullYear(), month - (month % months[unit]))
}

/** A wall clock reading some units later; in a shorter month the day is that month's last. */
function addLocal(local: number, count: number, unit: Granularity): number {
  return isFixed(unit) ? local + count * fixed[unit] : addMonths(local, count * months[unit])
}

function addMonths(local: number, count: number): number {
  const date = new Date(local)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth() + count
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, Math.min(date.getUTCDate(), last)) + (((local % day) + day) % day)
}

function isSubDayUnit(unit: Granularity): unit is 'second' | 'minute' | 'hour' {
  return unit === 'second' || unit === 'minute' || unit === 'hour'
}

/**
 * The instant some units later: hours and less are real time, days and more keep the wall clock. The first instant of a
 * day leads to that of another, also where a change of the clock has left out midnight.
 */
export function add(zone: Zone, instant: number, count: number, unit: Granularity): number {
  if (isSubDayUnit(unit)) return instant + count * fixed[unit]
  const local = zone.localOf(instant)
  const midnight = startOfLocal(local, 'day')
  const isFirst = local !== midnight && zone.instantOf(midnight) === instant
  return zone.instantOf(addLocal(isFirst ? midnight : local, count, unit))
}

/**
 * The first instant of the unit that holds this one. Hours and less are counted with the offset of the
 * instant itself, so that the hour which a clock set back repeats begins twice, and end with it: one in which the
 * clock is changed has two parts.
 */
export function startOf(zone: Zone, instant: number, unit: Granularity): number {
  if (isSubDayUnit(unit)) {
    const offset = zone.offsetAt(instant)
    const start = startOfLocal(instant + offset, unit) - offset
    return zone.offsetAt(start) === offset
      ? start
      : (zone.changesBetween(start, instant + 1).at(-1)?.at ?? start)
  }
  return zone.instantOf(startOfLocal(zone.localOf(instant), unit))
}

const shortest = { ...fixed, month: 28 * day, quarter: 90 * day, year: 365 * day } as const

/** Milliseconds of so many units, at least. */
export function minDuration(count: number, unit: Granularity): number {
  return count * shortest[unit]
}

/** How many units a stretch of time touches; of months and longer ones, at most. */
export function countUnits(zone: Zone, from: number, to: number, unit: Granularity): number {
  const [first, last] = [from, to - 1].map((instant) => startOfLocal(zone.localOf(instant), unit))
  return Math.round(((last ?? 0) - (first ?? 0)) / shortest[unit]) + 1
}

/** Instants of which one lies in each bucket of the times, in order; a bucket may hold several. */
export function instantsOfBuckets(zone: Zone, times: TimeSet, unit: Granularity): number[] {
  return times.flatMap(({ from, to }) => {
    const instants = [from]
    // By the count from the first one, since a month after the 31st is not a month before the one after.
    const first = startOf(zone, from, unit)
    for (let count = 1; ; count++) {
      const next = add(zone, first, count, unit)
      if (next >= to) break
      if (next > from) instants.push(next)
    }
    // A unit in which the clock was changed may lie between two steps of the same length.
    if (isSubDayUnit(unit)) instants.push(...zone.changesBetween(from, to).map(({ at }) => at))
    return instants
  })
}
