import type { FastifyInstance } from 'fastify'
import { registerBranchCategoryRoutes } from './branch-categories/branch-category-routes.ts'
import { registerIntegrationRoutes } from './integrations/integration-routes.ts'
import { registerJsonTemplateRoutes } from './json-templates/json-template-routes.ts'
import { registerParameterRoutes } from './parameter-values/parameter-routes.ts'
import { registerVariableProfileRoutes } from './variable-profiles/variable-profile-routes.ts'
import type { WorkflowSettings } from './workflow-settings.ts'

/** For the authenticated scope. */
export function registerWorkflowSettingRoutes(scope: FastifyInstance, settings: WorkflowSettings): void {
  registerIntegrationRoutes(scope, settings.integrations)
  registerVariableProfileRoutes(scope, settings.profiles)
  registerBranchCategoryRoutes(scope, settings.categories)
  registerJsonTemplateRoutes(scope, settings.templates)
  registerParameterRoutes(scope, settings.parameters)
}
