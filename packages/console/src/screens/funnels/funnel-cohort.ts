import type { Days } from '../../data/ranges.ts'
import { fitsCohortRule, selectionOf } from '../../exploration/selection.ts'
import type { FunnelState } from './funnel-state.ts'

/**
 * Who reached a step, as the rule of a cohort. A rule knows no order and no window, so it can say it of the first step
 * alone: each person who did it within the range began the funnel.
 */
export function stepRule(state: FunnelState, step: number, { from, to }: Days): object | undefined {
  const [first] = state.steps
  if (step !== 1 || !first || state.per !== 'person' || state.breakdown !== undefined) return undefined
  // With steps in any order an attempt begins with any of them.
  if (state.order === 'any') return undefined
  const filters = [...(first.filters ?? []), ...state.filters]
  if (!fitsCohortRule(filters)) return undefined
  return { event: selectionOf(first.events ?? [], filters), dateRange: [from, to] }
}
