import type { Binding, WorkflowNode } from '@millrace/contract/resources/workflow-definition.ts'
import type { AnalyzeOverrides } from '@millrace/contract/resources/workflow-version.ts'
import { bindingsOf, isReference } from '../bindings.ts'
import type { DefinitionGraph } from '../definition-graph.ts'

/** A vertex is a node or, of a logic node, one of its outputs. */
export const vertexOf = (node: string, output?: string): string =>
  output === undefined ? node : `${node}:${output}`

/** URL parameters that say where a link was placed, not for whom. */
const impersonalParameters = new Set(['trk-m', 'trk-t', 'trk-referer'])
const isCampaign = (parameter: string): boolean =>
  impersonalParameters.has(parameter) || parameter.startsWith('utm_')

/** Whether what a node gives depends on the person; nodes further up are answered by `of`. */
function isPersonal(node: WorkflowNode, of: (binding: Binding) => boolean): boolean {
  switch (node.type) {
    case 'events':
      return true
    case 'parameter':
      return !isCampaign(node.parameter)
    case 'datasource':
      return node.ordering === 'person' || bindingsOf(node).some(({ binding }) => of(binding))
    case 'transform':
      return bindingsOf(node).some(({ binding }) => of(binding))
    default:
      return false
  }
}

/**
 * How much each vertex makes a branch individual (docs/workflows.md, Scores), corrections applied.
 * @returns the score of a node or of one of its outputs
 */
export function vertexScores(
  graph: DefinitionGraph,
  { vertexIndividualizedScore }: Pick<AnalyzeOverrides, 'vertexIndividualizedScore'>,
): (node: string, output?: string) => number {
  const personal = new Set<string>()
  const of = (binding: Binding): boolean =>
    isReference(binding) &&
    (personal.has(binding.node) ||
      (graph.nodes.get(binding.node)?.type === 'context' && (binding.field ?? '').startsWith('user.')))
  for (const id of graph.order) {
    const node = graph.nodes.get(id)
    if (node && isPersonal(node, of)) personal.add(id)
  }

  const derived = (id: string, output?: string): number => {
    const node = graph.nodes.get(id)
    switch (node?.type) {
      case 'events':
        return 1
      case 'datasource':
        return personal.has(id) ? 1 : 0
      case 'parameter':
        return node.parameter === 'trk-u' || isCampaign(node.parameter) ? 0 : 0.5
      case 'conditions':
        return output !== 'default' && bindingsOf(node).some(({ binding }) => of(binding)) ? 1 : 0
      case 'cohort':
        return output === 'member' ? 1 : 0
      default:
        return 0
    }
  }
  const corrections = new Map(Object.entries(vertexIndividualizedScore))
  const known = new Map<string, number>()
  return (id, output) => {
    const vertex = vertexOf(id, output)
    let score = known.get(vertex)
    if (score === undefined) {
      const ofNode = output === 'default' ? undefined : corrections.get(id)
      score = corrections.get(vertex) ?? ofNode ?? derived(id, output)
      known.set(vertex, score)
    }
    return score
  }
}
