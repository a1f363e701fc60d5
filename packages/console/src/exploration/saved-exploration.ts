import type { OperationData } from '@millrace/sdk'
import { queryOptions } from '@tanstack/react-query'
import { client } from '../client.ts'
import { type DateRange, dateRangeOf, daysOfRange, rangeOf } from '../data/date-ranges.ts'
import type { Range } from '../data/ranges.ts'

export type SavedExploration = OperationData<'readSavedExploration'>
export type ExplorationKind = SavedExploration['exploration']
type Definition = Readonly<Record<string, unknown>>

/** The screen of each kind. */
export const explorationScreens = {
  funnel: '/funnels',
  retention: '/retention',
  paths: '/paths',
} as const satisfies Readonly<Record<ExplorationKind, string>>

export const savedExploration = (id: string) =>
  queryOptions({
    queryKey: ['saved-exploration', id],
    queryFn: ({ signal }) => client.readSavedExploration({ params: { id } }, { signal }),
  })

/** What is saved of a question: its range stays true tomorrow, and what it is compared with is a way of looking. */
export function definitionOf(
  body: object,
  range: Range,
): SavedExploration['definition'] & { readonly dateRange: DateRange } {
  const { compareDateRange: _, dateRange: __, ...own } = body as Definition
  return { ...own, dateRange: dateRangeOf(range) }
}

/** A definition as the address of its screen says it; what is undefined stays away from the address. */
export function viewOf(kind: ExplorationKind, definition: Definition, today: string): Definition {
  const { dateRange, compareDateRange, granularity, firstEvent, returnEvent, limit: _, ...own } = definition
  const [asked] = Array.isArray(compareDateRange)
    ? (compareDateRange as DateRange[])
    : [dateRange as DateRange]
  const days = daysOfRange(asked, today)
  const range = rangeOf(asked) ?? (days && [days.from, days.to])
  const byKind: Readonly<Record<ExplorationKind, Definition>> = {
    funnel: { show: granularity === undefined ? undefined : 'trend', trend: granularity },
    retention: { first: firstEvent, returning: returnEvent, by: granularity },
    paths: {},
  }
  return { ...own, ...byKind[kind], range }
}
