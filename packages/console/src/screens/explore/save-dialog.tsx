import { ValidationError } from '@millrace/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ifMatch, savedMeanwhile } from '../../data/conflict.ts'
import { useSetView, useView } from '../../data/view-state.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.tsx'
import { ConflictDialog } from '../saved/conflict-dialog.tsx'
import { useForget, useMayChange } from '../saved/saved-actions.ts'
import { type SavedQuery, savedQuery as savedQueryOf } from '../saved/saved-queries.ts'
import type { Query } from './query-state.ts'
import styles from './save-dialog.module.css'
import { words } from './texts.ts'

/** Saves the question under a name, or over the saved query that it was opened from. */
export function SaveQuery({ query, title }: { readonly query: Query; readonly title: string }) {
  const t = useTexts(words)
  const view = useView()
  const id = typeof view.saved === 'string' && /^[0-9a-f]{24}$/i.test(view.saved) ? view.saved : undefined
  const opened = useQuery({ ...savedQueryOf(id ?? ''), enabled: id !== undefined })
  const [isOpen, setOpen] = useState(false)
  const at = Number.isInteger(view.at) ? (view.at as number) : 0
  const isSame =
    opened.data !== undefined && JSON.stringify(opened.data.queries[at]) === JSON.stringify(query)
  return (
    <>
      {isSame && id !== undefined ? (
        <ButtonLink to="/saved/$id" params={{ id }} icon="check">
          {t.savedAs}
        </ButtonLink>
      ) : (
        <Button icon="saved" onPress={() => setOpen(true)}>
          {t.save}
        </Button>
      )}
      {isOpen && (
        <Saving
          query={query}
          title={title}
          opened={id === undefined ? undefined : opened.data}
          at={at}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}

function Saving({
  query,
  title,
  opened,
  at,
  onClose,
}: {
  readonly query: Query
  readonly title: string
  readonly opened: SavedQuery | undefined
  readonly at: number
  readonly onClose: () => void
}) {
  const t = useTexts(words)
  const say = useTexts(common)
  const setView = useSetView()
  const forget = useForget()
  const mayChange = useMayChange(opened)
  const [name, setName] = useState(opened?.name ?? title.slice(0, 200))
  const done = async ({ id }: SavedQuery) => {
    toast.say(say.saved)
    setView({ saved: id }, true)
    await forget()
    onClose()
  }
  const create = useMutation({
    mutationFn: () => client.saveQuery({ body: { name: name.trim(), queries: [query] } }),
    onSuccess: done,
  })
  const update = useMutation({
    mutationFn: ({ id, queries, revision, overwrites }: SavedQuery & { overwrites: boolean }) =>
      client.updateSavedQuery({
        params: { id },
        headers: overwrites ? {} : ifMatch(revision),
        body: { name: name.trim(), queries: queries.map((each, i) => (i === at ? query : each)) },
      }),
    onSuccess: done,
  })
  const conflict = savedMeanwhile(update.error)
  if (conflict && opened)
    return (
      <ConflictDialog
        conflict={conflict}
        onClose={() => update.reset()}
        onOverwrite={() => update.mutate({ ...opened, overwrites: true })}
        onReload={() => void forget().then(onClose)}
      />
    )
  const error = create.error ?? update.error
  const fault =
    error instanceof ValidationError ? error.errors.map(({ message }) => message).join('; ') : error?.message
  const isBusy = create.isPending || update.isPending
  const isNamed = name.trim() !== ''
  const canUpdate = opened !== undefined && mayChange
  return (
    <Dialog
      title={t.save}
      isOpen
      onClose={onClose}
      end={
        <>
          <Button
            kind={canUpdate ? 'plain' : 'main'}
            isDisabled={!isNamed}
            isPending={isBusy}
            onPress={() => create.mutate()}
          >
            {canUpdate ? t.saveAs : t.save}
          </Button>
          {canUpdate && (
            <Button
              kind="main"
              isDisabled={!isNamed}
              isPending={isBusy}
              onPress={() => update.mutate({ ...opened, overwrites: false })}
            >
              {t.saveChanges}
            </Button>
          )}
        </>
      }
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          if (isNamed && !isBusy) {
            if (canUpdate) update.mutate({ ...opened, overwrites: false })
            else create.mutate()
          }
        }}
      >
        <TextField
          label={t.queryName}
          autoFocus
          value={name}
          onChange={setName}
          maxLength={200}
          fault={fault}
        />
      </form>
    </Dialog>
  )
}
