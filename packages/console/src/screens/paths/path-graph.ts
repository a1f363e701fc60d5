import type { Row } from '../../data/statistics.ts'

export type NodeKind = 'step' | 'start' | 'end' | 'rest'

export interface PathNode {
  readonly id: string
  readonly column: number
  readonly kind: NodeKind
  /** Empty where it is no step. */
  readonly name: string
  readonly sessions: number
}

export interface PathLink {
  readonly source: string
  readonly target: string
  readonly sessions: number
}

export interface PathGraph {
  readonly nodes: readonly PathNode[]
  readonly links: readonly PathLink[]
  readonly columns: number
  /** All sessions that were counted: each has one edge of depth 1. */
  readonly sessions: number
}

interface Place {
  readonly column: number
  readonly kind: NodeKind
  readonly name: string
}

const idOf = ({ column, kind, name }: Place) => `${column}/${kind}/${name}`

/**
 * Edges as what a picture draws: columns of steps, the small ones of each column folded into one. Sessions whose edge
 * has no row of its own go on to, or come from, that one too, so that nothing is lost between two columns.
 * @param isBackwards whether the paths lead to a step, and depth 1 is the edge that reaches it
 */
export function pathGraph(rows: readonly Row[], isBackwards: boolean, maxNodes: number): PathGraph {
  const depths = Math.max(0, ...rows.map(({ depth }) => Number(depth)))
  const edges = rows
    .filter(({ kind }) => kind !== 'rest')
    .map((row) => {
      const depth = Number(row.depth)
      const column = isBackwards ? depths - depth : depth - 1
      const place = (at: number, name: Row[string] | undefined, other: NodeKind): Place =>
        typeof name === 'string' ? { column: at, kind: 'step', name } : { column: at, kind: other, name: '' }
      return {
        source: place(column, row.from, 'start'),
        target: place(column + 1, row.to, 'end'),
        sessions: Number(row.sessions),
      }
    })
  const fold = foldingOf(edges, maxNodes)
  const places = new Map<string, Place>()
  const links = new Map<string, { source: string; target: string; sessions: number }>()
  const add = (source: Place, target: Place, sessions: number) => {
    const [from, to] = [idOf(source), idOf(target)]
    places.set(from, source)
    places.set(to, target)
    const link = links.get(`${from}>${to}`) ?? { source: from, target: to, sessions: 0 }
    links.set(`${from}>${to}`, link)
    link.sessions += sessions
  }
  for (const { source, target, sessions } of edges) add(fold(source), fold(target), sessions)
  const sumsOf = () => {
    const sums = new Map<string, { in: number; out: number }>()
    for (const id of places.keys()) sums.set(id, { in: 0, out: 0 })
    for (const { source, target, sessions } of links.values()) {
      const [from, to] = [sums.get(source), sums.get(target)]
      if (from) from.out += sessions
      if (to) to.in += sessions
    }
    return sums
  }
  const rest = (column: number): Place => ({ column, kind: 'rest', name: '' })
  const inOrder = Array.from({ length: depths }, (_, column) => (isBackwards ? depths - column : column))
  for (const column of inOrder) {
    const sums = sumsOf()
    for (const [id, place] of [...places]) {
      if (place.column !== column || place.kind === 'start' || place.kind === 'end') continue
      const { in: came, out: went } = sums.get(id) ?? { in: 0, out: 0 }
      if (!isBackwards && column > 0 && came > went) add(place, rest(column + 1), came - went)
      if (isBackwards && column < depths && went > came) add(rest(column - 1), place, went - came)
    }
  }
  const sums = sumsOf()
  return {
    nodes: [...places].map(([id, place]) => {
      const { in: came, out: went } = sums.get(id) ?? { in: 0, out: 0 }
      return { ...place, id, sessions: Math.max(came, went) }
    }),
    links: [...links.values()],
    columns: depths + 1,
    sessions: rows
      .filter(({ depth }) => Number(depth) === 1)
      .reduce((sum, row) => sum + Number(row.sessions), 0),
  }
}

/** Keeps the greatest steps of each column. */
function foldingOf(
  edges: readonly { readonly source: Place; readonly target: Place; readonly sessions: number }[],
  maxNodes: number,
): (place: Place) => Place {
  const sizes = new Map<number, Map<string, { in: number; out: number }>>()
  const size = ({ column, kind, name }: Place, side: 'in' | 'out', sessions: number) => {
    if (kind !== 'step') return
    const ofColumn = sizes.get(column) ?? new Map<string, { in: number; out: number }>()
    sizes.set(column, ofColumn)
    const sums = ofColumn.get(name) ?? { in: 0, out: 0 }
    ofColumn.set(name, sums)
    sums[side] += sessions
  }
  for (const { source, target, sessions } of edges) {
    size(source, 'out', sessions)
    size(target, 'in', sessions)
  }
  const kept = new Map(
    [...sizes].map(([column, names]) => [
      column,
      new Set(
        [...names]
          .sort(([, a], [, b]) => Math.max(b.in, b.out) - Math.max(a.in, a.out))
          .slice(0, maxNodes)
          .map(([name]) => name),
      ),
    ]),
  )
  return (place) =>
    place.kind !== 'step' || kept.get(place.column)?.has(place.name)
      ? place
      : { column: place.column, kind: 'rest', name: '' }
}
