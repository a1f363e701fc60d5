import type { Meta } from '../../data/format.ts'
import type { Days } from '../../data/ranges.ts'
import { lengthOf } from '../../data/ranges.ts'
import type { ExplorationBody } from '../../exploration/rows.ts'
import {
  type Condition,
  conditionsBody,
  type Left,
  readConditions,
  readSelection,
  type Selection,
  selectionBody,
} from '../../exploration/selection.ts'

export const periodUnits = ['day', 'week', 'month'] as const
export type PeriodUnit = (typeof periodUnits)[number]
export const maxPeriods = 24

/** What the address says of retention, beside its range. */
export interface RetentionState {
  readonly first: Selection
  readonly returning: Selection
  readonly unit: PeriodUnit
  readonly periods: number
  readonly cohorts: 'first-time' | 'recurring'
  readonly returns: 'on' | 'on-or-after'
  readonly filters: readonly Condition[]
}

/** The unit in which a range has some rows, and not hundreds. */
const unitFor = (days: Days): PeriodUnit => {
  const length = lengthOf(days)
  return length <= 14 ? 'day' : length <= 120 ? 'week' : 'month'
}

export function readRetention(
  view: Readonly<Record<string, unknown>>,
  meta: Meta,
  days: Days,
  left: Left,
): RetentionState {
  const { periods } = view
  const isCount =
    typeof periods === 'number' && Number.isInteger(periods) && periods >= 1 && periods <= maxPeriods
  return {
    first: readSelection(view.first, meta, left),
    returning: readSelection(view.returning, meta, left),
    unit: periodUnits.find((each) => each === view.by) ?? unitFor(days),
    periods: isCount ? periods : 9,
    cohorts: view.cohorts === 'recurring' ? 'recurring' : 'first-time',
    returns: view.returns === 'on-or-after' ? 'on-or-after' : 'on',
    filters: readConditions(view.filters, meta, left),
  }
}

export const retentionBody = (
  state: RetentionState,
  { from, to }: Days,
): ExplorationBody<'exploreRetention'> => ({
  firstEvent: selectionBody(state.first),
  returnEvent: selectionBody(state.returning),
  dateRange: [from, to],
  granularity: state.unit,
  periods: state.periods,
  cohorts: state.cohorts,
  returns: state.returns,
  ...(state.filters.length > 0 && { filters: conditionsBody(state.filters) }),
})
