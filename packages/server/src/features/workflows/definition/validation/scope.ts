import type {
  DefinitionFault,
  DefinitionRule,
  WorkflowDefinition,
  WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import { nearestName } from '../../../../platform/text/nearest.ts'
import type { DefinitionGraph } from '../definition-graph.ts'
import type { DefinitionResources } from '../definition-resources.ts'
import { faultOf } from '../fault.ts'

/** What every check reads. */
export interface Scope {
  readonly definition: WorkflowDefinition
  readonly graph: DefinitionGraph
  readonly resources: DefinitionResources
}

export type Faults = Generator<DefinitionFault, void, undefined>

/** A fault of a node; the message follows `Node "n1" (image): `. */
export function faultOfNode(
  rule: DefinitionRule,
  id: string,
  node: WorkflowNode,
  field: string,
  message: string,
): DefinitionFault {
  return faultOf(rule, 'nodes', id, field, message, node.type)
}

const maxListed = 10

/** `; did you mean "price"?`, or what there is to choose from. */
export function hintOf(name: string, known: Iterable<string>): string {
  const names = [...known]
  const nearest = nearestName(name, names)
  if (nearest !== undefined) return `; did you mean "${nearest}"?`
  if (names.length === 0) return ''
  const listed = names.slice(0, maxListed).map((each) => `"${each}"`)
  return `; there ${names.length === 1 ? 'is' : 'are'} ${listed.join(', ')}${names.length > maxListed ? ' and more' : ''}`
}
