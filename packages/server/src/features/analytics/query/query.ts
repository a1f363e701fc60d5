import type { FilterOperator, Granularity } from '@millrace/contract/resources/query.ts'
import type { Dimension, Measure, PlainMeasure } from '../catalogue/member.ts'
import type { Now } from './time/dates.ts'
import type { Interval, TimeSet } from './time/interval.ts'
import type { Zone } from './time/zone.ts'

/** What the rows are grouped by. */
export interface Grouping {
  /** Key of its column in a row: the member's id, with the granularity where there is one. */
  readonly key: string
  readonly dimension: Dimension
  /** Of a time dimension; without it the time itself groups. */
  readonly granularity?: Granularity
}

/** A condition on a dimension that is no time. Values of booleans are the texts `true` and `false`. */
export interface DimensionFilter {
  readonly dimension: Dimension
  readonly operator: FilterOperator
  readonly values: readonly string[]
  /** Of a filter on cohorts: who passes it. */
  readonly cohort?: CohortCondition
}

/** Who belongs to a cohort, with names resolved and dates read. */
export type CohortCondition =
  /** Persons with so many of these events; of `times` only the events within count. */
  | {
      readonly kind: 'events'
      readonly filters: readonly FilterTree<DimensionFilter>[]
      readonly times: TimeSet
      readonly atLeast: number
      readonly atMost?: number
    }
  /** Persons whose first or last event lies within the times. */
  | { readonly kind: 'seen'; readonly end: 'first' | 'last'; readonly times: TimeSet }
  /** Persons of a stored list. */
  | { readonly kind: 'list'; readonly cohortId: string; readonly listId: string }
  | { readonly kind: 'and' | 'or'; readonly of: readonly CohortCondition[] }
  | { readonly kind: 'not'; readonly of: CohortCondition }

/** Cohorts that a query names, by their ids; those that are absent do not exist. */
export type KnownCohorts = ReadonlyMap<string, CohortCondition>

/** What a query is read with. */
export interface Reading extends Now {
  /** Absent where filters cannot name any. */
  readonly cohorts?: KnownCohorts
}

/** Conditions that all hold, or of which one does. */
export interface FilterGroup<T> {
  readonly join: 'and' | 'or'
  readonly filters: readonly FilterTree<T>[]
}

/** One condition, or a group of them. */
export type FilterTree<T> = T | FilterGroup<T>

export function isGroup<T extends object>(filter: FilterTree<T>): filter is FilterGroup<T> {
  return 'join' in filter
}

/** The conditions of a tree, without their joins. */
export function leavesOf<T extends object>(filters: readonly FilterTree<T>[]): T[] {
  return filters.flatMap((each) => (isGroup(each) ? leavesOf(each.filters) : [each]))
}

/** The tree with each condition made into something else. */
export function mapTree<T extends object, R extends object>(
  filter: FilterTree<T>,
  make: (leaf: T) => R,
): FilterTree<R> {
  if (!isGroup(filter)) return make(filter)
  return { join: filter.join, filters: filter.filters.map((each) => mapTree(each, make)) }
}

/** A condition on a measure, after aggregation. Values are decimal texts. */
export interface MeasureFilter {
  readonly measure: PlainMeasure
  readonly operator: FilterOperator
  readonly values: readonly string[]
}

export interface Ordering {
  /** Key of a selected column, or of a measure that the rows do not show. */
  readonly key: string
  /** That measure. */
  readonly unselected?: Measure
  readonly direction: 'asc' | 'desc'
}

/** A query with its names resolved, its values read, its dates made instants. Frozen. */
export interface ParsedQuery {
  readonly zone: Zone
  readonly measures: readonly Measure[]
  /** Times first, then dimensions, each in the order of the query. */
  readonly groupings: readonly Grouping[]
  /** All of them hold. */
  readonly filters: readonly FilterTree<DimensionFilter>[]
  readonly measureFilters: readonly FilterTree<MeasureFilter>[]
  /** Members that only say when: they group nothing, but must exist in one of the sources. */
  readonly times: readonly Dimension[]
  /** The instants that count. */
  readonly when: TimeSet
  /** Ranges of a comparison in the order given; the query is answered for each of them within `when`. */
  readonly comparison?: readonly Interval[]
  readonly order: readonly Ordering[]
  /** Rows at most, of each range; undefined is no bound. */
  readonly limit: number | undefined
  /** Rows that are left out before, of each range. */
  readonly offset: number
  /** Whether the number of all rows is wanted. */
  readonly total: boolean
  /** Whether buckets of time without facts have rows too. */
  readonly fill: boolean
}
