import { setImmediate as yieldToOthers } from 'node:timers/promises'
import {
  type DefinitionFault,
  definitionLimits,
  type WorkflowDefinition,
} from '@millrace/contract/resources/workflow-definition.ts'
import { graphOf } from './definition-graph.ts'
import type { DefinitionResources } from './definition-resources.ts'
import { checkAddresses } from './validation/addresses.ts'
import { checkBindings } from './validation/bindings.ts'
import { checkComparisons } from './validation/comparisons.ts'
import { checkExpressions } from './validation/expressions.ts'
import { checkReferences } from './validation/references.ts'
import type { Faults } from './validation/scope.ts'
import { checkStructure } from './validation/structure.ts'
import { checkTemplates } from './validation/templates.ts'

const checks = [
  checkStructure,
  checkReferences,
  checkBindings,
  checkComparisons,
  checkExpressions,
  checkTemplates,
  checkAddresses,
]

/** At most `definitionLimits.listed` faults, and undefined between parts that take long. */
export function* checkDefinition(definition: WorkflowDefinition, resources: DefinitionResources): Faults {
  const scope = { definition, graph: graphOf(definition), resources }
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
