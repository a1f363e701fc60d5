import { definitionLimits, type Edge } from '@millrace/contract/resources/workflow-definition.ts'
import type { AnalyzeOverrides } from '@millrace/contract/resources/workflow-version.ts'
import type { DefinitionResources } from '../definition-resources.ts'
import { logicKindOf, outputsOf } from '../nodes/nodes.ts'
import type { DefinitionGraph, GraphEdge } from '../scope.ts'
import type { Branch } from './branches.ts'
import { vertexOf } from './vertex-scores.ts'

/** Its edges from below; entrypoints that share the branch count last, in the order of zones. */
const upwards = ({ edges, entries }: Branch): GraphEdge[] => [...edges.toReversed(), ...entries]

/** What the most downstream edge of a branch that says something says. */
export function mostDownstream<T>(branch: Branch, read: (edge: Edge) => T | undefined): T | undefined {
  for (const edge of upwards(branch)) {
    const found = read(edge)
    if (found !== undefined) return found
  }
  return undefined
}

interface Tag {
  readonly tagKeyId: string
  readonly tagValueId: string
  /** Brought by the variant of an experiment, not by hand. */
  readonly isSystem: boolean
}

/** The tags that each step of a branch brings, the most downstream first. */
function* tagsUpwards(
  branch: Branch,
  graph: DefinitionGraph,
  resources: DefinitionResources,
): Generator<Tag> {
  for (const edge of upwards(branch)) {
    for (const tag of edge.tags ?? []) yield { ...tag, isSystem: false }
    const node = graph.nodes.get(edge.from)
    const brought = node && logicKindOf(node)?.tagOf?.(node, edge.output, resources)
    if (brought) yield { ...brought, isSystem: true }
  }
}

/** Whether users may assign the tag; a value that was deleted since is none. */
export function isAssignable(
  { tagKeys }: DefinitionResources,
  { tagKeyId, tagValueId }: Omit<Tag, 'isSystem'>,
): boolean {
  const key = tagKeys.get(tagKeyId)
  return key?.assignmentMode === 'custom' && key.valueIds.has(tagValueId)
}

/**
 * Values by key: of a key with one value the most downstream, of the others all, the most downstream last; at most
 * `tagsPerBranch`.
 */
export function tagsOfBranch(
  branch: Branch,
  graph: DefinitionGraph,
  resources: DefinitionResources,
): Map<string, string[]> {
  const values = new Map<string, string[]>()
  let count = 0
  for (const { tagKeyId, tagValueId, isSystem } of tagsUpwards(branch, graph, resources)) {
    const key = resources.tagKeys.get(tagKeyId)
    if (!isSystem && !isAssignable(resources, { tagKeyId, tagValueId })) continue
    const known = values.get(tagKeyId)
    if (known && (key?.cardinality === 'single' || known.includes(tagValueId))) continue
    if (++count > definitionLimits.tagsPerBranch) break
    if (known) known.unshift(tagValueId)
    else values.set(tagKeyId, [tagValueId])
  }
  return values
}

const maxNameLength = 300

/** Names of vertices: the corrections', else those of outputs and nodes. */
export function vertexNames(
  graph: DefinitionGraph,
  { customVertexNames }: Pick<AnalyzeOverrides, 'customVertexNames'>,
  resources: DefinitionResources,
): (node: string, output?: string) => string {
  const custom = new Map(customVertexNames.map(({ vertexId, name }) => [vertexId, name]))
  return (id, output) => {
    const given = custom.get(vertexOf(id, output))
    if (given !== undefined) return given
    const node = graph.nodes.get(id)
    if (output === undefined) return node?.name ?? id
    const name = node && outputsOf(node, resources)?.find((each) => each.id === output)?.name
    // Where the definition names its outputs itself, a name is of this node alone.
    if (name !== undefined && !logicKindOf(node)?.foreignOutputsOf) return name
    return `${node?.name ?? id}: ${name ?? output}`
  }
}

/** The name of the most downstream named edge, else the outputs that are taken, else the output node. */
export function nameOfBranch(branch: Branch, nameOf: ReturnType<typeof vertexNames>): string {
  const given = mostDownstream(branch, ({ name }) => name)
  if (given !== undefined) return given
  const taken = branch.steps.filter(({ output }) => output !== undefined)
  const steps = taken.length > 0 ? taken : [{ node: branch.outputNodeId }]
  let name = ''
  for (const { node, output } of steps) {
    if (name.length > maxNameLength) break
    name = name === '' ? nameOf(node, output) : `${name} / ${nameOf(node, output)}`
  }
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength - 3)}...` : name
}
