import { type Granularity, granularities } from '@millrace/contract/resources/query.ts'
import { add, minDuration, startOf } from './calendar.ts'
import type { Interval } from './interval.ts'
import { day, second, type Zone } from './zone.ts'

/** What relative dates are relative to. */
export interface Now {
  readonly instant: number
  readonly zone: Zone
}

/** A text that is neither a date nor a range; the message says what is expected. */
export class DateFault extends Error {}

/** Years that queries may name: events are not older, and the engine's dates do not reach much further. */
const firstYear = 1970
const lastYear = 2099

const dateForm = /^(\d{4})-(\d{2})-(\d{2})$/
const instantForm =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?$/
const unitNames = granularities.join('|')
const oneUnitForm = new RegExp(`^(this|last|next) (${unitNames})$`)
const unitsForm = new RegExp(`^(last|next) (\\d{1,6}) (${unitNames})s?$`)
const distanceForm = new RegExp(`^(\\d{1,6}) (${unitNames})s? (ago|from now)$`)
const fromToForm = /^from (.+) to (.+)$/
const openForm = /^(from|until) (.+)$/
const toDateForm = /^(week|month|quarter|year) to date$/
const monthForm = /^(\d{4})(?:-(\d{2}))?$/

const knownForms =
  'a date as 2026-01-31, an instant as 2026-01-31T08:30:00Z, or a relative range as "today", "yesterday", ' +
  '"this month", "last 30 days", "next week", "month to date" or "from 7 days ago to now"'

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text)
}

function daysOfMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** Milliseconds of a calendar day, as if it were UTC; strict: no day and no month rolls over. */
function readDay(text: string, year: number, month: number, date: number): number {
  if (month < 1 || month > 12) {
    throw new DateFault(`${shown(text)} is not a date: months are 01 to 12`)
  }
  const days = daysOfMonth(year, month)
  if (date < 1 || date > days) {
    throw new DateFault(`${shown(text)} is not a date: this month has the days 01 to ${days}`)
  }
  return Date.UTC(year, month - 1, date)
}

/** The whole day in the zone, or nothing when the text has another form. */
function readDate(text: string, zone: Zone): Interval | undefined {
  const match = dateForm.exec(text)
  if (!match) return undefined
  const local = readDay(text, Number(match[1]), Number(match[2]), Number(match[3]))
  return checked(text, { from: zone.instantOf(local), to: zone.instantOf(local + day) })
}

/** The whole month or year in the zone, or nothing when the text has another form. */
function readMonth(text: string, zone: Zone): Interval | undefined {
  const match = monthForm.exec(text)
  if (!match) return undefined
  const unit = match[2] === undefined ? 'year' : 'month'
  const from = zone.instantOf(readDay(text, Number(match[1]), Number(match[2] ?? 1), 1))
  return checked(text, { from, to: add(zone, from, 1, unit) })
}

/** The one millisecond of an instant, or nothing when the text has another form. */
function readInstant(text: string, zone: Zone): Interval | undefined {
  const match = instantForm.exec(text)
  if (!match) return undefined
  const [hours, minutes, seconds] = [Number(match[4]), Number(match[5]), Number(match[6] ?? 0)]
  if (hours > 23 || minutes > 59 || seconds > 59) {
    throw new DateFault(`${shown(text)} is not an instant: times of day are 00:00:00 to 23:59:59.999`)
  }
  const local =
    readDay(text, Number(match[1]), Number(match[2]), Number(match[3])) +
    ((hours * 60 + minutes) * 60 + seconds) * second +
    Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  const instant = match[8] === undefined ? zone.instantOf(local) : local - readOffset(text, match[8])
  return checked(text, { from: instant, to: instant + 1 })
}

function readOffset(text: string, offset: string): number {
  if (offset === 'Z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(-2))
  if (hours > 14 || minutes > 59) {
    throw new DateFault(`${shown(text)} is not an instant: offsets are -14:00 to +14:00`)
  }
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60 * second
}

function checked(text: string, interval: Interval): Interval {
  if (interval.from < Date.UTC(firstYear, 0, 1) - day || interval.to > Date.UTC(lastYear + 1, 0, 1) + day) {
    throw outside(text)
  }
  return interval
}

function outside(text: string): DateFault {
  return new DateFault(`${shown(text)} lies outside the years ${firstYear} to ${lastYear}`)
}

/** Refuses distances that leave the years, before a calendar that does not reach so far counts them. */
function readCount(text: string, digits: string | undefined, unit: Granularity): number {
  const count = Number(digits)
  if (minDuration(count, unit) > minDuration(lastYear - firstYear + 1, 'year')) throw outside(text)
  return count
}

function wholeUnits(text: string, now: Now, first: number, count: number, unit: Granularity): Interval {
  const { zone, instant } = now
  return checked(text, {
    from: startOf(zone, add(zone, instant, first, unit), unit),
    to: startOf(zone, add(zone, instant, first + count, unit), unit),
  })
}

const words: ReadonlyMap<string, number> = new Map([
  ['today', 0],
  ['now', 0],
  ['yesterday', -1],
  ['tomorrow', 1],
])

/** `2 hours ago` and the like, as the unit that holds that instant: an hour, a day for days and more. */
function readDistance(text: string, now: Now, exact: Granularity): Interval | undefined {
  const match = distanceForm.exec(text)
  if (!match) return undefined
  const unit = match[2] as Granularity
  const count = readCount(text, match[1], unit) * (match[3] === 'ago' ? -1 : 1)
  const instant = add(now.zone, now.instant, count, unit)
  checked(text, { from: instant, to: instant })
  return wholeUnits(text, { zone: now.zone, instant }, 0, 1, exact)
}

/** The unit to which the ends of a relative range are rounded: the smallest unit of the clock that it names. */
function exactUnit(text: string): Granularity {
  return (['second', 'minute', 'hour'] as const).find((unit) => text.includes(unit)) ?? 'day'
}

function readPoint(text: string, now: Now, exact: Granularity): Interval | undefined {
  const days = words.get(text)
  if (text === 'now') return wholeUnits(text, now, 0, 1, exact)
  if (days !== undefined) return wholeUnits(text, now, days, 1, 'day')
  return (
    readDistance(text, now, exact) ??
    readDate(text, now.zone) ??
    readMonth(text, now.zone) ??
    readInstant(text.toUpperCase(), now.zone)
  )
}

function readRelative(text: string, now: Now): Interval | undefined {
  const one = oneUnitForm.exec(text)
  if (one) {
    return wholeUnits(text, now, { this: 0, last: -1, next: 1 }[one[1] as 'this'], 1, one[2] as Granularity)
  }
  const several = unitsForm.exec(text)
  if (several) {
    const unit = several[3] as Granularity
    const count = readCount(text, several[2], unit)
    if (count === 0) throw new DateFault(`${shown(text)} is an empty range: ask for 1 or more`)
    return wholeUnits(text, now, several[1] === 'last' ? -count : 1, count, unit)
  }
  const toDate = toDateForm.exec(text)
  if (toDate) {
    const begun = wholeUnits(text, now, 0, 1, toDate[1] as Granularity)
    return { from: begun.from, to: wholeUnits(text, now, 0, 1, 'day').to }
  }
  const exact = exactUnit(text)
  const endOf = (end: string): Interval => {
    const point = readPoint(end, now, exact)
    if (!point) throw new DateFault(`${shown(end)} in ${shown(text)} is no date; write ${knownForms}`)
    return point
  }
  const ends = fromToForm.exec(text)
  if (ends) return joined(text, endOf(ends[1] ?? ''), endOf(ends[2] ?? ''))
  const open = openForm.exec(text)
  if (!open) return undefined
  const point = endOf(open[2] ?? '')
  return open[1] === 'from' ? { from: point.from, to: Infinity } : { from: -Infinity, to: endBy(point) }
}

/** Where a range ends that names this last: behind a day, at an instant. */
function endBy({ from, to }: Interval): number {
  return to - from === 1 ? from : to
}

/** From the beginning of one to the end of the other: a day is included, an instant is not. */
function joined(text: string, from: Interval, to: Interval): Interval {
  const end = endBy(to)
  // A day that the zone skipped is an empty range, not an invalid one.
  const isLeftOut = to.to === to.from && to.to >= from.from
  if (end <= from.from && !isLeftOut) throw new DateFault(`The range ${text} ends before it begins`)
  return { from: from.from, to: end }
}

function normalized(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}

/**
 * A range of time (docs/interface.md, Operations): a relative range of the Cube query format or one date, or two
 * bounds of which dates include their day and instants exclude the end, and null is open. `last 7 days` ends with
 * yesterday.
 * @throws {DateFault}
 */
export function readRange(range: string | readonly (string | null)[], now: Now): Interval {
  const [first, second] = typeof range === 'string' ? [range] : range
  if (first === undefined || (typeof range !== 'string' && range.length > 2) || (first === null && !second)) {
    throw new DateFault(
      'A range has one or two bounds: the first and the last date, or two instants; one of two may be null',
    )
  }
  if (first === null || second === null) {
    const from = first === null ? -Infinity : readBound(first, now.zone).from
    const to = typeof second === 'string' ? endBy(readBound(second, now.zone)) : Infinity
    return { from, to }
  }
  if (second === undefined) {
    const text = normalized(first)
    const whole = readRelative(text.toLowerCase(), now) ?? readPoint(text.toLowerCase(), now, exactUnit(text))
    if (!whole) throw new DateFault(`${shown(first)} is no range of dates; write ${knownForms}`)
    if (whole.to - whole.from === 1) {
      throw new DateFault(`${shown(first)} is an instant, no range: give two of them, or a date`)
    }
    return whole
  }
  return joined(
    `${shown(first)} to ${shown(second)}`,
    readBound(first, now.zone),
    readBound(second, now.zone),
  )
}

function readBound(text: string, zone: Zone): Interval {
  const bound = readDate(text.trim(), zone) ?? readMonth(text.trim(), zone) ?? readInstant(text.trim(), zone)
  if (bound) return bound
  throw new DateFault(
    `${shown(text)} is neither a date as 2026-01-31 nor an instant as 2026-01-31T08:30:00Z; ` +
      'a relative range is one text, not two',
  )
}

/**
 * One point of time of a filter: the day of a date (also `today`, `3 days ago`), the millisecond of an
 * instant (also `now`).
 * @throws {DateFault}
 */
export function readMoment(value: string, now: Now): Interval {
  const text = normalized(value).toLowerCase()
  if (text === 'now') return { from: now.instant, to: now.instant + 1 }
  const moment = readPoint(text, now, exactUnit(text))
  if (!moment) throw new DateFault(`${shown(value)} is no date; write ${knownForms}`)
  return moment
}

/** Names a range as the key `compareDateRange` shows it: dates where it has whole days, else instants. */
export function describeRange(range: Interval, zone: Zone): string {
  const whole = [range.from, range.to].every((instant) => startOf(zone, instant, 'day') === instant)
  if (!whole) return `${zone.format(range.from)} - ${zone.format(range.to)}`
  return `${zone.format(range.from).slice(0, 10)} - ${zone.format(range.to - 1).slice(0, 10)}`
}
