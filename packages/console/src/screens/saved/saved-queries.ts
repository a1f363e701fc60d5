import type { OperationData } from '@millrace/sdk'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { pageOf, searchOf } from '../../data/list-state.ts'

export type SavedQuery = OperationData<'readSavedQuery'>
export type Schedule = SavedQuery['schedule']
export type SavedQueryRun = OperationData<'runSavedQuery'>

export const sortKeys = ['name', 'createdAt', 'updatedAt', 'nextRunAt'] as const
export type SortKey = (typeof sortKeys)[number]

export interface ListState {
  readonly q: string
  readonly sortBy: SortKey
  readonly descending: boolean
  readonly page: number
}

/** The list in an address. */
export function readListState(view: Readonly<Record<string, unknown>>): ListState {
  const sortBy = sortKeys.find((each) => each === view.sort) ?? 'createdAt'
  return {
    q: searchOf(view.q),
    sortBy,
    descending:
      view.order === undefined ? sortBy === 'createdAt' || sortBy === 'updatedAt' : view.order === 'desc',
    page: pageOf(view.page),
  }
}

export const perPage = 20

export const listQuery = ({ q, sortBy, descending, page }: ListState) =>
  queryOptions({
    queryKey: ['saved-queries', q, sortBy, descending, page],
    queryFn: async ({ signal }) => {
      const { body } = await client.listSavedQueries.reply(
        {
          query: {
            page,
            perPage,
            sortBy,
            sortOrder: descending ? 'desc' : 'asc',
            ...(q === '' ? {} : { q }),
          },
        },
        { signal },
      )
      return body
    },
    placeholderData: keepPreviousData,
  })

export const savedQuery = (id: string) =>
  queryOptions({
    queryKey: ['saved-query', id],
    queryFn: ({ signal }) => client.readSavedQuery({ params: { id } }, { signal }),
  })

const isUnderWay = ({ state }: SavedQueryRun): boolean => state === 'queued' || state === 'running'

/** Runs that are under way are asked for again until they have ended. */
export const runsQuery = (id: string, page: number) =>
  queryOptions({
    queryKey: ['saved-query-runs', id, page],
    queryFn: async ({ signal }) => {
      const { body } = await client.listSavedQueryRuns.reply(
        { params: { id }, query: { page, perPage: 10 } },
        { signal },
      )
      return body
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.data.some(isUnderWay) ? 1_500 : false),
  })
