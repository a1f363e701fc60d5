import type { OperationData } from '@millrace/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { useInstant } from '../../data/view-state.ts'
import { clientId } from '../../session/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Item, ItemList } from '../../ui/item-list.tsx'
import { Badge, Card } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from './texts.ts'

type Application = OperationData<'listApplications'>[number]

const applicationsKey = ['applications']

export function Applications() {
  const t = useTexts(words)
  const instant = useInstant()
  const queries = useQueryClient()
  const [chosen, setChosen] = useState<Application>()
  const applications = useQuery({
    queryKey: applicationsKey,
    queryFn: ({ signal }) => client.listApplications({}, { signal }),
  })
  const withdraw = useMutation({
    mutationFn: (id: string) => client.deleteApplication({ params: { id } }),
    onSuccess: () => toast.say(t.withdrawn),
    onError: (error) => toast.fail(error.message),
    onSettled: () => {
      setChosen(undefined)
      return queries.invalidateQueries({ queryKey: applicationsKey })
    },
  })
  return (
    <Card
      title={t.tabs.applications}
      isFlush
      actions={<CopyAs call={{ operation: 'listApplications', request: {} }} />}
    >
      <Loaded
        query={applications}
        isEmpty={(rows) => rows.length === 0}
        empty={
          <Empty icon="shield" title={t.noApplications}>
            {t.noApplicationsHint}
          </Empty>
        }
      >
        {(rows) => (
          <ItemList label={t.tabs.applications}>
            {rows.map((row) => (
              <Item
                key={row.id}
                title={
                  <>
                    {row.name}
                    {row.id === clientId && <Badge kind="accent">{t.thisOne}</Badge>}
                  </>
                }
                details={[
                  [t.consent, row.consentedAt ? instant(row.consentedAt) : t.ofOperator],
                  [t.lastUsed, row.lastUsedAt ? instant(row.lastUsedAt) : t.never],
                  [t.sessions, row.sessions],
                ]}
                action={
                  row.id !== clientId && (
                    <Button kind="danger" onPress={() => setChosen(row)}>
                      {t.withdraw}
                    </Button>
                  )
                }
              />
            ))}
          </ItemList>
        )}
      </Loaded>
      <Confirm
        title={t.withdrawFrom(chosen?.name ?? '')}
        action={t.withdraw}
        isOpen={chosen !== undefined}
        isBusy={withdraw.isPending}
        onClose={() => setChosen(undefined)}
        onConfirm={() => chosen && withdraw.mutate(chosen.id)}
      >
        <p>{t.withdrawHint}</p>
      </Confirm>
    </Card>
  )
}
