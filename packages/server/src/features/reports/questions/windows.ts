import type { ComparisonWindows } from '@millrace/contract/resources/report.ts'
import type { Interval } from '../../statistics/query/time/interval.ts'
import type { Period, Periods } from './periods.ts'

/**
 * What a period is compared with: what the question names or else the period before, and the same days of the year
 * before where these are others.
 */
export function windowsOf(
  period: Period,
  compared: Interval | undefined,
  periods: Periods,
): ComparisonWindows {
  const before = compared ?? periods.before(period)
  const year = periods.yearBefore(period)
  const isSame = year.from === before.from && year.to === before.to
  return {
    previousPeriod: periods.windowOf(before),
    ...(isSame || !periods.isWithin(year) ? {} : { previousYear: periods.windowOf(year) }),
  }
}
