import { useIsFetching } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { comparisons } from '../../data/ranges.ts'
import { useSetView } from '../../data/view-state.ts'
import { analysis } from '../../texts/analysis.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import type { Tile } from '../../tiles/tile.ts'
import { IconButton } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Menu, type MenuEntry } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import styles from './board.module.css'
import { Board } from './board.tsx'
import { FilterBar } from './filter-bar.tsx'
import { FullScreen } from './full-screen.tsx'
import { words } from './texts.ts'
import type { SharedState } from './use-shared.ts'

interface BoardPageProps {
  readonly name: string
  readonly lead?: string
  readonly tiles: readonly Tile[]
  readonly state: SharedState
  /** Buttons before those that every dashboard has. */
  readonly actions?: ReactNode
  readonly entries?: readonly MenuEntry[]
  /** Stands between the controls and the tiles. */
  readonly above?: ReactNode
  /** In the place of the tiles, while they are edited or where there is none. */
  readonly board?: ReactNode
  /** Dialogs. */
  readonly children?: ReactNode
}

/** A dashboard with what its tiles share, full screen and print. */
export function BoardPage({
  name,
  lead,
  tiles,
  state,
  actions,
  entries = [],
  above,
  board,
  children,
}: BoardPageProps) {
  const t = useTexts(words)
  const say = useTexts(analysis)
  const { more } = useTexts(common)
  const setView = useSetView()
  const [isFull, setFull] = useState(false)
  const [isPrinting, setPrinting] = useState(false)
  const { range, shared, filters } = state
  const isLastOpen = range.includesToday
  usePrint(isPrinting, () => setPrinting(false))
  if (isFull)
    return (
      <FullScreen name={name} onLeave={() => setFull(false)}>
        {(every) => <Board tiles={tiles} shared={shared} isLastOpen={isLastOpen} every={every} />}
      </FullScreen>
    )
  return (
    <Page
      title={name}
      lead={lead || undefined}
      isWide
      above={<Link to="/dashboards">{t.title}</Link>}
      actions={
        <>
          <Select
            label={say.comparison}
            hidesLabel
            options={comparisons.map((id) => ({ id, label: say.comparisons[id] }))}
            value={range.comparison}
            onChange={(compare) => setView({ compare })}
          />
          <RangePicker
            value={range.range}
            today={range.today}
            onChange={(next) => setView({ range: next })}
          />
          {actions}
          <Menu
            label={more}
            trigger={<IconButton icon="more" label={more} />}
            entries={[
              ...entries,
              { id: 'full', label: t.fullScreen, icon: 'full', onAction: () => setFull(true) },
              { id: 'print', label: t.print, icon: 'download', onAction: () => setPrinting(true) },
            ]}
          />
        </>
      }
    >
      {above}
      <FilterBar filters={filters} onChange={(next) => setView({ filters: next })} />
      {state.left.length > 0 && <p className={styles.note}>{t.leftOut(state.left.join(', '))}</p>}
      {state.unknownRange !== undefined && (
        <p className={styles.note}>{t.unknownRange(state.unknownRange)}</p>
      )}
      {board ?? <Board tiles={tiles} shared={shared} isLastOpen={isLastOpen} isAskedAnyway={isPrinting} />}
      {children}
    </Page>
  )
}

/** Prints once every tile, those out of sight too, has its answer. */
function usePrint(isPrinting: boolean, onPrinted: () => void): void {
  const asking = useIsFetching()
  useEffect(() => {
    if (!isPrinting || asking > 0) return
    // Charts are drawn after the answer that they show.
    const frame = requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        print()
        onPrinted()
      }),
    )
    return () => cancelAnimationFrame(frame)
  }, [isPrinting, asking, onPrinted])
}
