import type { Unit } from './lexicon.ts'
import { firstYear, lastYear, type Period, type Periods } from './periods.ts'
import type { Point, Span } from './span-periods.ts'
import type { Terms } from './terms.ts'

/** With what a range is compared, or that it is another one than that of the question before. */
export type Compared =
  /** `implied` where a word as "growth" asks for it, which gives way to any other. */
  | { readonly kind: 'previous'; readonly implied?: true }
  | { readonly kind: 'shift'; readonly count: number; readonly unit: Unit }
  | { readonly kind: 'span'; readonly span: Span }

interface Read<T> {
  readonly value: T
  /** The place behind it. */
  readonly next: number
}

const maxCount = 1_000

/**
 * Reads ranges of time out of the terms of a question; nothing where there is none at a place.
 * @param dayFirst whether `01/05/2024` is a day of May: where it may be either, it is no date
 */
export function createTimeReader(terms: Terms, periods: Periods, { dayFirst }: { dayFirst: boolean }) {
  const { meaning, is, skip } = terms

  const numberAt = (place: number) => meaning(place, 'number')?.value
  const dayAt = (place: number): number | undefined => {
    const day = numberAt(place) ?? meaning(place, 'ordinal')?.value
    return day !== undefined && day >= 1 && day <= 31 && terms.at(place)?.words.length === 1 ? day : undefined
  }
  const yearAt = (place: number): number | undefined => {
    const year = numberAt(place)
    return year !== undefined && year >= firstYear && year <= lastYear ? year : undefined
  }
  /** Not of seconds and minutes, which no question groups by. */
  const unitAt = (place: number): Unit | undefined => meaning(place, 'unit')?.unit
  const fixed = (period: Period): Point => ({ kind: 'fixed', period })

  /** The year behind a point, with "of" or a comma between them. */
  function withYear(point: Extract<Point, { kind: 'calendar' }>, place: number): Read<Point> {
    const behind = terms.at(place)?.words[0]
    const comma = behind?.kind === 'break' && behind.text === ',' ? place + 1 : place
    const at = skip(comma)
    // A year outside of the calendar is one too, so that the whole date is known to be none.
    const year = numberAt(at)
    if (year !== undefined && year >= 1_000 && year <= 9_999) {
      return { value: { ...point, year }, next: at + 1 }
    }
    const relative = readRelativeYear(at)
    return relative
      ? { value: { ...point, year: relative.value }, next: relative.next }
      : { value: point, next: place }
  }

  /** "last year" behind a month, as in "November of last year". */
  function readRelativeYear(place: number): Read<number> | undefined {
    const found = readRelative(place)
    if (found?.value.kind !== 'fixed') return undefined
    const { period } = found.value
    if (period.step.unit !== 'year' || period.step.count !== 1) return undefined
    return { value: periods.yearOf(period.from), next: found.next }
  }

  function isMonth(place: number): boolean {
    if (!meaning(place, 'month')) return false
    const written = terms.at(place)?.words[0]?.text.toLowerCase()
    if (written !== 'may' && written !== 'mar' && written !== 'sept') return true
    // These are other words too: months only beside what belongs to a date.
    const before = place - 1
    const isDated = (at: number) => dayAt(at) !== undefined || yearAt(at) !== undefined
    return (
      isDated(before) ||
      isDated(skip(place + 1)) ||
      is(before, 'in', 'since', 'between', 'from', 'to', 'and', 'compare', 'startOf', 'last') ||
      is(place + 1, 'to', 'compare') ||
      (written === 'may' && terms.length === 1)
    )
  }

  function readDay(place: number): Read<Point> | undefined {
    const day = dayAt(place)
    const month = skip(place + 1)
    if (day !== undefined && isMonth(month)) {
      const number = meaning(month, 'month')?.month ?? 0
      return withYear({ kind: 'calendar', unit: 'day', number, day }, month + 1)
    }
    const behind = skip(place + 1)
    const dayBehind = dayAt(behind)
    const isCount = terms.at(behind)?.meanings.some(({ kind }) => kind === 'unit' || kind === 'measure')
    if (!isMonth(place) || dayBehind === undefined || isCount || terms.is(behind + 1, 'top')) return undefined
    return withYear(
      { kind: 'calendar', unit: 'day', number: meaning(place, 'month')?.month ?? 0, day: dayBehind },
      behind + 1,
    )
  }

  function readQuarter(place: number): Read<Point> | undefined {
    const quarter = meaning(place, 'quarter')?.quarter
    if (quarter !== undefined) {
      return withYear({ kind: 'calendar', unit: 'quarter', number: quarter }, place + 1)
    }
    const half = meaning(place, 'halfNumber')?.half
    if (half !== undefined) return withYear({ kind: 'calendar', unit: 'half', number: half }, place + 1)
    const ordinal = meaning(place, 'ordinal')?.value
    if (ordinal === undefined) return undefined
    if (unitAt(place + 1) === 'quarter' && ordinal <= 4) {
      return withYear({ kind: 'calendar', unit: 'quarter', number: ordinal }, place + 2)
    }
    if (meaning(place + 1, 'half') && ordinal <= 2) {
      return withYear({ kind: 'calendar', unit: 'half', number: ordinal }, place + 2)
    }
    return undefined
  }

  /** A year, alone or in front of a quarter. */
  function readYear(place: number): Read<Point> | undefined {
    const year = yearAt(place)
    if (year === undefined) return undefined
    const quarter = meaning(place + 1, 'quarter')?.quarter
    if (quarter !== undefined) {
      return { value: { kind: 'calendar', unit: 'quarter', number: quarter, year }, next: place + 2 }
    }
    return { value: { kind: 'calendar', unit: 'year', number: 0, year }, next: place + 1 }
  }

  function readDate(place: number): Read<Point> | undefined {
    const text = meaning(place, 'date')?.text
    const interval = text === undefined ? undefined : periods.read(isoOf(text) ?? '')
    return interval && { value: fixed(periods.periodOf(interval)), next: place + 1 }
  }

  /** A date with slashes where its order is certain: day first, unless that day cannot be a month's number. */
  function isoOf(text: string): string | undefined {
    if (!/[/.]/.test(text)) return text
    const parts = text.split(/[/.]/)
    const year = parts.at(-1)
    if (parts.length === 2) return `${year}-${parts[0]?.padStart(2, '0')}`
    const [first = 0, second = 0] = parts.map(Number)
    const isAmbiguous = first !== second && first <= 12 && second <= 12
    if (isAmbiguous && !dayFirst && !text.includes('.')) return undefined
    const [day, month] = second > 12 ? [second, first] : [first, second]
    return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
  }

  const namedRanges = {
    today: () => periods.today,
    yesterday: () => periods.whole('day', -1),
    dayBeforeYesterday: () => periods.whole('day', -2),
    weekToDate: () => periods.toDate('week'),
    monthToDate: () => periods.toDate('month'),
    quarterToDate: () => periods.toDate('quarter'),
    yearToDate: () => periods.toDate('year'),
  } as const

  /** Ranges by the present: "last month", "the 7 days past", "three weeks ago". */
  function readRelative(place: number): Read<Point> | undefined {
    const named = meaning(place, 'named')
    if (named) return { value: fixed(namedRanges[named.range]()), next: place + 1 }
    const unit = unitAt(place)
    if (unit !== undefined) {
      if (is(place + 1, 'last', 'previous')) {
        return { value: fixed(periods.whole(unit, -1)), next: place + 2 }
      }
      if (is(place + 1, 'this')) return { value: fixed(periods.toDate(unit)), next: place + 2 }
      if (is(place + 1, 'ago')) return { value: fixed(periods.whole(unit, -1)), next: place + 2 }
    }
    if (is(place, 'this')) {
      const next = unitAt(place + 1)
      if (next !== undefined) return { value: fixed(periods.toDate(next)), next: place + 2 }
    }
    if (is(place, 'last', 'previous')) {
      const next = unitAt(place + 1)
      if (next !== undefined) return { value: fixed(periods.whole(next, -1)), next: place + 2 }
      if (meaning(place + 1, 'half')) {
        const first =
          Math.floor((monthOf(periods.now.instant) - 1) / 6) * 6 - monthOf(periods.now.instant) + 1
        return { value: fixed(periods.whole('month', first - 6, 6)), next: place + 2 }
      }
      const counted = readCounted(place + 1)
      if (counted) return { value: fixed(lastUnits(counted.value)), next: counted.next }
    }
    if (is(place, 'ago')) {
      const counted = readCounted(skip(place + 1)) ?? readOne(skip(place + 1))
      if (!counted) return undefined
      const { count, unit: of } = counted.value
      return { value: fixed(periods.whole(of, -count)), next: counted.next }
    }
    return readCountFirst(place)
  }

  /** "7 derniers jours", "7 days ago", "les 3 mois écoulés". */
  function readCountFirst(place: number): Read<Point> | undefined {
    const count = numberAt(place)
    if (count === undefined || count < 1 || count > maxCount) return undefined
    if (is(place + 1, 'last', 'previous')) {
      const unit = unitAt(place + 2)
      if (unit !== undefined) return { value: fixed(lastUnits({ count, unit })), next: place + 3 }
    }
    const counted = readCounted(place)
    if (!counted) return undefined
    if (is(counted.next, 'ago')) {
      return { value: fixed(periods.whole(counted.value.unit, -count)), next: counted.next + 1 }
    }
    if (is(counted.next, 'last', 'previous')) {
      return { value: fixed(lastUnits(counted.value)), next: counted.next + 1 }
    }
    return undefined
  }

  const monthOf = (instant: number) => Number(periods.zone.format(instant).slice(5, 7))

  function lastUnits({ count, unit }: { count: number; unit: Unit }): Period {
    return periods.whole(unit, -count, count)
  }

  function readCounted(place: number): Read<{ count: number; unit: Unit }> | undefined {
    const count = numberAt(place)
    const unit = unitAt(place + 1)
    if (count === undefined || count < 1 || count > maxCount || unit === undefined) return undefined
    return { value: { count, unit }, next: place + 2 }
  }

  function readOne(place: number): Read<{ count: number; unit: Unit }> | undefined {
    const unit = unitAt(place)
    return unit === undefined ? undefined : { value: { count: 1, unit }, next: place + 1 }
  }

  function readPoint(from: number): Read<Point> | undefined {
    const place = skip(from)
    const found = readDate(place) ?? readDay(place) ?? readQuarter(place) ?? readRelative(place)
    if (found) return found
    if (isMonth(place)) {
      return withYear(
        { kind: 'calendar', unit: 'month', number: meaning(place, 'month')?.month ?? 0 },
        place + 1,
      )
    }
    const year = readYear(place)
    if (year) return year
    const unit = unitAt(place)
    const behind = skip(place + 1)
    if (unit === 'month' && isMonth(behind)) return readPoint(behind)
    if (unit === 'year' && yearAt(behind) !== undefined) return readYear(behind)
    const week = numberAt(place + 1)
    if (unit === 'week' && week !== undefined && week <= 53) {
      return withYear({ kind: 'calendar', unit: 'week', number: week }, place + 2)
    }
    const isLast = is(place, 'last')
    if (isLast && isMonth(place + 1)) return readPoint(place + 1)
    return undefined
  }

  /** "1" in "from 1 to 15 May", which has its month from the other end. */
  function readBareDay(from: number): { readonly day: number; readonly next: number } | undefined {
    const place = skip(from)
    const day = dayAt(place)
    return day === undefined ? undefined : { day, next: place + 1 }
  }

  const startsPair = (place: number) => is(place, 'between', 'from')
  const joins = (place: number, isBetween: boolean) => is(place, 'to') || (isBetween && is(place, 'and'))

  /** Two points, from one to the other. */
  function readPair(from: number): Read<Span> | undefined {
    const isBetween = is(from, 'between')
    const place = startsPair(from) ? from + 1 : from
    const bare = readBareDay(place)
    if (bare && joins(bare.next, isBetween)) {
      const last = readPoint(bare.next + 1)
      if (last?.value.kind === 'calendar' && last.value.unit === 'day') {
        return { value: { first: { ...last.value, day: bare.day }, last: last.value }, next: last.next }
      }
    }
    const first = readPoint(place)
    if (!first || !joins(first.next, isBetween)) return undefined
    const last = readPoint(first.next + 1)
    return last && { value: { first: first.value, last: last.value }, next: last.next }
  }

  /** A month that gives its year to the other: "in November and December 2011" is two ranges in a row. */
  function readSince(place: number): Read<Span> | undefined {
    if (!is(place, 'since')) return undefined
    const start = is(skip(place + 1), 'startOf') ? skip(place + 1) + 1 : place + 1
    const point = readPoint(start) ?? readStartOfUnit(start)
    return point && { value: { first: point.value, untilNow: true }, next: point.next }
  }

  /** "the year" in "since the beginning of the year". */
  function readStartOfUnit(start: number): Read<Point> | undefined {
    const unit = is(start - 1, 'startOf') ? unitAt(skip(start)) : undefined
    return unit && { value: fixed(periods.toDate(unit)), next: skip(start) + 1 }
  }

  function readSpan(place: number): Read<Span> | undefined {
    const found = readSince(place) ?? readPair(place)
    if (found) return found
    // A preposition alone belongs to what follows it; a word between two others is no part of a range.
    const point = readPoint(place)
    return point && { value: { first: point.value }, next: point.next }
  }

  /** "the month before", "last year" as something to compare with. */
  function readMove(from: number): Read<Compared> | undefined {
    let place = skip(from)
    if (is(place, 'same')) {
      place = skip(place + 1)
      if (is(place, 'period') || unitAt(place) !== undefined) place = skip(place + 1)
    }
    const shift = meaning(place, 'shift')
    if (shift) {
      if (shift.by === 'implied') return { value: { kind: 'previous', implied: true }, next: place + 1 }
      const value: Compared =
        shift.by === 'previous' ? { kind: 'previous' } : { kind: 'shift', count: 1, unit: shift.by }
      return { value, next: place + 1 }
    }
    const counted = readCounted(place)
    if (counted && is(counted.next, 'before', 'ago', 'previous')) {
      return { value: { kind: 'shift', ...counted.value }, next: counted.next + 1 }
    }
    if (is(place, 'ago')) {
      const back = readCounted(skip(place + 1)) ?? readOne(skip(place + 1))
      return back && { value: { kind: 'shift', ...back.value }, next: back.next }
    }
    const unit = unitAt(place)
    if (unit !== undefined && is(place + 1, 'last', 'previous', 'before', 'ago')) {
      return { value: { kind: 'shift', count: 1, unit }, next: place + 2 }
    }
    const behind = unitAt(place + 1)
    if (is(place, 'last', 'previous') && behind !== undefined) {
      return { value: { kind: 'shift', count: 1, unit: behind }, next: place + 2 }
    }
    return undefined
  }

  /** A move relative to the range of the question before: "the year before", "l'année précédente", not "last year". */
  function readMoveOfBase(from: number): Read<Compared> | undefined {
    const found = readMove(from)
    if (!found) return undefined
    const isRelative = Array.from({ length: found.next - from }, (_, i) => from + i).some(
      (place) => is(place, 'previous', 'before', 'same') || meaning(place, 'shift'),
    )
    return isRelative ? found : undefined
  }

  function readCompared(from: number): Read<Compared> | undefined {
    const move = readMove(from)
    if (move) return move
    const span = readSpan(from)
    return span && { value: { kind: 'span', span: span.value }, next: span.next }
  }

  return {
    readSpan,
    readCompared,
    readMove,
    readMoveOfBase,
  }
}

export type TimeReader = ReturnType<typeof createTimeReader>
