import type {
  DefinitionFault,
  DefinitionRule,
  WorkflowDefinition,
  WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import type { DefinitionGraph } from '../definition-graph.ts'
import type { DefinitionResources } from '../definition-resources.ts'
import { faultOf } from '../fault.ts'

/** What every check reads. */
export interface Scope {
  readonly definition: WorkflowDefinition
  readonly graph: DefinitionGraph
  readonly resources: DefinitionResources
}

/** Undefined between parts that take long to look at: whoever collects them lets other work go on there. */
export type Faults = Generator<DefinitionFault | undefined, void, undefined>

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
