import type { OperationData, OperationRequest } from '@millrace/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { faultsOf } from '../../data/faults.ts'
import { useInstant } from '../../data/view-state.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import form from '../../ui/form.module.css'
import { Item, ItemList } from '../../ui/item-list.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from './texts.ts'

type LinkedAccount = OperationData<'listLinkedAccounts'>[number]
type Creation = NonNullable<OperationRequest<'createLinkedAccount'>['body']>

const linksKey = ['linked-accounts']

export function LinkedAccounts() {
  const t = useTexts(words)
  const instant = useInstant()
  const queries = useQueryClient()
  const [isLinking, setLinking] = useState(false)
  const [chosen, setChosen] = useState<LinkedAccount>()
  const links = useQuery({
    queryKey: linksKey,
    queryFn: ({ signal }) => client.listLinkedAccounts({}, { signal }),
  })
  const unlink = useMutation({
    mutationFn: (id: string) => client.deleteLinkedAccount({ params: { id } }),
    onSuccess: () => toast.say(t.unlinked),
    onError: (error) => toast.fail(error.message),
    onSettled: () => {
      setChosen(undefined)
      return queries.invalidateQueries({ queryKey: linksKey })
    },
  })
  const begin = (
    <Button kind="main" icon="link" onPress={() => setLinking(true)}>
      {t.link}
    </Button>
  )
  return (
    <Card
      title={t.tabs.links}
      isFlush
      actions={
        <>
          <CopyAs call={{ operation: 'listLinkedAccounts', request: {} }} />
          {links.data && links.data.length > 0 && begin}
        </>
      }
    >
      <Loaded
        query={links}
        isEmpty={(rows) => rows.length === 0}
        empty={
          <Empty icon="link" title={t.noLinks} action={begin}>
            {t.noLinksHint}
          </Empty>
        }
      >
        {(rows) => (
          <ItemList label={t.tabs.links}>
            {rows.map((row) => (
              <Item
                key={row.id}
                title={row.name}
                details={[
                  [t.service, t.providers[row.provider]],
                  [t.host, row.host],
                  [t.linkedAt, instant(row.createdAt)],
                ]}
                action={
                  <Button kind="danger" onPress={() => setChosen(row)}>
                    {t.unlink}
                  </Button>
                }
              />
            ))}
          </ItemList>
        )}
      </Loaded>
      {isLinking && <LinkDialog onClose={() => setLinking(false)} />}
      <Confirm
        title={t.unlinkOf(chosen?.name ?? '')}
        action={t.unlink}
        isOpen={chosen !== undefined}
        isBusy={unlink.isPending}
        onClose={() => setChosen(undefined)}
        onConfirm={() => chosen && unlink.mutate(chosen.id)}
      >
        <p>{t.unlinkHint}</p>
      </Confirm>
    </Card>
  )
}

function LinkDialog({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(words)
  const say = useTexts(common)
  const queries = useQueryClient()
  const [provider, setProvider] = useState<Creation['provider']>('slack')
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [secret, setSecret] = useState('')
  const link = useMutation({
    mutationFn: () =>
      client.createLinkedAccount({
        body: { provider, name, url, ...(provider === 'webhook' && secret !== '' && { secret }) },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: linksKey })
      toast.say(t.linked)
      onClose()
    },
  })
  const { error } = link
  const faults = faultsOf(error)
  const isOfAddress = error && Object.keys(faults).length === 0
  return (
    <Dialog title={t.link} isOpen onClose={onClose}>
      <form
        className={form.form}
        onSubmit={(event) => {
          event.preventDefault()
          link.mutate()
        }}
      >
        <Select
          label={t.service}
          options={(['slack', 'teams', 'webhook'] as const).map((id) => ({ id, label: t.providers[id] }))}
          value={provider}
          onChange={setProvider}
          fault={faults.provider}
        />
        <TextField
          label={say.name}
          hint={t.linkNameHint}
          value={name}
          onChange={setName}
          maxLength={100}
          fault={faults.name}
        />
        <TextField
          label={t.address}
          hint={t.addressHints[provider]}
          value={url}
          onChange={setUrl}
          autoComplete="off"
          fault={faults.url ?? (isOfAddress ? error.message : undefined)}
        />
        {provider === 'webhook' && (
          <TextField
            label={t.secret}
            hint={t.secretHint}
            type="password"
            value={secret}
            onChange={setSecret}
            autoComplete="off"
            fault={faults.secret}
          />
        )}
        <div className={form.end}>
          <Button kind="main" type="submit" isDisabled={link.isPending || !name.trim() || !url.trim()}>
            {link.isPending ? t.testing : t.link}
          </Button>
          <Button onPress={onClose}>{say.cancel}</Button>
        </div>
      </form>
    </Dialog>
  )
}
