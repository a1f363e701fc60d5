import type { Clock } from '../../platform/clock.ts'
import type { ResourceContext } from '../../platform/resources/resource.ts'
import type { RequireMemberTeams } from '../identity/people/teams/resource-groups.ts'
import { createBranchCategoryService } from './branch-categories/branch-category-service.ts'
import type { IntegrationReader } from './integrations/integration-reader.ts'
import { createIntegrationService } from './integrations/integration-service.ts'
import { createJsonTemplateService } from './json-templates/json-template-service.ts'
import {
  createParameterService,
  type ParameterServiceDependencies,
} from './parameter-values/parameter-service.ts'
import { createVariableProfileService } from './variable-profiles/variable-profile-service.ts'
import type { WorkflowChanged } from './versions/version-service.ts'
import type { WorkflowUses } from './workflow-uses-service.ts'

export interface WorkflowSettingsDependencies extends ResourceContext {
  readonly requireMemberTeams: RequireMemberTeams
  readonly integrations: IntegrationReader
  readonly uses: Pick<WorkflowUses, 'requireUnused' | 'forgetCategory'>
  readonly runStatement: ParameterServiceDependencies['runStatement']
  readonly workflowChanged: WorkflowChanged
  readonly clock: Clock
}

export type WorkflowSettings = ReturnType<typeof createWorkflowSettings>

/** Where workflows are put in, what they share, and with which parameters they were asked for. */
export function createWorkflowSettings(dependencies: WorkflowSettingsDependencies) {
  const { uses, integrations } = dependencies
  return {
    integrations: createIntegrationService({ ...dependencies, reader: integrations }),
    profiles: createVariableProfileService(dependencies),
    categories: createBranchCategoryService({ ...dependencies, forgetCategory: uses.forgetCategory }),
    templates: createJsonTemplateService({
      ...dependencies,
      requireUnused: (tx, reader, resourceId) =>
        uses.requireUnused(tx, reader, { kind: 'template', resourceId }),
    }),
    parameters: createParameterService(dependencies),
  }
}
