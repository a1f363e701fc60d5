import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../../client.ts'
import { useInstant, useSetView } from '../../data/view-state.ts'
import { useForgetExplorations, useMayChangeExploration } from '../../exploration/save-exploration.tsx'
import { explorationScreens, type SavedExploration } from '../../exploration/saved-exploration.ts'
import { useTexts } from '../../texts/texts.ts'
import { ButtonLink, IconButton } from '../../ui/button.tsx'
import { Badge, Card } from '../../ui/page.tsx'
import { Empty, Loaded, Skeleton } from '../../ui/state.tsx'
import { type Column, Pages, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './saved.module.css'
import { type ListState, perPage } from './saved-queries.ts'
import { saved } from './texts.ts'

export const explorationsAsked = ({ q, sortBy, descending, page }: ListState) => ({
  page,
  perPage,
  ...(sortBy !== 'nextRunAt' && { sortBy }),
  sortOrder: descending ? ('desc' as const) : ('asc' as const),
  ...(q !== '' && { q }),
})

/** Funnels, retentions and paths under a name. */
export function Explorations({ state }: { readonly state: ListState }) {
  const t = useTexts(saved)
  const instant = useInstant()
  const setView = useSetView()
  const query = explorationsAsked(state)
  const list = useQuery({
    queryKey: ['saved-explorations', query],
    queryFn: async ({ signal }) => (await client.listSavedExplorations.reply({ query }, { signal })).body,
    placeholderData: keepPreviousData,
  })
  const columns: Column<SavedExploration>[] = [
    {
      id: 'name',
      title: t.name,
      isSortable: true,
      cell: ({ id, name, exploration }) => (
        <Link to={explorationScreens[exploration]} search={{ saved: id } as never} className={styles.name}>
          {name}
        </Link>
      ),
    },
    {
      id: 'kind',
      title: t.exploration,
      cell: ({ exploration }) => <Badge>{t.explorations[exploration]}</Badge>,
    },
    {
      id: 'updatedAt',
      title: t.updated,
      isSortable: true,
      cell: ({ updatedAt }) => instant(updatedAt, 'day'),
    },
    { id: 'actions', title: '', cell: (row) => <Delete saved={row} /> },
  ]
  return (
    <Loaded
      query={list}
      skeleton={<Skeleton lines={8} />}
      isEmpty={({ paginationCount }) => paginationCount === 0}
      empty={
        state.q === '' ? (
          <Empty
            icon="funnel"
            title={t.noExploration}
            action={
              <ButtonLink to="/funnels" kind="main">
                {t.toFunnels}
              </ButtonLink>
            }
          >
            {t.noExplorationHint}
          </Empty>
        ) : (
          <Empty icon="search" title={t.noMatch}>
            {t.noMatchHint}
          </Empty>
        )
      }
    >
      {({ data, paginationCount }) => (
        <Card isFlush>
          <Table
            label={t.explorationsTab}
            columns={columns}
            rows={data}
            rowKey={({ id }) => id}
            sort={{ by: state.sortBy, descending: state.descending }}
            onSort={({ by, descending }) => {
              const isFirst = by !== state.sortBy
              setView({
                sort: by,
                order: (isFirst ? by === 'updatedAt' : descending) ? 'desc' : 'asc',
                page: undefined,
              })
            }}
          />
          <Pages
            page={state.page}
            perPage={perPage}
            count={paginationCount}
            onPage={(page) => setView({ page: page === 1 ? undefined : page })}
          />
        </Card>
      )}
    </Loaded>
  )
}

/** Deletes at once; undoing saves the same again. */
function Delete({ saved: row }: { readonly saved: SavedExploration }) {
  const t = useTexts(saved)
  const forget = useForgetExplorations()
  const onError = (error: Error) => toast.fail(error.message)
  const restore = useMutation({
    mutationFn: ({ name, exploration, definition }: SavedExploration) =>
      client.saveExploration({ body: { name, exploration, definition } }),
    onSuccess: forget,
    onError,
  })
  const remove = useMutation({
    mutationFn: ({ id }: SavedExploration) => client.deleteSavedExploration({ params: { id } }),
    onSuccess: async (_, deleted) => {
      toast.undo(t.deleted(deleted.name), () => restore.mutate(deleted))
      await forget()
    },
    onError,
  })
  if (!useMayChangeExploration(row)) return null
  return <IconButton icon="trash" label={`${t.delete}: ${row.name}`} onPress={() => remove.mutate(row)} />
}
