import type { Marker, NamedRange, Shift, Unit } from './lexicon.ts'
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

/** What the parts of a pattern find, by their names. */
interface Found {
  readonly unit: Unit
  readonly count: number
  readonly number: number
  readonly ordinal: number
  readonly day: number
  /** A day behind its month, where it does not count something. */
  readonly dayBehind: number
  readonly month: number
  readonly year: number
  readonly quarter: number
  readonly half: number
  readonly halves: true
  readonly date: string
  readonly named: NamedRange
  readonly shift: Shift
}

type PartOf<Text> = Text extends `${infer First} ${infer Rest}` ? PartOf<First> | PartOf<Rest> : Text

interface Pattern<T> {
  readonly parts: readonly (readonly string[])[]
  /** Undefined where what was found is none. */
  readonly make: (found: Found) => T | undefined
}

/**
 * Terms in a row, with what they mean: of each part of the text one term. It is a part of what is found, or markers of
 * which one is enough; `~` is for any articles and prepositions.
 */
const pattern = <Text extends string, T>(
  text: Text,
  make: (found: Pick<Found, PartOf<Text> & keyof Found>) => T | undefined,
): Pattern<T> => ({ parts: text.split(' ').map((part) => part.split('/')), make })

type CalendarPoint = Extract<Point, { kind: 'calendar' }>

const point = (unit: CalendarPoint['unit'], number: number, more: { day?: number; year?: number } = {}) =>
  ({ kind: 'calendar', unit, number, ...more }) as const

/** Ranges by the present: "last month", "the 7 days past", "three weeks ago". */
function relativePatterns(periods: Periods): Pattern<Point>[] {
  const { whole, toDate } = periods
  const fixed = (period: Period): Point => ({ kind: 'fixed', period })
  const before = ({ unit }: { unit: Unit }) => fixed(whole(unit, -1))
  const now = ({ unit }: { unit: Unit }) => fixed(toDate(unit))
  const ago = ({ unit, count }: { unit: Unit; count: number }) => fixed(whole(unit, -count))
  const last = ({ unit, count }: { unit: Unit; count: number }) => fixed(whole(unit, -count, count))
  const named: Readonly<Record<NamedRange, () => Period>> = {
    today: () => periods.today,
    yesterday: () => whole('day', -1),
    dayBeforeYesterday: () => whole('day', -2),
    weekToDate: () => toDate('week'),
    monthToDate: () => toDate('month'),
    quarterToDate: () => toDate('quarter'),
    yearToDate: () => toDate('year'),
  }
  const halfBefore = () => {
    const month = Number(periods.zone.format(periods.now.instant).slice(5, 7))
    return fixed(whole('month', -6 - ((month - 1) % 6), 6))
  }
  return [
    pattern('named', (found) => fixed(named[found.named]())),
    pattern('unit last/previous/ago', before),
    pattern('unit this', now),
    pattern('this unit', now),
    pattern('last/previous unit', before),
    pattern('last/previous halves', halfBefore),
    pattern('last/previous count unit', last),
    pattern('ago ~ count unit', ago),
    pattern('ago ~ unit', before),
    pattern('count last/previous unit', last),
    pattern('count unit ago', ago),
    pattern('count unit last/previous', last),
  ]
}

/** Days, weeks, months, quarters, halves and years, those with a year in the pattern with nothing behind them. */
const calendarPatterns: readonly Pattern<CalendarPoint>[] = [
  pattern('day ~ month', ({ day, month }) => point('day', month, { day })),
  pattern('month ~ dayBehind', ({ dayBehind, month }) => point('day', month, { day: dayBehind })),
  pattern('quarter', ({ quarter }) => point('quarter', quarter)),
  pattern('half', ({ half }) => point('half', half)),
  pattern('ordinal unit', ({ ordinal, unit }) =>
    unit === 'quarter' && ordinal <= 4 ? point('quarter', ordinal) : undefined,
  ),
  pattern('ordinal halves', ({ ordinal }) => (ordinal <= 2 ? point('half', ordinal) : undefined)),
]

const laterPatterns: readonly Pattern<CalendarPoint>[] = [
  pattern('month', ({ month }) => point('month', month)),
  pattern('year quarter', ({ year, quarter }) => point('quarter', quarter, { year })),
  pattern('year', ({ year }) => point('year', 0, { year })),
  pattern('unit ~ year quarter', ({ unit, year, quarter }) =>
    unit === 'year' ? point('quarter', quarter, { year }) : undefined,
  ),
  pattern('unit ~ year', ({ unit, year }) => (unit === 'year' ? point('year', 0, { year }) : undefined)),
  pattern('unit number', ({ unit, number }) =>
    unit === 'week' && number <= 53 ? point('week', number) : undefined,
  ),
]

/** How far a range is moved to compare it. */
const movePatterns: readonly Pattern<Compared>[] = [
  pattern('shift', ({ shift }) => {
    if (shift === 'implied') return { kind: 'previous', implied: true }
    return shift === 'previous' ? { kind: 'previous' } : { kind: 'shift', count: 1, unit: shift }
  }),
  pattern('count unit before/ago/previous', ({ count, unit }) => ({ kind: 'shift', count, unit })),
  pattern('ago ~ count unit', ({ count, unit }) => ({ kind: 'shift', count, unit })),
  pattern('ago ~ unit', ({ unit }) => ({ kind: 'shift', count: 1, unit })),
  pattern('unit last/previous/before/ago', ({ unit }) => ({ kind: 'shift', count: 1, unit })),
  pattern('last/previous unit', ({ unit }) => ({ kind: 'shift', count: 1, unit })),
]

/** A date with slashes where its order is certain: day first, unless that day cannot be a month's number. */
function isoOf(text: string, dayFirst: boolean): string | undefined {
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

const within = (value: number | undefined, min: number, max: number) =>
  value !== undefined && value >= min && value <= max ? value : undefined

/** Finds the parts of patterns in the terms of a question. */
function createPatternReader({ at, meaning, is, skip, length }: Terms) {
  const dayAt = (place: number) => {
    const day = meaning(place, 'number') ?? meaning(place, 'ordinal')
    return at(place)?.words.length === 1 ? within(day, 1, 31) : undefined
  }
  const yearAt = (place: number) => within(meaning(place, 'number'), firstYear, lastYear)
  const monthAt = (place: number) => {
    const month = meaning(place, 'month')
    const written = at(place)?.words[0]?.text.toLowerCase()
    if (month === undefined || (written !== 'may' && written !== 'mar' && written !== 'sept')) return month
    // These are other words too: months only beside what belongs to a date.
    const isDated = [place - 1, skip(place + 1)].some((beside) => dayAt(beside) ?? yearAt(beside))
    const isMonth =
      isDated ||
      is(place - 1, 'in', 'since', 'between', 'from', 'to', 'and', 'compare', 'startOf', 'last') ||
      is(place + 1, 'to', 'compare') ||
      (written === 'may' && length === 1)
    return isMonth ? month : undefined
  }
  const dayBehindAt = (place: number) => {
    const isCount = at(place)?.meanings.some(({ kind }) => kind === 'unit' || kind === 'measure')
    return isCount || is(place + 1, 'top') ? undefined : dayAt(place)
  }
  const readers: { readonly [K in keyof Found]: (place: number) => Found[K] | undefined } = {
    unit: (place) => meaning(place, 'unit'),
    count: (place) => within(meaning(place, 'number'), 1, maxCount),
    number: (place) => meaning(place, 'number'),
    ordinal: (place) => meaning(place, 'ordinal'),
    day: dayAt,
    dayBehind: dayBehindAt,
    month: monthAt,
    year: yearAt,
    quarter: (place) => meaning(place, 'quarter'),
    half: (place) => meaning(place, 'halfNumber'),
    halves: (place) => meaning(place, 'half'),
    date: (place) => meaning(place, 'date'),
    named: (place) => meaning(place, 'named'),
    shift: (place) => meaning(place, 'shift'),
  }
  const partAt = (part: readonly string[], name: string, place: number) =>
    Object.hasOwn(readers, name)
      ? readers[name as keyof Found](place)
      : is(place, ...(part as readonly Marker[])) || undefined

  /** The first of the patterns that stands at a place. */
  function readFirst<T>(patterns: readonly Pattern<T>[], from: number): Read<T> | undefined {
    for (const { parts, make } of patterns) {
      const found: Partial<Record<string, unknown>> = {}
      let next = from
      const isFound = parts.every((part) => {
        const [name = ''] = part
        if (name === '~') next = skip(next)
        else found[name] = partAt(part, name, next++)
        return name === '~' || found[name] !== undefined
      })
      const value = isFound ? make(found as unknown as Found) : undefined
      if (value !== undefined) return { value, next }
    }
    return undefined
  }

  return { ...readers, readFirst }
}

/**
 * Reads ranges of time out of the terms of a question; nothing where there is none at a place.
 * @param dayFirst whether `01/05/2024` is a day of May: where it may be either, it is no date
 */
export function createTimeReader(terms: Terms, periods: Periods, { dayFirst }: { dayFirst: boolean }) {
  const { meaning, is, skip } = terms
  const parts = createPatternReader(terms)
  const { readFirst } = parts
  const relatives = relativePatterns(periods)
  const date = pattern('date', (found): Point | undefined => {
    const interval = periods.read(isoOf(found.date, dayFirst) ?? '')
    return interval && { kind: 'fixed', period: periods.periodOf(interval) }
  })
  const points: readonly Pattern<Point>[] = [date, ...calendarPatterns, ...relatives, ...laterPatterns]

  /** The year behind a point, with "of" or a comma between them. */
  function withYear({ value, next }: Read<Point>): Read<Point> {
    if (value.kind === 'fixed' || value.year !== undefined) return { value, next }
    const behind = terms.at(next)?.words[0]
    const comma = behind?.kind === 'break' && behind.text === ',' ? next + 1 : next
    const at = skip(comma)
    // A year outside of the calendar is one too, so that the whole date is known to be none.
    const year = within(meaning(at, 'number'), 1_000, 9_999)
    if (year !== undefined) return { value: { ...value, year }, next: at + 1 }
    const relative = readRelativeYear(at)
    return relative ? { value: { ...value, year: relative.value }, next: relative.next } : { value, next }
  }

  /** "last year" behind a month, as in "November of last year". */
  function readRelativeYear(place: number): Read<number> | undefined {
    const found = readFirst(relatives, place)
    if (found?.value.kind !== 'fixed') return undefined
    const { period } = found.value
    if (period.step.unit !== 'year' || period.step.count !== 1) return undefined
    return { value: periods.yearOf(period.from), next: found.next }
  }

  function readPoint(from: number): Read<Point> | undefined {
    const place = skip(from)
    const found = readFirst(points, place)
    if (found) return withYear(found)
    // "the month of May", "last May"
    const behind = is(place, 'last') ? place + 1 : skip(place + 1)
    const isNamed = is(place, 'last') || parts.unit(place) === 'month'
    return isNamed && parts.month(behind) !== undefined ? readPoint(behind) : undefined
  }

  const startsPair = (place: number) => is(place, 'between', 'from')
  const joins = (place: number, isBetween: boolean) => is(place, 'to') || (isBetween && is(place, 'and'))

  /** Two points, from one to the other. */
  function readPair(from: number): Read<Span> | undefined {
    const isBetween = is(from, 'between')
    const place = startsPair(from) ? from + 1 : from
    // "1" in "from 1 to 15 May", which has its month from the other end.
    const day = parts.day(skip(place))
    const behind = skip(place) + 1
    if (day !== undefined && joins(behind, isBetween)) {
      const last = readPoint(behind + 1)
      if (last?.value.kind === 'calendar' && last.value.unit === 'day') {
        return { value: { first: { ...last.value, day }, last: last.value }, next: last.next }
      }
    }
    const first = readPoint(place)
    if (!first || !joins(first.next, isBetween)) return undefined
    const last = readPoint(first.next + 1)
    return last && { value: { first: first.value, last: last.value }, next: last.next }
  }

  /** "since May", "since the beginning of the year". */
  function readSince(place: number): Read<Span> | undefined {
    if (!is(place, 'since')) return undefined
    const isStart = is(skip(place + 1), 'startOf')
    const start = isStart ? skip(place + 1) + 1 : place + 1
    const point = readPoint(start)
    if (point) return { value: { first: point.value, untilNow: true }, next: point.next }
    const unit = isStart ? parts.unit(skip(start)) : undefined
    const period = unit && periods.toDate(unit)
    return period && { value: { first: { kind: 'fixed', period }, untilNow: true }, next: skip(start) + 1 }
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
      if (is(place, 'period') || parts.unit(place) !== undefined) place = skip(place + 1)
    }
    return readFirst(movePatterns, place)
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

  return { readSpan, readCompared, readMoveOfBase }
}

export type TimeReader = ReturnType<typeof createTimeReader>
