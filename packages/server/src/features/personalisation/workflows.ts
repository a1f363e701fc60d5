import { validateDefinition } from './definition/validate-definition.ts'
import { definitionSources } from './definition-source-store.ts'
import { createPreviewReader } from './previewable-version.ts'
import { createResourceReader, type DefinitionSources } from './read-resources.ts'
import { createZoneFinder, type ZoneFinderDependencies } from './runnable-zone.ts'
import {
  createVersionService,
  type ValidateDefinition,
  type VersionServiceDependencies,
} from './versions/version-service.ts'
import { createWorkflowService, type WorkflowServiceDependencies } from './workflow-service.ts'
import { createWorkflowUses, type ReadWorkflowSight } from './workflow-uses-service.ts'

type Made = 'readResources' | 'validateDefinition'

export interface WorkflowsDependencies
  extends Omit<WorkflowServiceDependencies, Made>,
    Omit<VersionServiceDependencies, Made>,
    Omit<ZoneFinderDependencies, 'relational'> {
  readonly sources: Pick<DefinitionSources, 'templates' | 'categories'>
  readonly readVisibleWorkflows: ReadWorkflowSight
  /** Tests put another one in its place. */
  readonly validateDefinition?: ValidateDefinition | undefined
}

export type Workflows = ReturnType<typeof createWorkflows>

/** Workflows with their versions, and what other features ask about them. */
export function createWorkflows(dependencies: WorkflowsDependencies) {
  const readResources = createResourceReader({ ...definitionSources, ...dependencies.sources })
  const made = {
    ...dependencies,
    readResources,
    validateDefinition: dependencies.validateDefinition ?? validateDefinition,
  }
  return {
    service: createWorkflowService(made),
    versions: createVersionService(made),
    uses: createWorkflowUses({ readResources, readVisibleWorkflows: dependencies.readVisibleWorkflows }),
    findZone: createZoneFinder(made),
    readPreviewable: createPreviewReader(made),
  }
}
