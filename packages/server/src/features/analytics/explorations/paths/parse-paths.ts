import { type PathsQuery, pathLimits } from '@millrace/contract/resources/paths.ts'
import type { DimensionFilter, FilterTree, Reading } from '../../query/query.ts'
import { createQueryFaults } from '../../query/query-faults.ts'
import type { Interval } from '../../query/time/interval.ts'
import { parseRanges } from '../ranges.ts'
import { parseEventFilters } from '../selection.ts'

/** Where paths begin: with the session, at a step, or at one from which they are read backwards. */
export type Anchor = { readonly at: 'start' } | { readonly at: 'from' | 'to'; readonly step: string }

/** A question about paths with its names resolved, its values read, its dates made instants. Frozen. */
export interface ParsedPaths {
  readonly by: PathsQuery['by']
  readonly anchor: Anchor
  readonly filters: readonly FilterTree<DimensionFilter>[]
  /** In which the sessions start. */
  readonly range: Interval
  /** Edges one after the other, and those shown of each depth. */
  readonly depth: number
  readonly edges: number
  /** Whether a step that repeats the one before it is the same step. */
  readonly isCollapsed: boolean
}

/**
 * Reads a question that the contract's schema has accepted (docs/statistics.md, Paths).
 * @throws {DomainError} `unknownMember` or `invalidQuery`, naming every fault
 */
export function parsePaths(query: PathsQuery, now: Reading): ParsedPaths {
  const faults = createQueryFaults()
  const [from, to] = [query.from ?? undefined, query.to ?? undefined]
  if (from !== undefined && to !== undefined) {
    faults.invalid('to', 'from and to exclude each other: say where paths begin, or where they lead')
  }
  const filters = parseEventFilters(query.filters ?? [], 'filters', now, faults)
  const [range] = parseRanges({ dateRange: query.dateRange }, now, faults)
  faults.throwAny()
  return Object.freeze({
    by: query.by,
    anchor: anchorOf(from, to),
    filters,
    range: range?.interval ?? { from: 0, to: 0 },
    depth: query.depth ?? pathLimits.defaultDepth,
    edges: query.limit ?? pathLimits.defaultEdges,
    isCollapsed: query.repeats !== 'keep',
  })
}

function anchorOf(from: string | undefined, to: string | undefined): Anchor {
  if (from !== undefined) return { at: 'from', step: from }
  return to === undefined ? { at: 'start' } : { at: 'to', step: to }
}
