import type { OperationData, QueryInput } from '@millrace/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { client } from '../client.ts'
import { inCurrency } from './format.ts'
import { useProfile } from './profile.ts'

export type Row = Readonly<Record<string, string | number | boolean | null>>

export interface Answer {
  readonly rows: readonly Row[]
  readonly warnings: readonly { readonly path?: string; readonly message: string }[]
  readonly total?: number
}

export const metaQuery = queryOptions({
  queryKey: ['statistics-meta'],
  queryFn: ({ signal }) => client.readStatisticsMeta({}, { signal }),
  staleTime: 300_000,
})

/** The model of the statistics, its amounts in the currency of the company. */
export function useMeta() {
  const currency = useProfile()?.company.currency
  const select = useCallback(
    (meta: OperationData<'readStatisticsMeta'>) => inCurrency(meta, currency),
    [currency],
  )
  return useQuery({ ...metaQuery, select })
}

/** What the columns of an answer depend on. */
const columnsOf = ({ measures, dimensions, timeDimensions = [] }: QueryInput): string =>
  JSON.stringify([
    measures,
    dimensions,
    timeDimensions.map(({ dimension, granularity }) => [dimension, granularity]),
  ])

/**
 * Equal queries of a screen are asked once; what they have answered stays while the next answer is on its way, where it
 * has the same columns: a chart of days cannot read an answer by hours.
 */
export const answerQuery = (query: QueryInput | undefined) =>
  queryOptions<Answer, Error, Answer, readonly [string, QueryInput | undefined]>({
    queryKey: ['statistics-query', query],
    queryFn: ({ signal }): Promise<Answer> => client.query(query ?? {}, { signal }) as Promise<Answer>,
    enabled: query !== undefined,
    placeholderData: (before, asked) => {
      const former = asked?.queryKey[1]
      return former && query && columnsOf(former) === columnsOf(query) ? before : undefined
    },
  })

/** In the zone in which the user wants to see times; the company's is what the service takes without one. */
export function useAnswer(query: QueryInput | undefined) {
  const timezone = useProfile()?.preferences.timezone
  return useQuery(answerQuery(query && timezone ? { timezone, ...query } : query))
}
