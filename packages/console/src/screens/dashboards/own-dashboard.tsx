import { MillraceError, ValidationError } from '@millrace/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { dateRangeOf } from '../../data/date-ranges.ts'
import { useMay, useProfile } from '../../data/profile.ts'
import { useMeta } from '../../data/statistics.ts'
import { useSetView, useView } from '../../data/view-state.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { compact, placeFor } from '../../tiles/layout.ts'
import { type Dashboard, maxTiles, newTileId, type Tile, type TileQuery } from '../../tiles/tile.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Empty, Skeleton } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './board.module.css'
import { BoardPage } from './board-page.tsx'
import { Conflict } from './conflict.tsx'
import { type Content, isDifferent } from './differences.ts'
import { dashboardQuery, inputOf, useDashboardDeeds } from './requests.ts'
import { SharedWith } from './shared-with.tsx'
import { readAdded } from './simple-query.ts'
import { words } from './texts.ts'
import type { TileContent } from './tile-dialog.tsx'
import { useTileName } from './tile-title.ts'
import { useMedia } from './use-media.ts'
import { useSharedState } from './use-shared.ts'

const EditGrid = lazy(async () => ({ default: (await import('./edit-grid.tsx')).EditGrid }))
const TileDialog = lazy(async () => ({ default: (await import('./tile-dialog.tsx')).TileDialog }))

type Edited = Pick<Content, 'name' | 'description' | 'resourceGroupIds' | 'tiles'>

/** What is edited, and what it began with. */
interface Draft extends Edited {
  readonly base: Dashboard
}

const draftOf = (base: Dashboard): Draft => ({
  base,
  name: base.name,
  description: base.description,
  resourceGroupIds: base.resourceGroupIds,
  tiles: base.tiles,
})

const viewFor = ({ dimensions, timeDimensions }: TileQuery): NonNullable<Tile['view']> =>
  timeDimensions.some(({ granularity }) => granularity) ? 'area' : dimensions.length > 0 ? 'list' : 'number'

/** How large a new tile is. */
const sizeOf = ({ kind, view }: TileContent) =>
  kind === 'query' && view === 'number' ? { w: 3, h: 2 } : kind === 'text' ? { w: 4, h: 3 } : { w: 6, h: 5 }

export function OwnDashboard({ saved }: { readonly saved: Dashboard }) {
  const t = useTexts(words)
  const say = useTexts(common)
  const nameOf = useTileName()
  const view = useView()
  const setView = useSetView()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const isPhone = useMedia('(max-width: 860px)')
  const userId = useProfile()?.id
  const meta = useMeta().data
  const mayManage = useMay('statistics:manage')
  const mayChange = mayManage || saved.ownerId === userId
  const [draft, setDraft] = useState<Draft>()
  /** The tile in the dialog; null for a new one. */
  const [opened, setOpened] = useState<Tile | null>()
  const [conflict, setConflict] = useState<string>()
  const [said, setSaid] = useState('')
  const { replace, create, duplicate, remove } = useDashboardDeeds()
  const state = useSharedState(saved)
  const { range, filters } = state

  const isRangeChosen = view.range !== undefined
  const mine: Content = {
    ...(draft ?? saved),
    filters: view.filters === undefined ? saved.filters : [...filters],
    range: isRangeChosen ? dateRangeOf(range.range) : saved.range,
    comparison: range.comparison,
  }
  const isDirty = draft !== undefined && isDifferent(draft.base, mine)
  const edit = (change: Partial<Edited>) =>
    setDraft((before) => ({ ...(before ?? draftOf(saved)), ...change }))

  const addTile = (content: TileContent, at?: Pick<Tile, 'w' | 'h'>) =>
    setDraft((before) => {
      const from = before ?? draftOf(saved)
      const tile = { ...content, id: newTileId(), ...placeFor(from.tiles, at ?? sizeOf(content)) }
      return { ...from, tiles: compact([...from.tiles, tile as Tile]) }
    })

  // `?edit` and `?add=<query>` are wishes of an address: each is done once, and leaves it.
  const { edit: wantsEdit, add } = view
  const wish = wantsEdit === undefined && add === undefined ? undefined : JSON.stringify([wantsEdit, add])
  const done = useRef<string>(undefined)
  useEffect(() => {
    if (wish === done.current || !meta) return
    done.current = wish
    if (wish === undefined) return
    setView({ edit: undefined, add: undefined }, true)
    if (!mayChange) {
      if (add !== undefined) toast.fail(t.mayNotAdd)
      return
    }
    const added = readAdded(add, meta)
    if (add !== undefined && !added) toast.fail(t.badAdd)
    if (added)
      addTile({ title: '', ...(added.query && { view: viewFor(added.query) }), ...added } as TileContent)
    else setDraft((before) => before ?? draftOf(saved))
  })

  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  })

  const leaveEditing = () => {
    setDraft(undefined)
    replace.reset()
    setView({ range: undefined, compare: undefined, filters: undefined }, true)
  }
  const save = () => {
    if (!draft) return
    const { id, revision } = draft.base
    replace.mutate(
      { id, revision, body: inputOf(mine) },
      {
        onSuccess: () => {
          leaveEditing()
          toast.say(say.saved)
        },
        onError: (error) => {
          if (error instanceof MillraceError && error.is('savedMeanwhile')) setConflict(error.message)
          else if (!(error instanceof ValidationError)) toast.fail(error.message)
        },
      },
    )
  }
  const discard = () => {
    const before = draft
    leaveEditing()
    if (before && isDirty) toast.undo(t.tookTheirs, () => setDraft(before))
  }
  const saveCopy = () =>
    create.mutate(
      { ...inputOf(mine), name: t.copyOf(mine.name).slice(0, 200) },
      {
        onSuccess: ({ id }) => {
          setConflict(undefined)
          setDraft(undefined)
          toast.say(t.duplicated)
          // After the draft is gone, so that nothing holds the way.
          setTimeout(() => void navigate({ to: '/dashboards/$id', params: { id } }))
        },
        onError: (error) => toast.fail(error.message),
      },
    )
  const removeTile = (tile: Tile) => {
    const name = nameOf(tile)
    edit({ tiles: compact(mine.tiles.filter(({ id }) => id !== tile.id)) })
    toast.undo(t.removed(name), () =>
      setDraft((before) => {
        const from = before ?? draftOf(saved)
        return { ...from, tiles: compact([...from.tiles, tile]) }
      }),
    )
  }

  const isFullBoard = mine.tiles.length >= maxTiles
  const addButton = (
    <Button icon="plus" isDisabled={isFullBoard} onPress={() => setOpened(null)}>
      {isFullBoard ? t.tooMany : t.add}
    </Button>
  )
  return (
    <BoardPage
      name={mine.name}
      lead={draft ? '' : saved.description}
      tiles={mine.tiles}
      state={state}
      entries={
        draft
          ? []
          : [
              {
                id: 'duplicate',
                label: mayChange ? t.duplicate : t.makeOwn,
                icon: 'copy',
                onAction: () =>
                  duplicate.mutate(saved.id, {
                    onSuccess: ({ id }) => {
                      toast.say(t.duplicated)
                      void navigate({ to: '/dashboards/$id', params: { id } })
                    },
                    onError: (error) => toast.fail(error.message),
                  }),
              },
              ...(mayChange
                ? [
                    {
                      id: 'delete',
                      label: say.delete,
                      icon: 'trash' as const,
                      isDanger: true,
                      onAction: () =>
                        remove.mutate(saved.id, {
                          onSuccess: (before) => {
                            void navigate({ to: '/dashboards' })
                            toast.undo(t.deleted(before.name), () => create.mutate(inputOf(before)))
                          },
                          onError: (error) => toast.fail(error.message),
                        }),
                    },
                  ]
                : []),
            ]
      }
      actions={
        draft ? (
          <>
            {addButton}
            <Button onPress={discard}>{t.cancel}</Button>
            <Button kind="main" onPress={save} isDisabled={replace.isPending || mine.name.trim() === ''}>
              {t.done}
            </Button>
          </>
        ) : (
          mayChange && (
            <Button icon="edit" onPress={() => setDraft(draftOf(saved))}>
              {t.edit}
            </Button>
          )
        )
      }
      above={
        draft && (
          <>
            <div className={styles.details}>
              <TextField
                label={say.name}
                maxLength={200}
                value={draft.name}
                onChange={(name) => edit({ name })}
                fault={faultAt(replace.error, 'name')}
              />
              <TextField
                label={t.description}
                maxLength={2_000}
                value={draft.description}
                onChange={(description) => edit({ description })}
                fault={faultAt(replace.error, 'description')}
              />
              <SharedWith
                teamIds={draft.resourceGroupIds}
                onChange={(resourceGroupIds) => edit({ resourceGroupIds })}
              />
            </div>
            <p data-quiet>{isPhone ? t.editingPhone : t.editing}</p>
            <SaveFaults error={replace.error} tiles={draft.tiles} />
            <p className="visually-hidden" aria-live="assertive">
              {said}
            </p>
          </>
        )
      }
      board={
        mine.tiles.length === 0 ? (
          <Empty icon="dashboard" title={t.emptyBoard} action={mayChange && addButton}>
            {t.emptyBoardHint}
          </Empty>
        ) : draft ? (
          <Suspense fallback={<Skeleton height={480} />}>
            <EditGrid
              tiles={draft.tiles}
              shared={state.shared}
              isLastOpen={range.includesToday}
              isPhone={isPhone}
              onTiles={(tiles) => edit({ tiles: [...tiles] })}
              onEdit={setOpened}
              onDuplicate={({ id: _, x: _x, y: _y, w, h, ...content }) => addTile(content, { w, h })}
              onRemove={removeTile}
              onSay={setSaid}
            />
          </Suspense>
        ) : undefined
      }
    >
      {opened !== undefined && (
        <Suspense>
          <TileDialog
            tile={opened ?? undefined}
            onClose={() => setOpened(undefined)}
            onDone={(content) => {
              if (opened === null) addTile(content)
              else
                edit({
                  tiles: mine.tiles.map((tile) => (tile.id === opened.id ? { ...tile, ...content } : tile)),
                })
              setOpened(undefined)
            }}
          />
        </Suspense>
      )}
      {conflict !== undefined && draft && (
        <Conflict
          message={conflict}
          base={draft.base}
          mine={mine}
          onClose={() => setConflict(undefined)}
          onCopy={saveCopy}
          onTake={(theirs) => {
            setConflict(undefined)
            queries.setQueryData(dashboardQuery(theirs.id).queryKey, theirs)
            discard()
          }}
        />
      )}
      <Dialog
        title={t.unsaved}
        isOpen={blocker.status === 'blocked'}
        onClose={() => blocker.reset?.()}
        end={
          <>
            <Button onPress={() => blocker.reset?.()}>{say.stay}</Button>
            <Button kind="danger" onPress={() => blocker.proceed?.()}>
              {say.leave}
            </Button>
          </>
        }
      >
        <p>{say.notSaved}</p>
      </Dialog>
    </BoardPage>
  )
}

const faultAt = (error: unknown, path: string): string | undefined =>
  error instanceof ValidationError ? error.errors.find((each) => each.path === path)?.message : undefined

/** What the service refused, by the names of the tiles. */
function SaveFaults({ error, tiles }: { readonly error: unknown; readonly tiles: readonly Tile[] }) {
  const t = useTexts(words)
  const nameOf = useTileName()
  if (!(error instanceof ValidationError)) return null
  const shown = error.errors.filter(({ path }) => path !== 'name' && path !== 'description')
  if (shown.length === 0) return null
  return (
    <div className={styles.note} role="alert">
      <b>{t.faults}</b>
      <ul>
        {shown.map(({ path, message }) => {
          const [, place, rest] = /^tiles\.(\d+)\.?(.*)$/.exec(path) ?? []
          const tile = place === undefined ? undefined : tiles[Number(place)]
          const where = tile ? `${t.faultOfTile(nameOf(tile))}, ${rest}` : path
          return (
            <li key={path + message} dir="auto">
              {where} {message}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
