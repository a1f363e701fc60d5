/**
 * A time zone's arithmetic. "Local" numbers are wall clock readings written as if they were UTC
 * milliseconds: 2024-03-31 02:30 anywhere is `Date.UTC(2024, 2, 31, 2, 30)`. Instants are milliseconds
 * since 1970-01-01T00:00:00Z.
 */
export interface Zone {
  /** IANA name. */
  readonly name: string
  /** Milliseconds that the wall clock is ahead of UTC at this instant. */
  offsetAt(instant: number): number
  /** The wall clock at this instant. */
  localOf(instant: number): number
  /**
   * The instant of a wall clock reading. One that occurs twice is its first occurrence; one that a change of
   * the clock leaves out is moved on by the length of the gap, so that the start of a day without a midnight
   * is that day's first instant.
   */
  instantOf(local: number): number
  /** ISO 8601 with milliseconds and the offset, that of the instant: `2024-10-27T02:00:00.000+01:00`. */
  format(instant: number): string
  /** Changes of the offset after `from` and before `to`, in order. */
  changesBetween(from: number, to: number): readonly OffsetChange[]
}

export interface OffsetChange {
  /** The first instant with the new offset. */
  readonly at: number
  /** Milliseconds, as of `offsetAt`. */
  readonly offset: number
}

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** Two changes of a zone's offset are further apart than this, in every year that queries may name. */
const searchStep = 5 * day

const opened = new Map<string, Zone>()

/** @throws {RangeError} when the name is no time zone */
export function openZone(name: string): Zone {
  const known = opened.get(name)
  if (known) return known
  const zone = createZone(name)
  opened.set(name, zone)
  return zone
}

/** Names of zones begin with a letter; an offset as `+05:00` is none. */
const zoneName = /^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/

/**
 * The zone that a request names, in whatever case. Zones stay open under the one name that the runtime has for them,
 * so that no spelling takes memory.
 */
export function findZone(name: string): Zone | undefined {
  if (!zoneName.test(name)) return undefined
  try {
    return openZone(new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The offsets of a year of UTC. */
interface Year {
  /** With which it begins, and with which it ends. */
  readonly first: number
  readonly last: number
  /** Within it. */
  readonly changes: readonly OffsetChange[]
}

function createZone(name: string): Zone {
  const clock = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })

  function readOffset(instant: number): number {
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(clock.format(instant))
    if (!match) throw new Error(`the offset of ${name} cannot be read`)
    const [, sign, hours, minutes, seconds] = match
    const amount = Number(hours ?? 0) * hour + Number(minutes ?? 0) * minute + Number(seconds ?? 0) * second
    return sign === '-' ? -amount : amount
  }

  const years = new Map<number, Year>()

  function yearOf(year: number): Year {
    let known = years.get(year)
    if (known === undefined) {
      const [from, to] = [Date.UTC(year, 0), Date.UTC(year + 1, 0)]
      const first = readOffset(from)
      const changes = findChanges(from, to, first)
      known = { first, changes, last: changes.at(-1)?.offset ?? first }
      years.set(year, known)
    }
    return known
  }

  function findChanges(from: number, to: number, first: number): OffsetChange[] {
    const changes: OffsetChange[] = []
    let before = first
    for (let start = from; start < to; start += searchStep) {
      const end = Math.min(start + searchStep, to - second)
      const offset = readOffset(end)
      if (offset !== before) changes.push({ at: firstSecondWithout(before, start, end), offset })
      before = offset
    }
    return changes
  }

  /** By halving: the offset has changed at `end` and has not at `start`. */
  function firstSecondWithout(offset: number, start: number, end: number): number {
    let [unchanged, changed] = [start, end]
    while (changed - unchanged > second) {
      const middle = unchanged + Math.floor((changed - unchanged) / (2 * second)) * second
      if (readOffset(middle) === offset) unchanged = middle
      else changed = middle
    }
    return changed
  }

  function offsetAt(instant: number): number {
    const { first, changes } = yearOf(new Date(instant).getUTCFullYear())
    let offset = first
    for (const change of changes) {
      if (change.at > instant) break
      offset = change.offset
    }
    return offset
  }

  function changesBetween(from: number, to: number): OffsetChange[] {
    const [firstYear, lastYear] = [from, to].map((instant) => new Date(instant).getUTCFullYear())
    const found: OffsetChange[] = []
    for (let year = firstYear ?? 0; year <= (lastYear ?? 0); year++) {
      const { first, changes } = yearOf(year)
      const begin = Date.UTC(year, 0)
      // A change at the very turn of a year of UTC belongs to the year that it begins.
      const turn = first === yearOf(year - 1).last ? [] : [{ at: begin, offset: first }]
      for (const change of [...turn, ...changes]) if (change.at > from && change.at < to) found.push(change)
    }
    return found
  }

  function instantOf(local: number): number {
    const before = offsetAt(local - day)
    const after = offsetAt(local + day)
    const first = local - before
    if (before === after || offsetAt(first) === before) return first
    const last = local - after
    return offsetAt(last) === after ? last : first
  }

  // Times of a result come in order: most are of the day of the one before.
  let [formattedDay, dayText] = [Number.NaN, '']

  function format(instant: number): string {
    const offset = offsetAt(instant)
    const local = instant + offset
    const midnight = Math.floor(local / day) * day
    if (midnight !== formattedDay) {
      formattedDay = midnight
      dayText = new Date(midnight).toISOString().slice(0, 11)
    }
    return dayText + formatTimeOfDay(local - midnight) + formatOffset(offset)
  }

  return Object.freeze({
    name,
    offsetAt,
    localOf: (instant: number) => instant + offsetAt(instant),
    instantOf,
    format,
    changesBetween,
  })
}

const twoDigits = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'))

/** `08:30:00.000` */
function formatTimeOfDay(milliseconds: number): string {
  const [hours, minutes, seconds] = [
    twoDigits[Math.floor(milliseconds / hour)],
    twoDigits[Math.floor(milliseconds / minute) % 60],
    twoDigits[Math.floor(milliseconds / second) % 60],
  ]
  const rest = milliseconds % second
  return `${hours}:${minutes}:${seconds}.${rest === 0 ? '000' : String(rest).padStart(3, '0')}`
}

/** `+05:45` */
function formatOffset(offset: number): string {
  const minutes = Math.abs(Math.trunc(offset / minute))
  return `${offset < 0 ? '-' : '+'}${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}`
}
