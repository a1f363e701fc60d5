import { useId } from 'react'
import GridLayout, { type Layout, useContainerWidth, verticalCompactor } from 'react-grid-layout'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { moveBy, sizeBy } from '../../tiles/layout.ts'
import { columns, gap, maxTileRows, rowHeight, type Tile } from '../../tiles/tile.ts'
import { Icon } from '../../ui/icon.tsx'
import styles from './board.module.css'
import type { BoardProps } from './board.tsx'
import { inReadingOrder } from './board.tsx'
import { words } from './texts.ts'
import { TileFrame } from './tile-frame.tsx'
import { useTileName } from './tile-title.ts'

export interface EditGridProps extends BoardProps {
  readonly isPhone: boolean
  readonly onTiles: (tiles: readonly Tile[]) => void
  readonly onEdit: (tile: Tile) => void
  readonly onDuplicate: (tile: Tile) => void
  readonly onRemove: (tile: Tile) => void
  /** Says what happened to those who do not see it. */
  readonly onSay: (text: string) => void
}

const steps: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** The grid of a dashboard that is edited: tiles are moved and sized by pointer and by keyboard. */
export function EditGrid(props: EditGridProps) {
  const { tiles, isPhone, onTiles, onEdit, onDuplicate, onRemove, onSay } = props
  const t = useTexts(words)
  const say = useTexts(common)
  const nameOf = useTileName()
  const help = useId()
  const { width, containerRef, mounted } = useContainerWidth()

  const move = (tile: Tile, event: React.KeyboardEvent) => {
    const step = steps[event.key]
    if (!step) return
    event.preventDefault()
    const next = (event.shiftKey ? sizeBy : moveBy)(tiles, tile.id, ...step)
    onTiles(next)
    const moved = next.find(({ id }) => id === tile.id) ?? tile
    onSay(t.placed(nameOf(tile), moved.x + 1, moved.y + 1, moved.w, moved.h))
  }

  const framed = (tile: Tile) => {
    const name = nameOf(tile)
    return (
      <TileFrame
        tile={tile}
        shared={props.shared}
        isLastOpen={props.isLastOpen}
        every={undefined}
        isAskedAnyway={false}
        editing={{
          handle: !isPhone && (
            <button
              type="button"
              className={styles.handle}
              aria-label={t.handle(name)}
              aria-describedby={help}
              onKeyDown={(event) => move(tile, event)}
            >
              <Icon name="grip" />
            </button>
          ),
          entries: [
            { id: 'edit', label: say.edit, icon: 'edit', onAction: () => onEdit(tile) },
            { id: 'duplicate', label: t.duplicate, icon: 'copy', onAction: () => onDuplicate(tile) },
            {
              id: 'remove',
              label: say.remove,
              icon: 'trash',
              isDanger: true,
              onAction: () => onRemove(tile),
            },
          ],
        }}
      />
    )
  }

  if (isPhone)
    return (
      <div className={styles.board}>
        {inReadingOrder(tiles).map((tile) => (
          <div
            key={tile.id}
            className={styles.place}
            data-small={tile.kind === 'query' && tile.view === 'number'}
          >
            {framed(tile)}
          </div>
        ))}
      </div>
    )
  const layout: Layout = tiles.map(({ id, x, y, w, h }) => ({ i: id, x, y, w, h, maxH: maxTileRows }))
  return (
    <div ref={containerRef} className={styles.grid}>
      {/* react-draggable would write a style element of its own, which the policy refuses, unless one is there. */}
      <i id="react-draggable-style-el" hidden />
      <p id={help} className="visually-hidden">
        {t.keyboardHelp}
      </p>
      {mounted && (
        <GridLayout
          width={width}
          layout={layout}
          gridConfig={{ cols: columns, rowHeight, margin: [gap, gap], containerPadding: [0, 0] }}
          dragConfig={{ enabled: true, handle: '[data-drag="true"]', cancel: '[data-no-drag]' }}
          resizeConfig={{ enabled: true, handles: ['se'] }}
          compactor={verticalCompactor}
          onLayoutChange={(next) => {
            const places = new Map(next.map((each) => [each.i, each]))
            const placed = tiles.map((tile) => {
              const { x, y, w, h } = places.get(tile.id) ?? tile
              return x === tile.x && y === tile.y && w === tile.w && h === tile.h
                ? tile
                : { ...tile, x, y, w, h }
            })
            if (placed.some((tile, i) => tile !== tiles[i])) onTiles(placed)
          }}
        >
          {inReadingOrder(tiles).map((tile) => (
            <div key={tile.id}>{framed(tile)}</div>
          ))}
        </GridLayout>
      )}
    </div>
  )
}
