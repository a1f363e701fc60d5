import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../../client.ts'
import { useInstant } from '../../data/view-state.ts'
import { useForgetExplorations, useMayChangeExploration } from '../../exploration/save-exploration.tsx'
import { explorationScreens, type SavedExploration } from '../../exploration/saved-exploration.ts'
import { useTexts } from '../../texts/texts.ts'
import { ButtonLink, IconButton } from '../../ui/button.tsx'
import { Badge } from '../../ui/page.tsx'
import { Empty } from '../../ui/state.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './saved.module.css'
import { type ListState, perPage } from './saved-queries.ts'
import { SavedTable } from './saved-table.tsx'
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
    <SavedTable
      label={t.explorationsTab}
      list={list}
      state={state}
      columns={columns}
      empty={
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
      }
    />
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
