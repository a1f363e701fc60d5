import { createVisibleWorkflowsReader } from '../features/analytics/definitions/visible-workflows-store.ts'
import { definitionSources } from '../features/personalisation/definition-source-store.ts'
import { createIntegrationReader } from '../features/personalisation/integrations/integration-reader.ts'
import { createPreviewReader } from '../features/personalisation/previewable-version.ts'
import { createResourceReader } from '../features/personalisation/read-resources.ts'
import { createZoneFinder } from '../features/personalisation/runnable-zone.ts'
import { settingSources } from '../features/personalisation/setting-sources.ts'
import { createWorkflowUses } from '../features/personalisation/workflow-uses-service.ts'
import type { Shared } from './shared.ts'

export type WorkflowReaders = ReturnType<typeof wireWorkflowReaders>

/** What is read of workflows: by what runs them, and by the features whose objects they use. */
export function wireWorkflowReaders({ relational, publicUrl }: Shared) {
  const readResources = createResourceReader({ ...definitionSources, ...settingSources })
  const integrations = createIntegrationReader({ relational, publicUrl })
  return {
    readResources,
    integrations,
    uses: createWorkflowUses({
      readResources,
      readVisibleWorkflows: (tx, reader) => createVisibleWorkflowsReader(tx)(reader),
    }),
    findZone: createZoneFinder({ relational, findIntegration: integrations.findRunnable }),
    readVersion: createPreviewReader({ relational, readResources }),
  }
}
