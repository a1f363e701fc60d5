import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { client } from '../client.ts'
import { type ExplorationKind, explorationScreens } from '../exploration/saved-exploration.ts'

interface Named {
  readonly id: string
  readonly name: string
  readonly exploration?: ExplorationKind
}

/** Kinds of things that have a name and a screen of their own. */
const kinds = [
  { operation: 'listDashboards', text: 'dashboards', path: '/dashboards', icon: 'dashboard' },
  { operation: 'listSavedQueries', text: 'saved', path: '/saved', icon: 'saved' },
  { operation: 'listCohorts', text: 'cohorts', path: '/cohorts', icon: 'people' },
  { operation: 'listSavedExplorations', text: 'saved', path: undefined, icon: 'saved' },
] as const

type List = (
  request: {
    readonly query: { readonly q: string; readonly perPage: number }
  },
  options: { readonly signal: AbortSignal },
) => Promise<readonly Named[]>

/** What is called like this, some of each kind. A kind that cannot be listed is left out. */
export const namedQuery = (q: string) =>
  queryOptions({
    queryKey: ['named', q],
    queryFn: async ({ signal }) => {
      const lists = await Promise.allSettled(
        kinds.map(async ({ operation, text, path, icon }) => {
          const list = (client as unknown as Readonly<Record<string, List | undefined>>)[operation]
          const found = await list?.({ query: { q, perPage: 5 } }, { signal })
          return (found ?? []).map(({ id, name, exploration }) => ({
            place: exploration ? `${explorationScreens[exploration]}?saved=%22${id}%22` : `${path}/${id}`,
            name,
            icon,
            text,
          }))
        }),
      )
      return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []))
    },
    placeholderData: keepPreviousData,
  })
