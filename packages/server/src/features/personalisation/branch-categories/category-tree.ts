/** A node as it is stored. */
export interface CategoryNode {
  readonly id: string
  readonly name: string
  readonly parentId: string | null
}

export interface PlacedCategory<T extends CategoryNode> {
  readonly category: T
  /** 1 has no parent. */
  readonly level: number
  /** Those right below it, by name. */
  readonly children: readonly T[]
}

/** Each node before those below it, siblings by name, and of equal names by id. */
export function treeOf<T extends CategoryNode>(nodes: readonly T[]): PlacedCategory<T>[] {
  const below = new Map<string | null, T[]>()
  const sorted = nodes.toSorted((a, b) => compare(a.name, b.name) || compare(a.id, b.id))
  for (const node of sorted) {
    const siblings = below.get(node.parentId)
    if (siblings) siblings.push(node)
    else below.set(node.parentId, [node])
  }
  const placed: PlacedCategory<T>[] = []
  const open = (below.get(null) ?? []).map((category) => ({ category, level: 1 })).reverse()
  for (let next = open.pop(); next; next = open.pop()) {
    const { category, level } = next
    const children = below.get(category.id) ?? []
    placed.push({ category, level, children })
    for (const child of children.toReversed()) open.push({ category: child, level: level + 1 })
  }
  return placed
}

const fold = (text: string): string => text.normalize('NFC').toLowerCase()

function compare(a: string, b: string): number {
  const [x, y] = [fold(a), fold(b)]
  if (x !== y) return x < y ? -1 : 1
  return a === b ? 0 : a < b ? -1 : 1
}

/** A node with all below it: in a tree they are the ones that follow it on deeper levels. */
export function branchOf<T extends CategoryNode>(
  tree: readonly PlacedCategory<T>[],
  id: string,
): readonly PlacedCategory<T>[] {
  const from = tree.findIndex(({ category }) => category.id === id)
  const top = tree[from]
  if (!top) return []
  const end = tree.findIndex(({ level }, place) => place > from && level <= top.level)
  return tree.slice(from, end === -1 ? undefined : end)
}
