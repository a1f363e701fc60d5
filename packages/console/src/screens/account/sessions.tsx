import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { useInstant } from '../../data/view-state.ts'
import { session } from '../../session/session.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Item, ItemList } from '../../ui/item-list.tsx'
import { Badge, Card } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from './texts.ts'

const sessionsKey = ['own-sessions']

export function Sessions() {
  const t = useTexts(words)
  const instant = useInstant()
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const sessions = useQuery({
    queryKey: sessionsKey,
    queryFn: ({ signal }) => client.listOwnSessions({}, { signal }),
  })
  const end = useMutation({
    mutationFn: (id: string) => client.endOwnSession({ params: { id } }),
    onSuccess: () => toast.say(t.sessionEnded),
    onError: (error) => toast.fail(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: sessionsKey }),
  })
  const endAll = useMutation({
    mutationFn: () => client.endOwnSessions({}),
    onSuccess: () => session.signOut(),
    onError: (error) => toast.fail(error.message),
  })
  return (
    <Card
      title={t.tabs.sessions}
      isFlush
      actions={
        <>
          <CopyAs call={{ operation: 'listOwnSessions', request: {} }} />
          <Button kind="danger" onPress={() => setAsking(true)}>
            {t.endAll}
          </Button>
        </>
      }
    >
      <Loaded query={sessions}>
        {(rows) => (
          <ItemList label={t.tabs.sessions}>
            {rows.map(({ id, browser, os, current, clientName, network, lastUsedAt, createdAt }) => (
              <Item
                key={id}
                title={
                  <>
                    {[browser, os].filter(Boolean).join(', ') || t.unknownBrowser}
                    {current && <Badge kind="accent">{t.thisOne}</Badge>}
                  </>
                }
                details={[
                  [t.lastUsed, instant(lastUsedAt)],
                  [t.began, instant(createdAt)],
                  [t.network, network],
                  [t.application, clientName],
                ]}
                action={
                  <Button
                    isDisabled={end.isPending}
                    onPress={() => (current ? void session.signOut() : end.mutate(id))}
                  >
                    {current ? t.signOut : t.end}
                  </Button>
                }
              />
            ))}
          </ItemList>
        )}
      </Loaded>
      <Confirm
        title={t.endAll}
        action={t.endAll}
        isOpen={isAsking}
        isBusy={endAll.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() => endAll.mutate()}
      >
        <p>{t.endAllHint}</p>
      </Confirm>
    </Card>
  )
}
