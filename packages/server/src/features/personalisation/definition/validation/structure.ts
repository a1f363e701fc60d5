import {
  definitionLimits,
  type Edge,
  nodeCategories,
  type WorkflowDefinition,
} from '@millrace/contract/resources/workflow-definition.ts'
import {
  channelFormats,
  formatOutputs,
  type OutputKind,
} from '@millrace/contract/resources/workflow-entrypoint.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { countPaths } from '../definition-graph.ts'
import { outputsOf } from '../nodes/nodes.ts'
import { type FaultAt, type Faults, faultsAt, type Scope } from '../scope.ts'

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')

function* checkEntrypoints({ definition }: Scope): Faults {
  const entrypoints = Object.entries(definition.entrypoints)
  if (entrypoints.length === 0)
    yield {
      path: 'entrypoints',
      rule: 'entrypoint',
      message: 'The definition has no entrypoint; add a channel',
    }
  for (const [id, { type, format }] of entrypoints) {
    const at = faultsAt('entrypoints', id)
    const formats: readonly string[] = channelFormats[type]
    if (!formats.includes(format))
      yield at('entrypoint', 'format', `${type} has no format ${format}; it has ${formats.join(', ')}`)
    if (Object.hasOwn(definition.nodes, id))
      yield at('entrypoint', '', 'a node has the same id; give it another one')
  }
}

function* checkEdge({ nodes, entrypoints }: WorkflowDefinition, id: string, { from, to }: Edge): Faults {
  const at = faultsAt('edges', id)
  const isEntrypoint = (vertex: string) => Object.hasOwn(entrypoints, vertex)
  if (!Object.hasOwn(nodes, from) && !isEntrypoint(from)) {
    const hint = hintOf(from, [...Object.keys(entrypoints), ...Object.keys(nodes)])
    yield at('edges', 'from', `comes from "${from}", which does not exist${hint}`)
  }
  if (Object.hasOwn(nodes, to)) return
  yield at(
    'edges',
    'to',
    isEntrypoint(to)
      ? `leads to the entrypoint "${to}"; entrypoints only begin ways`
      : `leads to "${to}", which does not exist${hintOf(to, Object.keys(nodes))}`,
  )
}

type Leaving = readonly (readonly [string, Edge])[]

function* checkSingleEdge(leaving: Leaving, at: FaultAt): Faults {
  if (leaving.length === 0) yield at('edges', '', 'leads nowhere; add the edge to its next node')
  if (leaving.length > 1) {
    const ids = quoted(leaving.map(([id]) => id))
    yield at('edges', '', `has ${leaving.length} edges (${ids}); only one may lead on`)
  }
  for (const [id, { output }] of leaving) {
    if (output !== undefined)
      yield faultsAt('edges', id)('edges', 'output', `only logic nodes have outputs; leave out "${output}"`)
  }
}

function* checkOutputs(id: string, outputs: readonly string[], leaving: Leaving, at: FaultAt): Faults {
  for (const [edgeId, { output }] of leaving) {
    if (output !== undefined && outputs.includes(output)) continue
    const message =
      output === undefined
        ? `must name an output of "${id}": ${quoted(outputs)}`
        : `"${id}" has no output "${output}"${hintOf(output, outputs)}`
    yield faultsAt('edges', edgeId)('edges', 'output', message)
  }
  for (const output of new Set(outputs)) {
    const taken = leaving.filter(([, edge]) => edge.output === output).map(([edgeId]) => edgeId)
    if (taken.length === 0)
      yield at('edges', '', `its output "${output}" leads nowhere; add the edge to its next node`)
    if (taken.length > 1)
      yield at('edges', '', `its output "${output}" has several edges (${quoted(taken)}); keep one`)
  }
}

function* checkEdges({ definition, resources }: Scope): Faults {
  const leavingFrom = Map.groupBy(Object.entries(definition.edges), ([, { from }]) => from)
  for (const [id, edge] of Object.entries(definition.edges)) yield* checkEdge(definition, id, edge)
  for (const id of Object.keys(definition.entrypoints))
    yield* checkSingleEdge(leavingFrom.get(id) ?? [], faultsAt('entrypoints', id))
  for (const [id, node] of Object.entries(definition.nodes)) {
    const leaving = leavingFrom.get(id) ?? []
    const at = faultsAt('nodes', id, node.type)
    const category = nodeCategories[node.type]
    if (category === 'data') yield* checkSingleEdge(leaving, at)
    if (category === 'logic') {
      const outputs = outputsOf(node, resources)
      if (outputs)
        yield* checkOutputs(
          id,
          outputs.map((output) => output.id),
          leaving,
          at,
        )
    }
    if (category === 'output' && leaving.length > 0) {
      const ids = quoted(leaving.map(([edgeId]) => edgeId))
      yield at('edges', '', `ends its ways and can have no edge that leads on; remove ${ids}`)
    }
  }
}

function* checkWays({ definition, graph }: Scope): Faults {
  for (const cycle of graph.cycles) {
    const [first = ''] = cycle
    const node = graph.nodes.get(first)
    const way = [...cycle, first].join(' → ')
    if (node)
      yield faultsAt('nodes', first, node.type)(
        'cycle',
        '',
        `lies on a cycle, ${way}; remove one of its edges`,
      )
  }
  const reached = new Set(graph.entrypoints.flatMap((entrypoint) => [...graph.reachedFrom(entrypoint)]))
  for (const [id, node] of Object.entries(definition.nodes)) {
    if (reached.has(id)) continue
    const message = 'no entrypoint leads to it; add an edge or remove it'
    yield faultsAt('nodes', id, node.type)('unreachable', '', message)
  }
  const { paths, steps } = countPaths(graph)
  const message =
    paths > definitionLimits.paths
      ? `The definition has more than ${definitionLimits.paths} paths from an entrypoint to an output; use fewer logic nodes one after the other`
      : `The paths of the definition have ${steps} steps together, and at most ${definitionLimits.steps} are allowed; use fewer nodes before the branches`
  if (paths > definitionLimits.paths || steps > definitionLimits.steps)
    yield { path: 'edges', rule: 'paths', message }
}

function* checkFormats({ definition, graph }: Scope): Faults {
  for (const [entrypointId, { format }] of Object.entries(definition.entrypoints)) {
    const kinds: readonly string[] = formatOutputs[format]
    for (const id of graph.reachedFrom(entrypointId)) {
      const node = graph.nodes.get(id)
      if (!node || nodeCategories[node.type] !== 'output' || kinds.includes(node.type as OutputKind)) continue
      const message = `entrypoint "${entrypointId}" leads to it, and its format ${format} delivers ${kinds.join(', ')} only`
      yield { ...faultsAt('nodes', id, node.type)('format', 'type', message), entrypointId }
    }
  }
}

/** How entrypoints, nodes and edges hang together. */
export function* checkStructure(scope: Scope): Faults {
  yield* checkEntrypoints(scope)
  yield* checkEdges(scope)
  yield* checkWays(scope)
  yield* checkFormats(scope)
}
