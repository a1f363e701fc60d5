import type { Query } from '@millrace/sdk'

export type Filter = Query['filters'][number]
/** A condition, where the other filters join some. */
export type BinaryFilter = Extract<Filter, { readonly operator: unknown }>
export type FilterGroup = Exclude<Filter, BinaryFilter>

export const isGroup = (filter: Filter): filter is FilterGroup => !('operator' in filter)

/** The member of a filter, by its newer or its older name. */
export const memberOf = (filter: BinaryFilter): string => filter.member ?? filter.dimension ?? ''

/** The conditions of a tree, without their joins. */
export const leavesOf = (filters: readonly Filter[]): BinaryFilter[] =>
  filters.flatMap((each) => (isGroup(each) ? leavesOf([...(each.and ?? []), ...(each.or ?? [])]) : [each]))

export const sourceOf = (member: string): string => member.slice(0, Math.max(0, member.indexOf('.')))
