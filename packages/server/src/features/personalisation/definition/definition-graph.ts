import { nodeCategories, type WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import { zoneOrder } from '@millrace/contract/resources/workflow-entrypoint.ts'
import type { DefinitionResources } from './definition-resources.ts'
import { kindOf, logicKindOf } from './nodes/nodes.ts'
import type { DefinitionGraph, GraphEdge } from './scope.ts'

const maxCycles = 10

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Kahn's algorithm; what it leaves over lies on a cycle or behind one. */
function topologicalOrder(
  vertices: readonly string[],
  outgoing: ReadonlyMap<string, readonly GraphEdge[]>,
  without: ReadonlySet<string>,
): { order: string[]; left: Set<string> } {
  const waiting = new Map(vertices.map((vertex) => [vertex, 0]))
  for (const edges of outgoing.values()) {
    for (const { id, to } of edges) if (!without.has(id)) waiting.set(to, (waiting.get(to) ?? 0) + 1)
  }
  const order = vertices.filter((vertex) => waiting.get(vertex) === 0)
  for (let i = 0; i < order.length; i++) {
    for (const { id, to } of outgoing.get(order[i] as string) ?? []) {
      if (without.has(id)) continue
      const count = (waiting.get(to) ?? 0) - 1
      waiting.set(to, count)
      if (count === 0) order.push(to)
    }
  }
  const done = new Set(order)
  return { order, left: new Set(vertices.filter((vertex) => !done.has(vertex))) }
}

/** One cycle among vertices of which each has a predecessor there, as the edges that make it. */
function someCycle(
  left: ReadonlySet<string>,
  incoming: ReadonlyMap<string, readonly GraphEdge[]>,
  without: ReadonlySet<string>,
): GraphEdge[] {
  const walked: GraphEdge[] = []
  const placeOf = new Map<string, number>()
  let [vertex] = [...left].sort(compare)
  while (vertex !== undefined && !placeOf.has(vertex)) {
    placeOf.set(vertex, walked.length)
    const edge = (incoming.get(vertex) ?? []).find(({ id, from }) => left.has(from) && !without.has(id))
    if (!edge) return []
    walked.push(edge)
    vertex = edge.from
  }
  return walked.slice(placeOf.get(vertex as string)).reverse()
}

/** From its smallest vertex, so that it reads the same whatever the walk began with. */
function rotated(cycle: readonly GraphEdge[]): string[] {
  const vertices = cycle.map(({ from }) => from)
  const first = vertices.indexOf([...vertices].sort(compare)[0] as string)
  return [...vertices.slice(first), ...vertices.slice(0, first)]
}

/** Immediate dominators by one walk in topological order (Cooper, Harvey, Kennedy); entrypoints hang on one root. */
function immediateDominators(
  entrypoints: readonly string[],
  order: readonly string[],
  incoming: ReadonlyMap<string, readonly GraphEdge[]>,
): Map<string, { readonly above: string | undefined; readonly depth: number }> {
  const found = new Map<string, { above: string | undefined; depth: number }>()
  const meet = (a: string | undefined, b: string | undefined): string | undefined => {
    let [left, right] = [a, b]
    while (left !== right) {
      const depthLeft = left === undefined ? 0 : (found.get(left)?.depth ?? 0)
      const depthRight = right === undefined ? 0 : (found.get(right)?.depth ?? 0)
      if (depthLeft >= depthRight && left !== undefined) left = found.get(left)?.above
      else if (right !== undefined) right = found.get(right)?.above
    }
    return left
  }
  const roots = new Set(entrypoints)
  for (const vertex of order) {
    if (roots.has(vertex)) {
      found.set(vertex, { above: undefined, depth: 1 })
      continue
    }
    // What no entrypoint reaches has no part in the ways to others.
    const before = (incoming.get(vertex) ?? []).filter(({ from }) => found.has(from))
    const [first] = before
    if (!first) continue
    const above = before.reduce<string | undefined>((nearest, { from }) => meet(nearest, from), first.from)
    found.set(vertex, {
      above,
      depth: 1 + (above === undefined ? 0 : (found.get(above)?.depth ?? 0)),
    })
  }
  return found
}

export function graphOf(definition: WorkflowDefinition): DefinitionGraph {
  const nodes = new Map(Object.entries(definition.nodes))
  const entrypoints = zoneOrder(definition.entrypoints)
  const vertices = [...new Set([...entrypoints, ...[...nodes.keys()].sort(compare)])]
  const known = new Set(vertices)
  const edges = Object.entries(definition.edges)
    .map(([id, edge]) => ({ id, ...edge }))
    .filter(({ from, to }) => known.has(from) && nodes.has(to))
    .sort((a, b) => compare(a.id, b.id))
  const outgoing = Map.groupBy(edges, ({ from }) => from)
  const incoming = Map.groupBy(edges, ({ to }) => to)
  for (const [from, leaving] of outgoing) {
    const node = nodes.get(from)
    const outputs = (node && logicKindOf(node)?.outputsOf(node)) ?? []
    const placeOf = new Map(outputs.map(({ id }, place) => [id, place]))
    const place = ({ output }: GraphEdge) => placeOf.get(output ?? '') ?? placeOf.size
    leaving.sort((a, b) => place(a) - place(b) || compare(a.output ?? '', b.output ?? ''))
  }

  const cycles: string[][] = []
  const cut = new Set<string>()
  let { order, left } = topologicalOrder(vertices, outgoing, cut)
  while (left.size > 0 && cycles.length < maxCycles) {
    const cycle = someCycle(left, incoming, cut)
    const last = cycle.at(-1)
    if (!last) break
    cycles.push(rotated(cycle))
    cut.add(last.id)
    left = topologicalOrder(vertices, outgoing, cut).left
  }
  if (cycles.length > 0) order = []

  const dominators = immediateDominators(entrypoints, order, incoming)
  const reached = new Map<string, ReadonlySet<string>>()
  const dominatorsOf = (vertex: string): string[] => {
    const above: string[] = []
    let next = dominators.get(vertex)?.above
    while (next !== undefined) {
      if (nodes.has(next)) above.push(next)
      next = dominators.get(next)?.above
    }
    return above
  }
  return {
    nodes,
    entrypoints,
    outgoing: (vertex) => outgoing.get(vertex) ?? [],
    incoming: (vertex) => incoming.get(vertex) ?? [],
    cycles,
    order,
    dominatorsOf,
    reachedFrom(vertex) {
      const before = reached.get(vertex)
      if (before) return before
      const found = new Set([vertex])
      // A set is walked while it grows.
      for (const each of found) for (const { to } of outgoing.get(each) ?? []) found.add(to)
      reached.set(vertex, found)
      return found
    },
  }
}

/** Ways from the entrypoints to output nodes and the steps of them all, counted without listing them. */
export function countPaths(graph: DefinitionGraph): { paths: number; steps: number } {
  const from = new Map<string, { paths: number; steps: number }>()
  for (const vertex of graph.order.toReversed()) {
    const node = graph.nodes.get(vertex)
    if (node && nodeCategories[node.type] === 'output') {
      from.set(vertex, { paths: 1, steps: 1 })
      continue
    }
    let paths = 0
    let steps = 0
    for (const { to } of graph.outgoing(vertex)) {
      const onward = from.get(to)
      paths += onward?.paths ?? 0
      steps += onward?.steps ?? 0
    }
    from.set(vertex, { paths, steps: node ? steps + paths : steps })
  }
  let paths = 0
  let steps = 0
  for (const entrypoint of graph.entrypoints) {
    paths += from.get(entrypoint)?.paths ?? 0
    steps += from.get(entrypoint)?.steps ?? 0
  }
  return { paths, steps }
}

/** The definition with what follows from names written out, as the published version has it. */
export function withAutomaticBindings(
  definition: WorkflowDefinition,
  resources: DefinitionResources,
): WorkflowDefinition {
  const graph = graphOf(definition)
  const nodes = Object.entries(definition.nodes).map(([id, node]) => [
    id,
    kindOf(node).completed?.(node, id, graph, resources) ?? node,
  ])
  return { ...definition, nodes: Object.fromEntries(nodes) }
}
