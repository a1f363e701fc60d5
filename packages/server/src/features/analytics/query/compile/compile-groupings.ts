import type { Granularity } from '@millrace/contract/resources/query.ts'
import type { Grouping } from '../query.ts'
import { hullOf, type TimeSet } from '../time/interval.ts'
import { day, hour, minute, type OffsetChange, second, type Zone } from '../time/zone.ts'
import type { Parameters } from './parameters.ts'

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

const unitsOfClock = { second, minute, hour } as const

const dateFunctions = {
  day: '',
  week: 'toMonday',
  month: 'toStartOfMonth',
  quarter: 'toStartOfQuarter',
  year: 'toStartOfYear',
} as const satisfies Partial<Record<Granularity, string>>

/** Events have times from 1970 to 2099: what an open range may reach. */
const [firstInstant, lastInstant] = [0, Date.UTC(2100, 0)]

/** Beyond so many changes of the clock a table of them is faster than a chain of conditions. */
const maxChain = 4

/** How the times of a query fall into buckets of its zone. */
export type Buckets = ReturnType<typeof createBuckets>

/**
 * Buckets by the offsets that the zone has here, which decide about ranges and shown times too: the engine is given
 * them as numbers and needs no rules of its own about any zone.
 * @param times all times that the query may count
 */
export function createBuckets(zone: Zone, times: TimeSet) {
  const hull = hullOf(times) ?? { from: firstInstant, to: firstInstant }
  // The first hour may have begun before the range, with a change of the clock.
  const from = Math.max(hull.from - hour, firstInstant)
  const changes = zone.changesBetween(from, Math.max(from, Math.min(hull.to, lastInstant)))
  const first = zone.offsetAt(from)

  /** Whether every stretch of one offset begins and ends with a unit of the clock: no unit has two offsets then. */
  function isAligned(unit: number): boolean {
    return changes.every(({ at, offset }, i) => {
      const before = changes[i - 1]?.offset ?? first
      return (at + before) % unit === 0 && (at + offset) % unit === 0
    })
  }

  function offsetSql(seconds: string, parameters: Parameters): string {
    const offsets = [first, ...changes.map(({ offset }) => offset)]
    return byStretch(from, changes, offsets, seconds, parameters)
  }

  function clockSql(unit: number, seconds: string, parameters: Parameters): string {
    const length = unit / second
    if (isAligned(unit)) {
      const shift = (first % unit) / second
      return shift === 0
        ? `intDiv(${seconds}, ${length}) * ${length}`
        : `${seconds} - positiveModulo(${seconds} + ${parameters.bind('Int64', shift)}, ${length})`
    }
    const start = `${seconds} - positiveModulo(${seconds} + ${offsetSql(seconds, parameters)}, ${length})`
    // A unit in which the clock was changed begins with the change, which gives its offset and its place in time.
    const begins = [-day, ...changes.map(({ at }) => at)]
    return `greatest(${start}, ${byStretch(from, changes, begins, seconds, parameters)})`
  }

  return {
    /**
     * What a grouping groups by, over the SQL of its dimension. Days and longer units are local dates; hours and shorter
     * ones are their first instants, so that two of one name stay apart when a clock is set back.
     */
    sql({ dimension, granularity }: Grouping, sql: string, parameters: Parameters): string {
      if (dimension.type !== 'time') return sql
      if (granularity === undefined) return `toUnixTimestamp64Milli(${sql})`
      const seconds = `toUnixTimestamp(${sql})`
      if (isOfClock(granularity)) return clockSql(unitsOfClock[granularity], seconds, parameters)
      const local = `${seconds} + ${offsetSql(seconds, parameters)}`
      // A date of 16 bits groups faster. It begins with 1970, whose first hours are still 1969 in half of the world;
      // and division rounds toward 0.
      const date =
        from >= day
          ? `toDate(toUInt16(intDiv(${local}, ${day / second})))`
          : `toDate32(toInt32(intDiv(${local} + ${day / second}, ${day / second}) - 1))`
      return dateFunctions[granularity] === '' ? date : `${dateFunctions[granularity]}(${date})`
    },
  }
}

/** The form of the cells that the buckets of a grouping give. */
export function formOf({ dimension, granularity }: Grouping): CellForm {
  if (dimension.type !== 'time') return dimension.type === 'boolean' ? 'boolean' : 'text'
  if (granularity === undefined) return 'milliseconds'
  return isOfClock(granularity) ? 'seconds' : 'date'
}

function isOfClock(granularity: Granularity): granularity is keyof typeof unitsOfClock {
  return granularity in unitsOfClock
}

/**
 * One of these values, given in milliseconds, in seconds: the first before all changes, then one from each change on.
 * @param from no time is earlier
 * @param seconds the SQL of a time
 */
function byStretch(
  from: number,
  changes: readonly OffsetChange[],
  values: readonly number[],
  seconds: string,
  parameters: Parameters,
): string {
  const results = values.map((value) => value / second)
  const instants = changes.map(({ at }) => at / second)
  const bind = (value: number | undefined) => parameters.bind('Int64', value ?? 0)
  if (changes.length === 0) return bind(results[0])
  if (changes.length <= maxChain) {
    const cases = instants.map((at, i) => `${seconds} < ${bind(at)}, ${bind(results[i])}`)
    return `multiIf(${cases.join(', ')}, ${bind(results.at(-1))})`
  }
  // Slots so short that at most one change lies in each: the slot says which stretch its begin is in, and a
  // comparison with the end of that stretch whether the next one has begun.
  const begin = Math.floor(from / second)
  const slot = Math.min(...instants.slice(1).map((at, i) => at - (instants[i] ?? 0)))
  const last = instants.at(-1) ?? begin
  let stretch = 0
  const stretches = Array.from({ length: Math.ceil((last - begin) / slot) + 1 }, (_, i) => {
    while ((instants[stretch] ?? Number.POSITIVE_INFINITY) <= begin + i * slot) stretch++
    return stretch + 1
  })
  const table = parameters.bind('Array(UInt16)', stretches)
  const known = `${table}[least(intDiv(${seconds} - ${bind(begin)}, ${bind(slot)}) + 1, ${stretches.length})]`
  const ends = parameters.bind('Array(Int64)', [...instants, lastInstant])
  return `${parameters.bind('Array(Int64)', results)}[${known} + (${seconds} >= ${ends}[${known}])]`
}
