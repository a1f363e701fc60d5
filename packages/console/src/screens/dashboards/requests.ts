import type { OperationRequest } from '@millrace/sdk'
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../../client.ts'
import type { Dashboard, DashboardInput } from '../../tiles/tile.ts'
import type { Content } from './differences.ts'

export type ListAsked = NonNullable<OperationRequest<'listDashboards'>['query']>

export const listQuery = (asked: ListAsked) =>
  queryOptions({
    queryKey: ['dashboards', asked],
    queryFn: async ({ signal }) => {
      const { body } = await client.listDashboards.reply({ query: asked }, { signal })
      return { rows: body.data, count: body.paginationCount }
    },
    placeholderData: keepPreviousData,
  })

export const dashboardQuery = (id: string) =>
  queryOptions({
    queryKey: ['dashboard', id],
    queryFn: ({ signal }): Promise<Dashboard> => client.readDashboard({ params: { id } }, { signal }),
  })

export const inputOf = ({
  name,
  description,
  resourceGroupIds,
  tiles,
  filters,
  range,
  comparison,
}: Content): DashboardInput => ({
  name,
  description,
  resourceGroupIds,
  tiles,
  filters,
  range,
  comparison,
})

/** What is made, saved or deleted is seen at once, here and in the list. */
export function useDashboardDeeds() {
  const queries = useQueryClient()
  const seen = (saved: Dashboard) => {
    queries.setQueryData(dashboardQuery(saved.id).queryKey, saved)
    void queries.invalidateQueries({ queryKey: ['dashboards'] })
  }
  const create = useMutation({
    mutationFn: (body: DashboardInput): Promise<Dashboard> => client.createDashboard({ body }),
    onSuccess: seen,
  })
  const replace = useMutation({
    mutationFn: ({ id, revision, body }: { id: string; revision: number; body: DashboardInput }) =>
      client.replaceDashboard({
        params: { id },
        headers: { 'if-match': `"${revision}"` },
        body,
      }) as Promise<Dashboard>,
    onSuccess: seen,
  })
  const duplicate = useMutation({
    mutationFn: (id: string): Promise<Dashboard> => client.duplicateDashboard({ params: { id } }),
    onSuccess: seen,
  })
  const remove = useMutation({
    /** @returns what was deleted, to make it again */
    mutationFn: async (id: string): Promise<Dashboard> => {
      const before: Dashboard = await client.readDashboard({ params: { id } })
      await client.deleteDashboard({ params: { id } })
      return before
    },
    onSuccess: ({ id }) => {
      queries.removeQueries({ queryKey: dashboardQuery(id).queryKey })
      void queries.invalidateQueries({ queryKey: ['dashboards'] })
    },
  })
  return { create, replace, duplicate, remove }
}
