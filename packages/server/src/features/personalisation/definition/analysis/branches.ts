import { createHash } from 'node:crypto'
import { definitionLimits, nodeCategories } from '@millrace/contract/resources/workflow-definition.ts'
import type { OutputKind } from '@millrace/contract/resources/workflow-entrypoint.ts'
import type { BranchInfo } from '@millrace/contract/resources/workflow-version.ts'
import { countPaths } from '../definition-graph.ts'
import { logicKindOf } from '../nodes/nodes.ts'
import type { DefinitionGraph, GraphEdge } from '../scope.ts'

/** One way from the node that entrypoints lead to down to an output node. */
export interface Branch {
  readonly id: string
  readonly steps: BranchInfo['steps']
  /** Those between the steps, from above. */
  readonly edges: readonly GraphEdge[]
  /** Edges from entrypoints to the first step, in the order of zones. */
  readonly entries: readonly GraphEdge[]
  readonly outputNodeId: string
  readonly outputType: OutputKind
  /** Takes the `default` of every logic node that has one; so does a branch that meets none. */
  readonly isDefault: boolean
  /** Takes some `default`, and no other output of a node that has one: what is shown when nothing matches. */
  readonly isFallback: boolean
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24)

type Step = Branch['steps'][number]

/** A step with its text in what the id of a branch is made of. Many branches share a step. */
interface WrittenStep {
  readonly step: Step
  readonly text: string
}

function written(node: string, output?: string): WrittenStep {
  if (output === undefined) return { step: { node }, text: JSON.stringify([node]) }
  return { step: { node, output }, text: JSON.stringify([node, output]) }
}

/** A path is an entrypoint with a branch. */
export const pathIdOf = (entrypointId: string, branchId: string): string =>
  digest(`${entrypointId} ${branchId}`)

/** Of parallel edges, which only a draft can have, the first stands for all. */
function distinctEdges(edges: readonly GraphEdge[]): GraphEdge[] {
  const seen = new Set<string>()
  return edges.filter(({ to, output }) => {
    const key = `${to} ${output ?? ''}`
    return !seen.has(key) && seen.add(key)
  })
}

/**
 * Every branch, in the order of zones and then of outputs. None where the definition has a cycle, or more paths or
 * steps than it may: a draft can be either.
 */
export function listBranches(graph: DefinitionGraph): Branch[] {
  const { paths, steps } = countPaths(graph)
  if (paths > definitionLimits.paths || steps > definitionLimits.steps) return []
  const entries = graph.entrypoints.flatMap((entrypoint) => distinctEdges(graph.outgoing(entrypoint)))
  const entriesTo = Map.groupBy(entries, ({ to }) => to)
  const onward = new Map<string, GraphEdge[]>()
  const edgesFrom = (node: string): GraphEdge[] => {
    const known = onward.get(node)
    if (known) return known
    // A way that ends in no output, as drafts have them, is followed by none.
    const leading = distinctEdges(graph.outgoing(node)).filter(({ to }) => leadsToOutput.has(to))
    onward.set(node, leading)
    return leading
  }
  const leadsToOutput = new Set<string>()
  for (const vertex of graph.order.toReversed()) {
    const node = graph.nodes.get(vertex)
    if (!node) continue
    if (
      nodeCategories[node.type] === 'output' ||
      graph.outgoing(vertex).some(({ to }) => leadsToOutput.has(to))
    )
      leadsToOutput.add(vertex)
  }

  /** A group or variant may be called `default` too, and is not what is taken without a match. */
  const hasDefault = (nodeId: string): boolean => logicKindOf(graph.nodes.get(nodeId))?.hasDefault ?? false
  const known = new Map<GraphEdge, WrittenStep>()
  const stepOf = (edge: GraphEdge): WrittenStep => {
    const step = known.get(edge) ?? written(edge.from, edge.output)
    known.set(edge, step)
    return step
  }
  const branches: Branch[] = []
  const takenSteps: WrittenStep[] = []
  const walk = (
    nodeId: string,
    taken: GraphEdge[],
    isDefault: boolean,
    entries: readonly GraphEdge[],
  ): void => {
    const node = graph.nodes.get(nodeId)
    if (!node) return
    if (nodeCategories[node.type] === 'output') {
      const steps = [...takenSteps, written(nodeId)]
      branches.push({
        // The first 24 hexadecimal digits of SHA-256 over the steps as JSON: [["node","output"],["node"]].
        id: digest(`[${steps.map(({ text }) => text).join(',')}]`),
        steps: steps.map(({ step }) => step),
        edges: [...taken],
        entries,
        outputNodeId: nodeId,
        outputType: node.type as OutputKind,
        isDefault,
        isFallback: isDefault && taken.some((edge) => edge.output === 'default' && hasDefault(edge.from)),
      })
      return
    }
    const mayFallBack = hasDefault(nodeId)
    for (const edge of edgesFrom(nodeId)) {
      taken.push(edge)
      takenSteps.push(stepOf(edge))
      walk(edge.to, taken, isDefault && (!mayFallBack || edge.output === 'default'), entries)
      taken.pop()
      takenSteps.pop()
    }
  }
  for (const [first, leading] of entriesTo) walk(first, [], true, leading)
  return branches
}
