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
