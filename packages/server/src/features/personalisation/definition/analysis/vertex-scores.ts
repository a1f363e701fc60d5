import type { Binding } from '@millrace/contract/resources/workflow-definition.ts'
import type { AnalyzeOverrides } from '@millrace/contract/resources/workflow-version.ts'
import { isReference } from '../bindings.ts'
import { bindingsOf, dataKindOf, kindOf } from '../nodes/nodes.ts'
import type { DefinitionGraph } from '../scope.ts'

/** A vertex is a node or, of a logic node, one of its outputs. */
export const vertexOf = (node: string, output?: string): string =>
  output === undefined ? node : `${node}:${output}`

/**
 * How much each vertex makes a branch individual (docs/workflows.md, Scores), corrections applied.
 * @returns the score of a node or of one of its outputs
 */
export function vertexScores(
  graph: DefinitionGraph,
  { vertexIndividualizedScore }: Pick<AnalyzeOverrides, 'vertexIndividualizedScore'>,
): (node: string, output?: string) => number {
  /** Nodes that bind a value that depends on the person. */
  const bindingPersonal = new Set<string>()
  const isPersonal = (binding: Binding): boolean => {
    const node = isReference(binding) ? graph.nodes.get(binding.node) : undefined
    if (!node || !isReference(binding)) return false
    return dataKindOf(node)?.isPersonal?.(node, binding.field, bindingPersonal.has(binding.node)) ?? false
  }
  for (const id of graph.order) {
    const node = graph.nodes.get(id)
    if (node && bindingsOf(node).some(({ binding }) => isPersonal(binding))) bindingPersonal.add(id)
  }

  const corrections = new Map(Object.entries(vertexIndividualizedScore))
  const known = new Map<string, number>()
  return (id, output) => {
    const vertex = vertexOf(id, output)
    let score = known.get(vertex)
    if (score === undefined) {
      const ofNode = output === 'default' ? undefined : corrections.get(id)
      const node = graph.nodes.get(id)
      const derived = () => node && kindOf(node).scoreOf?.(node, output, bindingPersonal.has(id))
      score = corrections.get(vertex) ?? ofNode ?? derived() ?? 0
      known.set(vertex, score)
    }
    return score
  }
}
