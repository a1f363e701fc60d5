import { CatchBoundary, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { curlOf, sdkCallOf } from '../../data/call-texts.ts'
import { leavesOf, memberOf } from '../../data/filters.ts'
import { titleOf } from '../../data/result.ts'
import { useMeta } from '../../data/statistics.ts'
import { useSetView } from '../../data/view-state.ts'
import { explorationScreens, viewOf } from '../../exploration/saved-exploration.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { useInSight } from '../../tiles/asking.ts'
import { type ExplorationTile, explorationOf, queryOf, type Shared } from '../../tiles/question.ts'
import { words as tileWords } from '../../tiles/texts.ts'
import { heightOf, type Tile } from '../../tiles/tile.ts'
import { callOf, TileBody } from '../../tiles/tile-body.tsx'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu, type MenuEntry } from '../../ui/menu.tsx'
import { Failed } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './board.module.css'
import { words } from './texts.ts'
import { useTileName } from './tile-title.ts'

export interface TileFrameProps {
  readonly tile: Tile
  readonly shared: Shared
  readonly isLastOpen: boolean
  /** Asks again after so many milliseconds. */
  readonly every: number | undefined
  /** Asks although it is out of sight, as for a print. */
  readonly isAskedAnyway: boolean
  /** Of a dashboard that is edited. */
  readonly editing?: {
    readonly entries: readonly MenuEntry[]
    readonly handle: ReactNode
  }
}

/** A tile with its head. It fails alone. */
export function TileFrame({ tile, shared, isLastOpen, every, isAskedAnyway, editing }: TileFrameProps) {
  const t = useTexts(words)
  const say = useTexts(common)
  const tileText = useTexts(tileWords)
  const meta = useMeta().data
  const nameOf = useTileName()
  const setView = useSetView()
  const navigate = useNavigate()
  const [element, isInSight] = useInSight<HTMLElement>()
  const name = nameOf(tile)
  const left = leftOf(tile, shared, meta)
  const hasHead = editing !== undefined || tile.kind !== 'text' || tile.title !== ''
  const call = callOf(tile, shared, meta)
  const copy = (text: string) => void navigator.clipboard.writeText(text).then(() => toast.say(say.copied))
  const place = placeOf(tile, shared, meta)
  const entries: MenuEntry[] = call
    ? [
        ...(place
          ? [
              {
                id: 'open',
                label: t.openTile,
                icon: 'chart' as const,
                onAction: () => void navigate({ to: place.to, search: place.search as never }),
              },
            ]
          : []),
        { id: 'curl', label: say.copyAsCurl, icon: 'code', onAction: () => copy(curlOf(call as never)) },
        { id: 'sdk', label: say.copyAsSdk, icon: 'code', onAction: () => copy(sdkCallOf(call as never)) },
      ]
    : []
  const isRising = tile.kind === 'query' && tile.view === 'number'
  return (
    <article
      ref={element}
      className={styles.tile}
      aria-label={name}
      data-kind={tile.kind}
      data-rising={isRising}
    >
      {hasHead && (
        <header className={styles.head} data-drag={editing !== undefined}>
          {editing?.handle}
          <h3 className={styles.name} dir="auto" title={name}>
            {name}
          </h3>
          {left.length > 0 && (
            <span
              className={styles.left}
              role="img"
              aria-label={tileText.notFiltered(left.map((each) => titleOf(meta, each)).join(', '))}
              title={tileText.notFiltered(left.map((each) => titleOf(meta, each)).join(', '))}
            >
              <Icon name="filter" size={14} />
            </span>
          )}
          {(editing || entries.length > 0) && (
            <span className={styles.menu} data-no-drag>
              <Menu
                label={t.tileActions(name)}
                trigger={<IconButton icon="more" label={t.tileActions(name)} />}
                entries={editing ? editing.entries : entries}
              />
            </span>
          )}
        </header>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section className={styles.body} tabIndex={0} aria-label={name}>
        <CatchBoundary
          getResetKey={() => JSON.stringify([tile, shared])}
          errorComponent={({ error, reset }) => <Failed error={error} retry={reset} />}
        >
          <TileBody
            tile={tile}
            title={name}
            shared={shared}
            asking={{ isInSight: isInSight || isAskedAnyway, every }}
            height={heightOf(tile.h) - (hasHead ? 62 : 24)}
            isLastOpen={isLastOpen}
            onZoom={(from, to) => setView({ range: [from.slice(0, 10), to.slice(0, 10)] })}
          />
        </CatchBoundary>
      </section>
    </article>
  )
}

/** Members of the shared filters that do not fit what a tile asks. */
function leftOf(tile: Tile, shared: Shared, meta: Parameters<typeof queryOf>[2]): string[] {
  const { left } =
    tile.kind === 'query' && tile.query
      ? queryOf(tile.query, shared, meta)
      : tile.kind === 'exploration' && tile.definition
        ? explorationOf(tile as ExplorationTile, shared, meta)
        : { left: tile.kind === 'experiment' ? shared.filters : [] }
  return [...new Set(leavesOf(left).map(memberOf))]
}

/** The screen that asks what a tile shows, with its question as the dashboard asks it. */
function placeOf(tile: Tile, shared: Shared, meta: Parameters<typeof queryOf>[2]) {
  if (tile.kind === 'query' && tile.query)
    return { to: '/explore' as const, search: { query: queryOf(tile.query, shared, meta).body } }
  if (tile.kind !== 'exploration' || !tile.exploration || !tile.definition) return undefined
  const { filters } = explorationOf(tile as ExplorationTile, shared, meta).body
  const { from, to } = shared.days
  const definition = { ...tile.definition, filters, dateRange: [from, to] }
  const view = viewOf(tile.exploration, definition, to)
  return { to: explorationScreens[tile.exploration], search: JSON.parse(JSON.stringify(view)) as object }
}
