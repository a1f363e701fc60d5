import { setImmediate as yieldToOthers } from 'node:timers/promises'
import {
  type DefinitionFault,
  definitionLimits,
  type NodeType,
  type WorkflowDefinition,
} from '@millrace/contract/resources/workflow-definition.ts'
import { isReference } from './bindings.ts'
import { graphOf } from './definition-graph.ts'
import type { DefinitionResources } from './definition-resources.ts'
import type { NodeKind } from './nodes/node-kind.ts'
import { dataKindOf, kindOf, rowsOfNode, typeOfReference } from './nodes/nodes.ts'
import { typeOfConstant } from './nodes/value-type.ts'
import { type Faults, faultsAt, type Scope } from './scope.ts'
import { checkBindings } from './validation/bindings.ts'
import { checkReferences } from './validation/references.ts'
import { checkStructure } from './validation/structure.ts'

function scopeOf(definition: WorkflowDefinition, resources: DefinitionResources): Scope {
  const graph = graphOf(definition)
  return {
    definition,
    graph,
    resources,
    typeOf(binding) {
      if (!isReference(binding)) return typeOfConstant(binding.value)
      const node = graph.nodes.get(binding.node)
      return node ? typeOfReference(node, binding, resources) : 'any'
    },
    rowsOf: (nodeId) => rowsOfNode(graph.nodes.get(nodeId)),
    isGivenAddress: (binding) =>
      isReference(binding) &&
      (dataKindOf(graph.nodes.get(binding.node))?.isGivenAddress?.(binding.field) ?? false),
  }
}

/** What each kind of node validates itself. */
function* checkNodes(scope: Scope): Faults {
  const checks = new Map<NodeType, ReturnType<NonNullable<NodeKind['check']>>>()
  for (const [id, node] of Object.entries(scope.definition.nodes)) {
    const check = checks.get(node.type) ?? kindOf(node).check?.(scope)
    if (!check) continue
    checks.set(node.type, check)
    yield* check(node, faultsAt('nodes', id, node.type), id)
    yield undefined
  }
}

const checks = [checkStructure, checkReferences, checkBindings, checkNodes]

/** At most `definitionLimits.listed` faults, and undefined between parts that take long. */
export function* checkDefinition(definition: WorkflowDefinition, resources: DefinitionResources): Faults {
  const scope = scopeOf(definition, resources)
  let listed = 0
  for (const check of checks) {
    for (const fault of check(scope)) {
      if (fault !== undefined && ++listed > definitionLimits.listed) return
      yield fault
    }
    yield undefined
  }
}

/**
 * What keeps a definition that has its shape from being published (docs/workflows.md, Validation): at most
 * `definitionLimits.listed` faults, each with where it is and what would be right. Empty: it can be published.
 * @param turnMs for how long it works before other requests have their turn
 */
export async function validateDefinition(
  definition: WorkflowDefinition,
  resources: DefinitionResources,
  turnMs = 10,
): Promise<DefinitionFault[]> {
  const faults: DefinitionFault[] = []
  let began = performance.now()
  for (const fault of checkDefinition(definition, resources)) {
    if (fault !== undefined) faults.push(fault)
    else if (performance.now() - began >= turnMs) {
      await yieldToOthers()
      began = performance.now()
    }
  }
  return faults
}
