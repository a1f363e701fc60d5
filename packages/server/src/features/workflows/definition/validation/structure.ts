import {
  channelFormats,
  definitionLimits,
  type Edge,
  formatOutputs,
  nodeCategories,
  type OutputKind,
  type WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { countPaths, ownOutputs } from '../definition-graph.ts'
import { faultOf } from '../fault.ts'
import { type Faults, faultOfNode, type Scope } from './scope.ts'

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
    const formats: readonly string[] = channelFormats[type]
    if (!formats.includes(format))
      yield faultOf(
        'entrypoint',
        'entrypoints',
        id,
        'format',
        `${type} has no format ${format}; it has ${formats.join(', ')}`,
      )
    if (Object.hasOwn(definition.nodes, id))
      yield faultOf('entrypoint', 'entrypoints', id, '', 'a node has the same id; give it another one')
  }
}

function* checkEdge({ definition }: Scope, id: string, { from, to }: Edge): Faults {
  const isNode = (vertex: string) => Object.hasOwn(definition.nodes, vertex)
  const isEntrypoint = (vertex: string) => Object.hasOwn(definition.entrypoints, vertex)
  if (!isNode(from) && !isEntrypoint(from))
    yield faultOf(
      'edges',
      'edges',
      id,
      'from',
      `comes from "${from}", which does not exist${hintOf(from, [...Object.keys(definition.entrypoints), ...Object.keys(definition.nodes)])}`,
    )
  if (isNode(to)) return
  yield isEntrypoint(to)
    ? faultOf('edges', 'edges', id, 'to', `leads to the entrypoint "${to}"; entrypoints only begin ways`)
    : faultOf(
        'edges',
        'edges',
        id,
        'to',
        `leads to "${to}", which does not exist${hintOf(to, Object.keys(definition.nodes))}`,
      )
}

/** The outputs of a logic node; undefined where the experiment that decides them does not exist. */
function outputsOf(node: WorkflowNode, { resources }: Scope): readonly string[] | undefined {
  if (node.type !== 'experiment') return ownOutputs(node)
  return resources.experiments.get(node.experimentId)?.variants.map(({ id }) => id)
}

type Leaving = readonly (readonly [string, Edge])[]

function* checkSingleEdge(leaving: Leaving, what: (message: string) => ReturnType<typeof faultOf>): Faults {
  if (leaving.length === 0) yield what('leads nowhere; add the edge to its next node')
  if (leaving.length > 1)
    yield what(`has ${leaving.length} edges (${quoted(leaving.map(([id]) => id))}); only one may lead on`)
  for (const [id, { output }] of leaving) {
    if (output !== undefined)
      yield faultOf('edges', 'edges', id, 'output', `only logic nodes have outputs; leave out "${output}"`)
  }
}

function* checkOutputs(scope: Scope, id: string, node: WorkflowNode, leaving: Leaving): Faults {
  const outputs = outputsOf(node, scope)
  if (!outputs) return
  for (const [edgeId, { output }] of leaving) {
    if (output === undefined)
      yield faultOf('edges', 'edges', edgeId, 'output', `must name an output of "${id}": ${quoted(outputs)}`)
    else if (!outputs.includes(output))
      yield faultOf(
        'edges',
        'edges',
        edgeId,
        'output',
        `"${id}" has no output "${output}"${hintOf(output, outputs)}`,
      )
  }
  for (const output of new Set(outputs)) {
    const taken = leaving.filter(([, edge]) => edge.output === output).map(([edgeId]) => edgeId)
    if (taken.length === 0)
      yield faultOfNode(
        'edges',
        id,
        node,
        '',
        `its output "${output}" leads nowhere; add the edge to its next node`,
      )
    if (taken.length > 1)
      yield faultOfNode(
        'edges',
        id,
        node,
        '',
        `its output "${output}" has several edges (${quoted(taken)}); keep one`,
      )
  }
}

function* checkEdges(scope: Scope): Faults {
  const { definition } = scope
  const leavingFrom = new Map<string, [string, Edge][]>()
  for (const [id, edge] of Object.entries(definition.edges)) {
    yield* checkEdge(scope, id, edge)
    const leaving = leavingFrom.get(edge.from)
    if (leaving) leaving.push([id, edge])
    else leavingFrom.set(edge.from, [[id, edge]])
  }
  for (const id of Object.keys(definition.entrypoints))
    yield* checkSingleEdge(leavingFrom.get(id) ?? [], (message) =>
      faultOf('edges', 'entrypoints', id, '', message),
    )
  for (const [id, node] of Object.entries(definition.nodes)) {
    const leaving = leavingFrom.get(id) ?? []
    switch (nodeCategories[node.type]) {
      case 'data':
        yield* checkSingleEdge(leaving, (message) => faultOfNode('edges', id, node, '', message))
        break
      case 'logic':
        yield* checkOutputs(scope, id, node, leaving)
        break
      case 'output':
        if (leaving.length > 0)
          yield faultOfNode(
            'edges',
            id,
            node,
            '',
            `ends its ways and can have no edge that leads on; remove ${quoted(leaving.map(([edgeId]) => edgeId))}`,
          )
        break
    }
  }
}

function* checkWays({ definition, graph }: Scope): Faults {
  for (const cycle of graph.cycles) {
    const [first = ''] = cycle
    const node = graph.nodes.get(first)
    const way = [...cycle, first].join(' → ')
    if (node) yield faultOfNode('cycle', first, node, '', `lies on a cycle, ${way}; remove one of its edges`)
  }
  const reached = new Set(graph.entrypoints.flatMap((entrypoint) => [...graph.reachedFrom(entrypoint)]))
  for (const [id, node] of Object.entries(definition.nodes)) {
    if (!reached.has(id))
      yield faultOfNode('unreachable', id, node, '', 'no entrypoint leads to it; add an edge or remove it')
  }
  const { paths, steps } = countPaths(graph)
  if (paths > definitionLimits.paths)
    yield {
      path: 'edges',
      rule: 'paths',
      message: `The definition has more than ${definitionLimits.paths} paths from an entrypoint to an output; use fewer logic nodes one after the other`,
    }
  else if (steps > definitionLimits.steps)
    yield {
      path: 'edges',
      rule: 'paths',
      message: `The paths of the definition have ${steps} steps together, and at most ${definitionLimits.steps} are allowed; use fewer nodes before the branches`,
    }
}

function* checkFormats({ definition, graph }: Scope): Faults {
  for (const [entrypointId, { format }] of Object.entries(definition.entrypoints)) {
    const kinds: readonly string[] = formatOutputs[format]
    for (const id of graph.reachedFrom(entrypointId)) {
      const node = graph.nodes.get(id)
      if (!node || nodeCategories[node.type] !== 'output' || kinds.includes(node.type as OutputKind)) continue
      const message = `entrypoint "${entrypointId}" leads to it, and its format ${format} delivers ${kinds.join(', ')} only`
      yield { ...faultOfNode('format', id, node, 'type', message), entrypointId }
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
