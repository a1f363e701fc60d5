import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { client } from '../client.ts'
import { useMay, useProfile } from '../data/profile.ts'
import { todayIn } from '../data/ranges.ts'
import { type RangeState, useSetView, useTimezone, useView } from '../data/view-state.ts'
import { useTexts } from '../texts/texts.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { SaveDialog } from '../ui/save-dialog.tsx'
import { toast } from '../ui/toast.tsx'
import {
  definitionOf,
  type ExplorationKind,
  type SavedExploration,
  savedExploration,
  viewOf,
} from './saved-exploration.ts'
import { words } from './texts.ts'

/** The saved exploration that the address names, if it names one. */
function useOpened(kind: ExplorationKind) {
  const { saved } = useView()
  const id = typeof saved === 'string' && /^[0-9a-f]{24}$/i.test(saved) ? saved : undefined
  const opened = useQuery({ ...savedExploration(id ?? ''), enabled: id !== undefined })
  return { ...opened, data: opened.data?.exploration === kind ? opened.data : undefined, id }
}

/**
 * Completes an address that names a saved exploration and says nothing else, as links have it.
 * @returns whether that is still to come
 */
export function useOpening(kind: ExplorationKind): boolean {
  const view = useView()
  const setView = useSetView()
  const { data, error, id, isFetched } = useOpened(kind)
  const today = todayIn(useTimezone())
  const isBare = id !== undefined && Object.keys(view).length === 1
  useEffect(() => {
    if (!isBare || !isFetched) return
    if (data) setView(viewOf(kind, data.definition, today), true)
    else {
      if (error) toast.fail(error.message)
      setView({ saved: undefined }, true)
    }
  }, [isBare, isFetched, data, error, kind, today, setView])
  return isBare
}

/** Whether the user may change it: who saved it, and who manages statistics. */
export function useMayChangeExploration(saved: Pick<SavedExploration, 'ownerId'> | undefined): boolean {
  const userId = useProfile()?.id
  const mayManage = useMay('statistics:manage')
  return mayManage || (userId !== undefined && saved?.ownerId === userId)
}

/** After a change every list and screen shows it. */
export function useForgetExplorations(): () => Promise<unknown> {
  const queries = useQueryClient()
  return () =>
    Promise.all(
      ['saved-explorations', 'saved-exploration'].map((key) =>
        queries.invalidateQueries({ queryKey: [key] }),
      ),
    )
}

/** Saves what is asked under a name, or over what it was opened from. */
export function SaveExploration({
  kind,
  body,
  range,
  title,
}: {
  readonly kind: ExplorationKind
  readonly body: object
  readonly range: RangeState
  readonly title: string
}) {
  const t = useTexts(words)
  const setView = useSetView()
  const forget = useForgetExplorations()
  const { data: opened } = useOpened(kind)
  const mayChange = useMayChangeExploration(opened)
  const [isOpen, setOpen] = useState(false)
  const definition = definitionOf(body, range.range)
  const isSame = opened !== undefined && JSON.stringify(opened.definition) === JSON.stringify(definition)
  return (
    <>
      {isSame ? (
        <ButtonLink to="/saved" search={{ kind: 'explorations' } as never} icon="check">
          {opened.name}
        </ButtonLink>
      ) : (
        <Button icon="saved" onPress={() => setOpen(true)}>
          {t.save}
        </Button>
      )}
      {isOpen && (
        <SaveDialog<SavedExploration>
          title={opened?.name ?? title}
          opened={mayChange ? opened : undefined}
          create={(name) => client.saveExploration({ body: { name, exploration: kind, definition } })}
          update={(name, headers) =>
            client.updateSavedExploration({
              params: { id: opened?.id ?? '' },
              headers,
              body: { name, definition },
            })
          }
          onSaved={({ id }) => {
            setView({ saved: id }, true)
            void forget()
          }}
          onReload={forget}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}
