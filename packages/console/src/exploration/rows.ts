import type { OperationRequest } from '@millrace/sdk'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { client } from '../client.ts'
import type { Answer, Row } from '../data/statistics.ts'

export type ExplorationId = 'exploreFunnel' | 'exploreRetention' | 'explorePaths'
export type ExplorationBody<Id extends ExplorationId> = NonNullable<OperationRequest<Id>['body']>

export interface Exploration<Id extends ExplorationId = ExplorationId> {
  readonly operation: Id
  readonly body: ExplorationBody<Id>
}

type AnyMethod = {
  reply: (
    request: { body: unknown },
    options: { signal: AbortSignal },
  ) => Promise<{ body: { data: string; warnings?: Answer['warnings'] } }>
  csv: (request: { body: unknown }) => Promise<ReadableStream<Uint8Array>>
}
const methodOf = (id: ExplorationId) => client[id] as unknown as AnyMethod

const explorationQuery = (asked: Exploration | undefined) =>
  queryOptions({
    queryKey: ['exploration', asked],
    queryFn: async ({ signal }): Promise<Answer> => {
      if (!asked) return { rows: [], warnings: [] }
      const { body } = await methodOf(asked.operation).reply({ body: asked.body }, { signal })
      return { rows: JSON.parse(body.data) as Row[], warnings: body.warnings ?? [] }
    },
    enabled: asked !== undefined,
    placeholderData: keepPreviousData,
  })

/** The rows of an exploration; those of the one before stay while the next are on their way. */
export const useExploration = (asked: Exploration | undefined) => useQuery(explorationQuery(asked))

export const csvOf = (asked: Exploration): Promise<Blob> =>
  methodOf(asked.operation)
    .csv({ body: asked.body })
    .then((stream) => new Response(stream).blob())

/** Values of a dimension, the most frequent first. */
export const useValues = (member: string, contains = '', isAsked = true) =>
  useQuery({
    queryKey: ['statistics-values', member, contains],
    queryFn: ({ signal }) =>
      client.listStatisticsValues(
        { query: { member, limit: 50, ...(contains !== '' && { contains }) } },
        { signal },
      ),
    enabled: isAsked,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })

export const cohortsQuery = queryOptions({
  queryKey: ['cohorts'],
  queryFn: ({ signal }) => client.listCohorts({ query: { perPage: 100 } }, { signal }),
})
