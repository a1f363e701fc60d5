import type { Zone } from '../../analytics/query/time/zone.ts'

/** On which local days and at which times of day something happens. */
export interface Recurrence {
  readonly runsOn: (day: LocalDay) => boolean
  /** From 1; days of other months are not looked at. */
  readonly months: ReadonlySet<number>
  /** Minutes since local midnight, ascending. */
  readonly minutes: readonly number[]
  /**
   * Whether it follows the clock of the wall whatever that does, as what happens every hour or every few minutes: a
   * reading that comes twice counts twice, and one that is skipped does not count. Otherwise each time of day
   * counts once on every day: where it is skipped at the first instant after the gap, where it comes twice the
   * first time.
   */
  readonly followsClock: boolean
}

/** A day of the calendar. */
export interface LocalDay {
  /** From 1. */
  readonly month: number
  readonly dayOfMonth: number
  /** 1 is Monday, 7 is Sunday. */
  readonly weekday: number
  readonly daysInMonth: number
}

const minute = 60_000
const day = 86_400_000
/**
 * The 29 February comes back after 8 years at most, on the same weekday after 40, as from 2088 to 2128; what has no day
 * within so many has none at all.
 */
const searchedYears = 40

/** The calendar's day by its number since 1970-01-01. */
function readDay(number: number): LocalDay {
  const date = new Date(number * day)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return {
    month: month + 1,
    dayOfMonth: date.getUTCDate(),
    weekday: date.getUTCDay() || 7,
    daysInMonth: new Date(Date.UTC(year, month + 1, 0)).getUTCDate(),
  }
}

/** Whether the zone has this day at all: a zone that crosses the date line leaves one out. */
const exists = (zone: Zone, number: number): boolean =>
  Math.floor(zone.localOf(zone.instantOf(number * day)) / day) === number

/** The one instant that stands for a time of day. */
function instantOf(zone: Zone, local: number): number {
  const instant = zone.instantOf(local)
  if (zone.localOf(instant) === local) return instant
  // `instantOf` moves a skipped reading on by the length of the gap, so the change lies before.
  return zone.changesBetween(instant - 2 * day, instant + 1).at(-1)?.at ?? instant
}

/** Every instant at which the clock of the wall shows this. */
function readingsOf(zone: Zone, local: number): number[] {
  const offsets = new Set([zone.offsetAt(local - day), zone.offsetAt(local + day)])
  return [...offsets].map((offset) => local - offset).filter((instant) => zone.localOf(instant) === local)
}

function instantsOn({ minutes, followsClock }: Recurrence, zone: Zone, number: number): number[] {
  if (!exists(zone, number)) return []
  const locals = minutes.map((each) => number * day + each * minute)
  return followsClock
    ? locals.flatMap((local) => readingsOf(zone, local))
    : locals.map((local) => instantOf(zone, local))
}

/** The first day of the month after that of a day. */
function nextMonth(number: number): number {
  const date = new Date(number * day)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / day
}

/**
 * Planned times after an instant, in order and each once, for the next forty years.
 * @param after milliseconds since 1970
 */
export function* plannedTimes(recurrence: Recurrence, zone: Zone, after: number): Generator<number> {
  let last = after
  let waiting: number[] = []
  // The day before may have its second readings still to come.
  const first = Math.floor(zone.localOf(after) / day) - 1
  const end = first + searchedYears * 366
  for (let number = first; number < end; number++) {
    const date = readDay(number)
    if (recurrence.months.has(date.month)) {
      if (recurrence.runsOn(date)) waiting.push(...instantsOn(recurrence, zone, number))
    } else if (waiting.length === 0) number = nextMonth(number) - 1
    if (waiting.length === 0) continue
    // A day whose end comes twice has readings after the next one has begun.
    const nextDay = zone.instantOf((number + 1) * day)
    const later: number[] = []
    for (const instant of waiting.sort((a, b) => a - b)) {
      if (instant >= nextDay) later.push(instant)
      else if (instant > last) {
        last = instant
        yield instant
      }
    }
    waiting = later
  }
}

/** The next planned times, at most so many. */
export function nextTimes(recurrence: Recurrence, zone: Zone, after: number, count: number): number[] {
  const found: number[] = []
  for (const instant of plannedTimes(recurrence, zone, after)) {
    found.push(instant)
    if (found.length === count) break
  }
  return found
}

export interface DueTimes {
  /** The latest planned time that is not after now; undefined when none is due. */
  readonly latest: number | undefined
  /** Those that it stands for, the latest of them, ascending. */
  readonly missed: readonly number[]
  /** The first one after now; undefined when there is none. */
  readonly next: number | undefined
}

/** Missed times that are kept of one stop: more of them tell nothing. */
const maxMissed = 100

/** What is due of planned times after one instant and not after another. */
export function dueTimes(recurrence: Recurrence, zone: Zone, after: number, now: number): DueTimes {
  let missed: number[] = []
  let latest: number | undefined
  for (const instant of plannedTimes(recurrence, zone, after)) {
    if (instant > now) return { latest, missed: missed.slice(-maxMissed), next: instant }
    if (latest !== undefined) missed.push(latest)
    if (missed.length > 2 * maxMissed) missed = missed.slice(-maxMissed)
    latest = instant
  }
  return { latest, missed: missed.slice(-maxMissed), next: undefined }
}
