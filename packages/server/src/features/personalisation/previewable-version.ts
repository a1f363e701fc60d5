import type { DefinitionFault, WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import type { Analyze } from '@millrace/contract/resources/workflow-version.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import { withAutomaticBindings } from './definition/definition-graph.ts'
import type { KnownTemplate } from './definition/definition-resources.ts'
import type { ReadResources } from './read-resources.ts'
import { analyseContent, readContent } from './versions/version-content.ts'
import { getVersion, getWorkflow } from './versions/version-reader.ts'
import { createVersionStore } from './versions/version-store.ts'
import type { Viewer } from './workflow-store.ts'

/** A version as a preview runs it. */
export interface PreviewableVersion {
  readonly workflowId: string
  /** Of the workflow. */
  readonly teamIds: readonly string[]
  readonly versionId: string
  readonly definition: WorkflowDefinition
  readonly analyze: Analyze
  readonly templates: Readonly<Record<string, KnownTemplate>>
  /** What has not the shape that it must have; a version with such faults does not run. */
  readonly faults: readonly DefinitionFault[]
}

export type ReadVersion = ReturnType<typeof createPreviewReader>

/** Reads a version for a preview: a published one with the templates of that moment, a draft with those of now. */
export function createPreviewReader(dependencies: {
  readonly relational: Pick<Relational, 'db'>
  readonly readResources: ReadResources
}) {
  const { relational, readResources } = dependencies
  const { db } = relational
  /** @throws {DomainError} `workflowNotFound`, `workflowVersionNotFound` */
  return async (viewer: Viewer, id: string, versionId: string | undefined): Promise<PreviewableVersion> => {
    const workflow = await getWorkflow(db, viewer, id)
    const version = await getVersion(db, workflow, versionId ?? workflow.draftVersionId)
    const content = readContent(version)
    const resources = await readResources(db, workflow, content)
    const published = await createVersionStore(db).findPublication(version)
    return {
      workflowId: workflow.id,
      teamIds: workflow.resourceGroupIds,
      versionId: version.id,
      definition: published?.definition ?? withAutomaticBindings(content.definition, resources),
      analyze:
        version.state === 'draft' ? analyseContent(version, content, resources).analyze : version.analyze,
      templates: published?.templates ?? Object.fromEntries(resources.templates),
      faults: content.faults,
    }
  }
}
