import { addDays, type Days } from '../../data/ranges.ts'
import { fitsCohortRule, type Selection, selectionOf } from '../../exploration/selection.ts'
import type { PeriodUnit, RetentionState } from './retention-state.ts'

/** The first and last day of a period, counted from the one that begins on a day. */
export function periodDays(start: string, unit: PeriodUnit, period: number): Days {
  if (unit !== 'month') {
    const length = unit === 'week' ? 7 : 1
    const from = addDays(start, period * length)
    return { from, to: addDays(from, length - 1) }
  }
  const [year = 0, month = 1] = start.split('-').map(Number)
  const day = (months: number, ofMonth: number) =>
    new Date(Date.UTC(year, month - 1 + months, ofMonth)).toISOString().slice(0, 10)
  return { from: day(period, 1), to: day(period + 1, 0) }
}

const eventRule = (
  selection: Selection,
  filters: RetentionState['filters'],
  dateRange: (string | null)[],
) => ({
  event: selectionOf(selection.events ?? [], [...(selection.filters ?? []), ...filters]),
  dateRange,
})

const isSame = (one: Selection, other: Selection) => JSON.stringify(one) === JSON.stringify(other)

/**
 * Those of a cohort of retention who came back in a period, as the rule of a cohort (docs/statistics.md, Retention).
 * Nothing where no rule can say it: a return within the first period counts from the first event on.
 */
export function cellRule(
  state: RetentionState,
  days: Days,
  start: string,
  period: number | 'all',
): object | undefined {
  const { first, returning, filters, cohorts, unit } = state
  if (
    ![...(first.filters ?? []), ...(returning.filters ?? []), ...filters].every((each) =>
      fitsCohortRule([each]),
    )
  )
    return undefined
  const whole = periodDays(start.slice(0, 10), unit, 0)
  // The range cuts the first and the last period.
  const [from = '', to = ''] = [[whole.from, days.from].sort().at(-1), [whole.to, days.to].sort().at(0)]
  const belongs = eventRule(first, filters, [from, to])
  const before = { not: eventRule(first, filters, [null, addDays(from, -1)]) }
  const rules: object[] = cohorts === 'recurring' ? [belongs] : [belongs, before]
  if (period === 0 && !isSame(first, returning)) return undefined
  if (period !== 'all' && period > 0) {
    const then = periodDays(start.slice(0, 10), unit, period)
    rules.push(eventRule(returning, filters, [then.from, state.returns === 'on' ? then.to : null]))
  }
  return rules.length === 1 ? rules[0] : { and: rules }
}
