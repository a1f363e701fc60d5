import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { useSetView, useView } from '../../data/view-state.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { SaveDialog } from '../../ui/save-dialog.tsx'
import { useForget, useMayChange } from '../saved/saved-actions.ts'
import { type SavedQuery, savedQuery as savedQueryOf } from '../saved/saved-queries.ts'
import type { Query } from './query-state.ts'
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
  const setView = useSetView()
  const forget = useForget()
  const mayChange = useMayChange(opened)
  return (
    <SaveDialog<SavedQuery>
      title={opened?.name ?? title}
      opened={mayChange ? opened : undefined}
      create={(name) => client.saveQuery({ body: { name, queries: [query] } })}
      update={(name, headers) =>
        client.updateSavedQuery({
          params: { id: opened?.id ?? '' },
          headers,
          body: { name, queries: (opened?.queries ?? []).map((each, i) => (i === at ? query : each)) },
        })
      }
      onSaved={({ id }) => {
        setView({ saved: id }, true)
        void forget()
      }}
      onReload={forget}
      onClose={onClose}
    />
  )
}
