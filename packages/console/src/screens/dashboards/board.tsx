import type { Shared } from '../../tiles/question.ts'
import type { Tile } from '../../tiles/tile.ts'
import styles from './board.module.css'
import { TileFrame } from './tile-frame.tsx'

export interface BoardProps {
  readonly tiles: readonly Tile[]
  readonly shared: Shared
  readonly isLastOpen: boolean
  readonly every?: number | undefined
  readonly isAskedAnyway?: boolean
}

export const inReadingOrder = (tiles: readonly Tile[]): Tile[] =>
  [...tiles].sort((a, b) => a.y - b.y || a.x - b.x)

/** The tiles of a dashboard on their grid; on a phone below each other. */
export function Board({ tiles, shared, isLastOpen, every, isAskedAnyway = false }: BoardProps) {
  return (
    <div className={styles.board}>
      {inReadingOrder(tiles).map((tile) => (
        <div
          key={tile.id}
          className={styles.place}
          data-small={tile.kind === 'query' && tile.view === 'number'}
          style={
            {
              '--column': `${tile.x + 1} / span ${tile.w}`,
              '--row': `${tile.y + 1} / span ${tile.h}`,
            } as React.CSSProperties
          }
        >
          <TileFrame
            tile={tile}
            shared={shared}
            isLastOpen={isLastOpen}
            every={every}
            isAskedAnyway={isAskedAnyway}
          />
        </div>
      ))}
    </div>
  )
}
