import type { Dashboard, Tile } from '../../tiles/tile.ts'

export type Content = Pick<
  Dashboard,
  'name' | 'description' | 'resourceGroupIds' | 'tiles' | 'filters' | 'range' | 'comparison'
>

export interface Differences {
  readonly added: readonly Tile[]
  readonly removed: readonly Tile[]
  /** Their content or title is another one. */
  readonly changed: readonly Tile[]
  readonly areMoved: boolean
  readonly name: string | undefined
  readonly isSharedChanged: boolean
}

export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Key order of objects that travelled through the service is not that of this page. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, inner]) => [key, sorted(inner)]),
        )
      : value

const contentOf = ({ id: _, x: _x, y: _y, w: _w, h: _h, ...content }: Tile) => sorted(content)
const placeOf = ({ x, y, w, h }: Tile) => [x, y, w, h]
const sharedOf = ({ description, resourceGroupIds, filters, range, comparison }: Content) =>
  sorted([description, [...resourceGroupIds].sort(), filters, range, comparison])

/** What one has made of another. */
export function differencesOf(before: Content, after: Content): Differences {
  const old = new Map(before.tiles.map((tile) => [tile.id, tile]))
  const kept = after.tiles.flatMap((tile) => {
    const was = old.get(tile.id)
    return was ? [{ tile, was }] : []
  })
  return {
    added: after.tiles.filter(({ id }) => !old.has(id)),
    removed: before.tiles.filter(({ id }) => !after.tiles.some((tile) => tile.id === id)),
    changed: kept.flatMap(({ tile, was }) => (same(contentOf(tile), contentOf(was)) ? [] : [tile])),
    areMoved: kept.some(({ tile, was }) => !same(placeOf(tile), placeOf(was))),
    name: after.name === before.name ? undefined : after.name,
    isSharedChanged: !same(sharedOf(before), sharedOf(after)),
  }
}

export const isDifferent = (before: Content, after: Content): boolean => {
  const { added, removed, changed, areMoved, name, isSharedChanged } = differencesOf(before, after)
  return (
    added.length + removed.length + changed.length > 0 || areMoved || name !== undefined || isSharedChanged
  )
}
