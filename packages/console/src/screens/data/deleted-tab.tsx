import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { useInstant } from '../../data/view-state.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Item, ItemList } from '../../ui/item-list.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import { CloseCompany } from './close-company.tsx'
import { words } from './texts.ts'

const deletedKey = ['datasources', 'deleted']

/** Datasources whose deletion can be undone. */
export function DeletedTab() {
  const t = useTexts(words)
  const instant = useInstant()
  const queries = useQueryClient()
  const deleted = useQuery({
    queryKey: deletedKey,
    queryFn: ({ signal }) => client.listDeletedDatasources({ query: { perPage: 100 } }, { signal }),
  })
  const restore = useMutation({
    mutationFn: (id: string) => client.restoreDatasource({ params: { id } }),
    onSuccess: () => toast.say(t.restored),
    onError: (error) => toast.fail(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: ['datasources'] }),
  })
  return (
    <>
      <Card
        title={t.tabs.deleted}
        isFlush
        actions={<CopyAs call={{ operation: 'listDeletedDatasources', request: {} }} />}
      >
        <Loaded
          query={deleted}
          isEmpty={(rows) => rows.length === 0}
          empty={
            <Empty icon="trash" title={t.noDeleted}>
              {t.noDeletedHint}
            </Empty>
          }
        >
          {(rows) => (
            <ItemList label={t.tabs.deleted}>
              {rows.map(({ id, name, deletedAt, purgeAfter }) => (
                <Item
                  key={id}
                  title={name}
                  details={[
                    [t.deletedAt, instant(deletedAt)],
                    [t.purgeAfter, instant(purgeAfter)],
                  ]}
                  action={
                    <Button icon="refresh" isDisabled={restore.isPending} onPress={() => restore.mutate(id)}>
                      {t.restore}
                    </Button>
                  }
                />
              ))}
            </ItemList>
          )}
        </Loaded>
      </Card>
      <CloseCompany />
    </>
  )
}
