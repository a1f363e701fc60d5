import { columns, maxTileRows, type Place } from './tile.ts'

const meet = (a: Place, b: Place): boolean =>
  a.id !== b.id && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

/** As high up as the tiles that are placed allow. */
function rise<P extends Place>(place: P, placed: readonly P[]): P {
  let y = 0
  while (placed.some((each) => meet({ ...place, y }, each))) y++
  return { ...place, y }
}

/** Every tile as high up as it goes, in their order. @param first the id of the one that goes before others of its row */
export function compact<P extends Place>(places: readonly P[], first?: string): P[] {
  const placed: P[] = []
  const ordered = [...places].sort(
    (a, b) => a.y - b.y || Number(b.id === first) - Number(a.id === first) || a.x - b.x,
  )
  for (const place of ordered) placed.push(rise(place, placed))
  return places.map((place) => placed.find(({ id }) => id === place.id) ?? place)
}

const replaced = <P extends Place>(places: readonly P[], changed: P): P[] =>
  places.map((place) => (place.id === changed.id ? changed : place))

const same = (a: readonly Place[], b: readonly Place[]): boolean =>
  a.every(
    (place, i) => place.x === b[i]?.x && place.y === b[i]?.y && place.w === b[i]?.w && place.h === b[i]?.h,
  )

export const rowsOf = (places: readonly Place[]): number => Math.max(0, ...places.map(({ y, h }) => y + h))

/** Moves a tile until the layout is another one: beside the next one, or past it. */
export function moveBy<P extends Place>(places: readonly P[], id: string, dx: number, dy: number): P[] {
  const tile = places.find((each) => each.id === id)
  if (!tile) return [...places]
  for (let step = 1; step <= Math.max(columns, rowsOf(places)); step++) {
    const x = Math.min(Math.max(tile.x + dx * step, 0), columns - tile.w)
    const y = Math.max(tile.y + dy * step, 0)
    const next = compact(replaced(places, { ...tile, x, y }), dy > 0 ? undefined : id)
    if (!same(next, places)) return next
  }
  return [...places]
}

export function sizeBy<P extends Place>(places: readonly P[], id: string, dw: number, dh: number): P[] {
  const tile = places.find((each) => each.id === id)
  if (!tile) return [...places]
  const w = Math.min(Math.max(tile.w + dw, 1), columns - tile.x)
  const h = Math.min(Math.max(tile.h + dh, 1), maxTileRows)
  return compact(replaced(places, { ...tile, w, h }), id)
}

/** A place below all tiles, or beside the last ones where there is room. */
export function placeFor(places: readonly Place[], size: Pick<Place, 'w' | 'h'>): Omit<Place, 'id'> {
  const rows = rowsOf(places)
  for (let y = Math.max(0, rows - size.h); y <= rows; y++)
    for (let x = 0; x + size.w <= columns; x++) {
      const place = { id: '', x, y, ...size }
      const isFree = !places.some((each) => meet(place, each))
      // Nothing above it is free: it would rise there.
      if (isFree && rise({ ...place, y }, [...places]).y === y) return { x, y, ...size }
    }
  return { x: 0, y: rows, ...size }
}
