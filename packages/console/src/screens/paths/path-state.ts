import type { Meta } from '../../data/format.ts'
import type { Days } from '../../data/ranges.ts'
import type { ExplorationBody } from '../../exploration/rows.ts'
import { type Condition, conditionsBody, type Left, readConditions } from '../../exploration/selection.ts'

export const maxDepth = 10
/** Most edges of each depth: the picture folds what is small, and says how much it is. */
const edges = 200

export type Anchor = 'start' | 'from' | 'to'

/** What the address says of paths, beside their range. */
export interface PathState {
  readonly by: 'path' | 'event'
  readonly anchor: Anchor
  /** The step from which, or to which, paths lead; empty at a start. */
  readonly step: string
  readonly depth: number
  readonly repeats: 'collapse' | 'keep'
  readonly filters: readonly Condition[]
}

const stepOf = (value: unknown): string => (typeof value === 'string' && value.length <= 4_000 ? value : '')

export function readPaths(view: Readonly<Record<string, unknown>>, meta: Meta, left: Left): PathState {
  const [from, to] = [stepOf(view.from), stepOf(view.to)]
  const { depth } = view
  const isDepth = typeof depth === 'number' && Number.isInteger(depth) && depth >= 1 && depth <= maxDepth
  return {
    by: view.by === 'event' ? 'event' : 'path',
    anchor: from !== '' ? 'from' : to !== '' ? 'to' : 'start',
    step: from !== '' ? from : to,
    depth: isDepth ? depth : 4,
    repeats: view.repeats === 'keep' ? 'keep' : 'collapse',
    filters: readConditions(view.filters, meta, left),
  }
}

export const memberOf = (by: PathState['by']) => (by === 'path' ? 'events.path' : 'events.name')

export const pathsBody = (state: PathState, { from, to }: Days): ExplorationBody<'explorePaths'> => ({
  by: state.by,
  ...(state.anchor !== 'start' && { [state.anchor]: state.step }),
  dateRange: [from, to],
  depth: state.depth,
  repeats: state.repeats,
  limit: edges,
  ...(state.filters.length > 0 && { filters: conditionsBody(state.filters) }),
})
