import type { ComparisonWindows, ReportCadence, Window } from '@millrace/contract/resources/report.ts'
import type { Interval, TimeRules, Zone } from '../time-rules.ts'

/** The calendar unit that a period of each cadence is. */
const units = { monthly: 'month', quarterly: 'quarter', yearly: 'year' } as const
type CalendarUnit = (typeof units)[ReportCadence]

const day = 86_400_000

export const windowOf = ({ from, to }: Interval): Window => ({
  start: new Date(from).toISOString(),
  end: new Date(to).toISOString(),
})

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

/** Whether a stretch begins with one of the units that begin with another. */
const startsUnitOf = (from: number, other: number, zone: Zone, { startOf }: TimeRules): boolean =>
  (['week', 'month', 'quarter', 'year'] as const).some((unit) =>
    [from, other].every((instant) => startOf(zone, instant, unit) === instant),
  )

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
  { previousPeriod, previousYear }: ComparisonWindows,
  now: number,
  zone: Zone,
  time: TimeRules,
): ToldWindows {
  const asked = { period, comparisonWindows: { previousPeriod, ...(previousYear && { previousYear }) } }
  const [from, to] = [Date.parse(period.start), Date.parse(period.end)]
  if (to <= now || from > now) return { ...asked, state: 'over' }
  const today = time.startOf(zone, now, 'day')
  if (today <= from) return { ...asked, state: 'begun' }
  const days = Math.round((zone.localOf(today) - zone.localOf(from)) / day)
  const fromBeginning = ({ start, end }: Window): Window => ({
    start,
    end: new Date(
      Math.min(Date.parse(end), time.add(zone, Date.parse(start), days, 'day')),
    ).toISOString(),
  })
  const toItsEnd = ({ start, end }: Window): Window => ({
    start: new Date(
      Math.max(Date.parse(start), time.add(zone, Date.parse(end), -days, 'day')),
    ).toISOString(),
    end,
  })
  const adjoins = Date.parse(previousPeriod.end) === from
  const isAligned = startsUnitOf(Date.parse(previousPeriod.start), from, zone, time)
  return {
    period: { start: period.start, end: new Date(today).toISOString() },
    comparisonWindows: {
      previousPeriod: adjoins && !isAligned ? toItsEnd(previousPeriod) : fromBeginning(previousPeriod),
      ...(previousYear && { previousYear: fromBeginning(previousYear) }),
    },
    state: 'running',
  }
}

/** Whether a stretch is a week, month, quarter or year of the calendar. */
export function isCalendarUnit(interval: Interval, zone: Zone, time: TimeRules): boolean {
  const { startOf, add } = time
  const isWeek =
    startOf(zone, interval.from, 'week') === interval.from &&
    add(zone, interval.from, 1, 'week') === interval.to
  return isWeek || unitOf(interval, zone, time) !== undefined
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
