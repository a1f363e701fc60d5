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

/**
 * What keeps a definition that has its shape from being published (docs/workflows.md, Validation): at most
 * `definitionLimits.listed` faults, each with where it is and what would be right. Empty: it can be published.
 */
export function validateDefinition(
  definition: WorkflowDefinition,
  resources: DefinitionResources,
): DefinitionFault[] {
  const scope = { definition, graph: graphOf(definition), resources }
  const faults: DefinitionFault[] = []
  for (const check of checks) {
    for (const fault of check(scope)) {
      if (faults.length >= definitionLimits.listed) return faults
      faults.push(fault)
    }
  }
  return faults
}
