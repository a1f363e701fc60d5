import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { client } from '../client.ts'
import { isPassing } from '../data/query-client.ts'
import type { Answer, Row } from '../data/statistics.ts'

/** How the tiles of a dashboard ask. */
export interface Asking {
  /** Whether the tile is in sight: others wait. */
  readonly isInSight: boolean
  /** Milliseconds after which it asks again. */
  readonly every: number | undefined
}

interface Options {
  readonly queryKey: readonly unknown[]
}

/** The question of a tile, asked while it is in sight; what it has answered stays. */
export function useTileAnswer<T>(options: Options, { isInSight, every }: Asking): UseQueryResult<T> {
  return useQuery({
    ...options,
    enabled: isInSight,
    refetchInterval: ({ state }) => (isPassing(state.error) ? 10_000 : (every ?? false)),
  }) as UseQueryResult<T>
}

const methods = {
  funnel: client.exploreFunnel,
  retention: client.exploreRetention,
  paths: client.explorePaths,
} as unknown as Readonly<
  Record<
    'funnel' | 'retention' | 'paths',
    (request: { body: unknown }, options: { signal: AbortSignal }) => Promise<string>
  >
>

export const explorationQuery = (kind: keyof typeof methods, body: Readonly<Record<string, unknown>>) =>
  queryOptions({
    queryKey: ['tile-exploration', kind, body],
    queryFn: async ({ signal }): Promise<Answer> => ({
      rows: JSON.parse(await methods[kind]({ body }, { signal })) as Row[],
      warnings: [],
    }),
  })

export const experimentResultsQuery = (id: string) =>
  queryOptions({
    queryKey: ['experiment-results', id],
    queryFn: ({ signal }) => client.readExperimentResults({ params: { id } }, { signal }),
  })

/** Whether an element is on the screen, or nearly so. */
export function useInSight<E extends Element>(): [React.RefObject<E | null>, boolean] {
  const element = useRef<E>(null)
  const [isInSight, setInSight] = useState(false)
  useEffect(() => {
    if (!element.current) return
    const observer = new IntersectionObserver(
      (entries) => setInSight(entries.some((entry) => entry.isIntersecting)),
      { rootMargin: '160px' },
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, isInSight]
}
