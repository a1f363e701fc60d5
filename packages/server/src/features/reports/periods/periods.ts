import type {
  ComparisonWindows,
  ReportCadence,
  ReportCreation,
  Window,
} from '@millrace/contract/resources/report.ts'
import { invalid } from '../../../platform/invalid.ts'
import { windowOf } from '../../questions/periods.ts'
import { type Interval, readRange, type TimeRules, type Zone } from '../../questions/time-rules.ts'

export { windowOf }

/** The calendar unit that a period of each cadence is. */
const units = { monthly: 'month', quarterly: 'quarter', yearly: 'year' } as const
type CalendarUnit = (typeof units)[ReportCadence]

const day = 86_400_000

/** A guided analysis without a period is about so many days, up to yesterday: whole weeks, so that weekdays balance. */
const defaultPeriod = 'last 28 days'
const maxPeriodDays = 732
/** The part of a unit that has passed: it is told so far in any case, and compared as the unit is. */
const toDate = /^\s*(week|month|quarter|year) to date\s*$/i

const intervalOf = ({ start, end }: Window): Interval => ({ from: Date.parse(start), to: Date.parse(end) })

/** `2026-01`, `2026-Q1` or `2026`. */
export function keyOf(cadence: ReportCadence, zone: Zone, from: number): string {
  const [year = '', month = ''] = zone.format(from).split('-')
  if (cadence === 'yearly') return year
  return cadence === 'monthly' ? `${year}-${month}` : `${year}-Q${Math.ceil(Number(month) / 3)}`
}

/** The last period that had ended at an instant, and the end of the one after it. */
export function lastPeriod(
  cadence: ReportCadence,
  zone: Zone,
  at: number,
  { startOf, add }: TimeRules,
): { readonly period: Interval; readonly nextEnd: number } {
  const unit = units[cadence]
  const to = startOf(zone, at, unit)
  return {
    period: { from: startOf(zone, to - 1, unit), to },
    nextEnd: startOf(zone, add(zone, to, 1, unit), unit),
  }
}

/** Units that are told up to their last whole day while they are not over. */
const begunUnits = ['week', 'month', 'quarter', 'year'] as const

/** Whether a stretch is a week, month, quarter or year of the calendar. */
function isCalendarUnit({ from, to }: Interval, zone: Zone, { startOf, add }: TimeRules): boolean {
  return begunUnits.some((unit) => startOf(zone, from, unit) === from && add(zone, from, 1, unit) === to)
}

/** The period that a user asks for. @throws {DomainError} `validation` */
export function readPeriod(
  wanted: ReportCreation['period'],
  now: { readonly instant: number; readonly zone: Zone },
  time: TimeRules,
): Interval {
  const { instant, zone } = now
  const named = typeof wanted === 'string' ? wanted.replace(toDate, 'this $1') : wanted
  const read = readRange(time, named ?? defaultPeriod, now)
  if ('fault' in read) throw invalid('period', `must be a range of dates: ${read.fault}`)
  const { from } = read
  if (!Number.isFinite(from) || !Number.isFinite(read.to)) {
    throw invalid('period', 'must have a first and a last day')
  }
  const today = time.startOf(zone, instant, 'day')
  const tomorrow = time.add(zone, today, 1, 'day')
  if (from >= tomorrow) throw invalid('period', 'must not begin after today')
  // A unit of the calendar stays whole, so that it is compared with the unit before, each up to as many whole days. Of
  // any other period what has not happened yet would look like a fall; today is not over either.
  const end = isCalendarUnit(read, zone, time) ? read.to : from < today ? today : tomorrow
  const to = read.to > instant ? Math.min(read.to, end) : read.to
  if (to - from > maxPeriodDays * day) throw invalid('period', `must have at most ${maxPeriodDays} days`)
  if (to <= from) throw invalid('period', 'must have at least one day')
  return { from, to }
}

/** The whole unit of which a period is the beginning, as the window shows that it is compared with; else the period. */
export function wholeOf(
  period: Interval,
  previous: Window,
  zone: Zone,
  { startOf, add }: TimeRules,
): Interval {
  const before = Date.parse(previous.start)
  const unit = begunUnits.find(
    (each) =>
      [before, period.from].every((instant) => startOf(zone, instant, each) === instant) &&
      add(zone, before, 1, each) === period.from &&
      add(zone, period.from, 1, each) > period.to,
  )
  return unit ? { from: period.from, to: add(zone, period.from, 1, unit) } : period
}

/** Windows as they are told, and how far the period has come. */
export interface ToldWindows {
  readonly period: Window
  readonly comparisonWindows: ComparisonWindows
  /** `running` is told up to its last whole day; of one that is only `begun` no day is over. */
  readonly state: 'over' | 'running' | 'begun'
}

/**
 * The windows of a period up to its last whole day, and as many days of those that it is compared with: from the
 * beginning of those that are units of the calendar as it is, and of the year before; else right before the period.
 */
export function toldWindows(
  period: Window,
  comparisonWindows: ComparisonWindows,
  now: number,
  zone: Zone,
  time: TimeRules,
): ToldWindows {
  const { startOf, add } = time
  const { from, to } = intervalOf(period)
  if (to <= now || from > now) return { period, comparisonWindows, state: 'over' }
  const today = startOf(zone, now, 'day')
  const state = today > from ? 'running' : 'begun'
  const end = state === 'running' ? today : Math.min(to, add(zone, today, 1, 'day'))
  const days = Math.max(1, Math.round((zone.localOf(end) - zone.localOf(from)) / day))
  const beginningOf = (window: Interval) =>
    windowOf({ from: window.from, to: Math.min(window.to, add(zone, window.from, days, 'day')) })
  const { previousPeriod, previousYear } = comparisonWindows
  const before = intervalOf(previousPeriod)
  const isAligned = begunUnits.some((unit) =>
    [before.from, from].every((instant) => startOf(zone, instant, unit) === instant),
  )
  const isRightBefore = before.to === from && !isAligned
  return {
    period: windowOf({ from, to: end }),
    comparisonWindows: {
      previousPeriod: isRightBefore
        ? windowOf({ from: Math.max(before.from, add(zone, from, -days, 'day')), to: from })
        : beginningOf(before),
      ...(previousYear && { previousYear: beginningOf(intervalOf(previousYear)) }),
    },
    state,
  }
}

/** The calendar unit that a period is exactly. */
function unitOf({ from, to }: Interval, zone: Zone, { startOf, add }: TimeRules): CalendarUnit | undefined {
  return Object.values(units).find(
    (unit) => startOf(zone, from, unit) === from && startOf(zone, add(zone, from, 1, unit), unit) === to,
  )
}

/**
 * The windows that a period is compared with. A month, quarter or year is compared with the one before, and with that of
 * the year before. Any other period is compared with as many days right before it, and with the same days 52 weeks
 * before, so that weekdays meet weekdays.
 */
export function comparisonsOf(
  period: Interval,
  zone: Zone,
  time: TimeRules,
): { readonly previousPeriod: Interval; readonly previousYear?: Interval } {
  const { startOf, add } = time
  const { from, to } = period
  const unit = unitOf(period, zone, time)
  if (unit === 'year') return { previousPeriod: { from: startOf(zone, from - 1, unit), to: from } }
  if (unit !== undefined) {
    const yearBefore = startOf(zone, add(zone, from, -1, 'year'), unit)
    return {
      previousPeriod: { from: startOf(zone, from - 1, unit), to: from },
      previousYear: { from: yearBefore, to: startOf(zone, add(zone, yearBefore, 1, unit), unit) },
    }
  }
  const days = Math.max(1, Math.round((zone.localOf(to) - zone.localOf(from)) / day))
  const previousPeriod = { from: add(zone, from, -days, 'day'), to: from }
  // A longer period would overlap the days 52 weeks before.
  if (days > 364) return { previousPeriod }
  return {
    previousPeriod,
    previousYear: { from: add(zone, from, -364, 'day'), to: add(zone, to, -364, 'day') },
  }
}

export const toComparisonWindows = ({
  previousPeriod,
  previousYear,
}: ReturnType<typeof comparisonsOf>): ComparisonWindows => ({
  previousPeriod: windowOf(previousPeriod),
  ...(previousYear && { previousYear: windowOf(previousYear) }),
})
