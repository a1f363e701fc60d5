import type { ComparisonWindows } from '@millrace/contract/resources/report.ts'
import type { Interval } from '../../statistics/query/time/interval.ts'
import type { Period, Periods } from './periods.ts'

/**
 * What a period is compared with, up to its last whole day: what the question names or else the period before, and the
 * same of the year before where these are others. Days are compared with those 52 weeks before, so that weekdays meet.
 */
export function windowsOf(
  period: Period,
  compared: Interval | undefined,
  periods: Periods,
): ComparisonWindows {
  const told = periods.ofWholeDays(period)
  const before = compared ?? periods.before(told)
  const year = told.step.unit === 'day' ? periods.shift(told, -52, 'week') : periods.yearBefore(told)
  const isOther = year.to <= before.from || year.from >= before.to
  return {
    previousPeriod: periods.windowOf(before),
    ...(!isOther || !periods.isWithin(year) ? {} : { previousYear: periods.windowOf(year) }),
  }
}
