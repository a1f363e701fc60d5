import type { OperationData, OperationRequest } from '@millrace/sdk'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { client } from '../client.ts'

export type Datasource = OperationData<'listDatasources'>[number]
export type LogEntry = OperationData<'listDatasourceLogs'>[number]

/** Those that take events of pages and programs. */
export const trackingQuery = queryOptions({
  queryKey: ['datasources', 'tracking'],
  queryFn: ({ signal }) =>
    client.listDatasources({ query: { mode: 'ingester', type: 'analytics', perPage: 100 } }, { signal }),
})

export const countersQuery = (id: string | undefined) =>
  queryOptions({
    queryKey: ['datasource-counters', id],
    queryFn: ({ signal }) => client.readDatasourceCounters({ params: { id: id ?? '' } }, { signal }),
    enabled: id !== undefined,
  })

export type LogQuery = OperationRequest<'listDatasourceLogs'>['query']

export const logQuery = (id: string | undefined, query: LogQuery = {}) =>
  queryOptions({
    queryKey: ['datasource-log', id, query],
    queryFn: async ({ signal }) =>
      (await client.listDatasourceLogs.reply({ params: { id: id ?? '' }, query }, { signal })).body,
    enabled: id !== undefined,
    placeholderData: keepPreviousData,
  })

/** The one that the address names, else the first of the user's own, else the sample data. */
export function useChosenDatasource(named: unknown) {
  const query = useQuery(trackingQuery)
  const all = query.data ?? []
  const chosen = all.find(({ id }) => id === named) ?? all.find(({ sampleData }) => !sampleData) ?? all[0]
  return {
    query,
    all,
    chosen,
    isUnknown: named !== undefined && query.data !== undefined && chosen?.id !== named,
  }
}
