import { rangeOf } from '../../data/date-ranges.ts'
import type { Filter } from '../../data/filters.ts'
import { type Comparison, comparedDays } from '../../data/ranges.ts'
import { useMeta } from '../../data/statistics.ts'
import { type RangeState, useRange, useView } from '../../data/view-state.ts'
import { readFilters } from '../../tiles/filters.ts'
import type { Shared } from '../../tiles/question.ts'
import type { Dashboard } from '../../tiles/tile.ts'

export interface SharedState {
  readonly range: RangeState
  readonly filters: readonly Filter[]
  readonly shared: Shared
  /** Members of filters that are gone, and a range that this page has no name for. */
  readonly left: readonly string[]
  readonly unknownRange: string | undefined
}

type Saved = Pick<Dashboard, 'range' | 'filters'> & { readonly comparison: Comparison }

/** What the tiles share: what the address says, over what is saved. */
export function useSharedState(saved: Saved): SharedState {
  const view = useView()
  const meta = useMeta().data
  const savedRange = rangeOf(saved.range)
  const range = useRange(savedRange ?? '30d', saved.comparison)
  const read = readFilters(view.filters ?? saved.filters, meta) ?? { filters: saved.filters, left: [] }
  const isUnknown = savedRange === undefined && saved.range !== null && view.range === undefined
  return {
    range,
    filters: read.filters,
    left: read.left,
    shared: {
      days: range.days,
      compared: comparedDays(range.days, range.comparison),
      filters: read.filters,
    },
    unknownRange: isUnknown ? [saved.range].flat().join(' – ') : undefined,
  }
}
