import type { WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import type { Analyze } from '@millrace/contract/resources/workflow-version.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import type { KnownTemplate } from './definition/definition-resources.ts'
import { createVersionStore } from './versions/version-store.ts'
import { createWorkflowStore } from './workflow-store.ts'

/** An integration as the runner needs it, found by the part of its address. */
export interface RunnableIntegration {
  readonly companyId: string
  readonly workflowId: string
  readonly entrypointId: string
  readonly integration: {
    readonly id: string
    readonly shortId: string
    readonly enabled: boolean
    readonly parameters: Readonly<Record<string, unknown>>
    readonly type: string
    readonly format: string
    readonly domain?: string | undefined
  }
}

/** What stands behind one address of the runner. */
export interface RunnableZone extends RunnableIntegration {
  readonly workflowName: string
  readonly teamIds: readonly string[]
  /** Absent where the workflow is not published. */
  readonly published?: {
    readonly versionId: string
    readonly definition: WorkflowDefinition
    readonly analyze: Analyze
    readonly templates: Readonly<Record<string, KnownTemplate>>
    /** Changes whenever any of the others does. */
    readonly revision: string
  }
}

export interface ZoneFinderDependencies {
  readonly relational: Pick<Relational, 'db'>
  readonly findIntegration: (shortId: string) => Promise<RunnableIntegration | undefined>
}

export type FindZone = ReturnType<typeof createZoneFinder>

/** Finds what an address of the runner shows; every process keeps it until it hears of a change. */
export function createZoneFinder({ relational, findIntegration }: ZoneFinderDependencies) {
  return async (shortId: string): Promise<RunnableZone | undefined> => {
    const found = await findIntegration(shortId)
    if (!found) return undefined
    const key = { companyId: found.companyId, id: found.workflowId }
    const workflow = await createWorkflowStore(relational.db).findByKey(key)
    if (!workflow) return undefined
    const zone = { ...found, workflowName: workflow.name, teamIds: workflow.resourceGroupIds }
    const live = await createVersionStore(relational.db).findPublished(key)
    if (!live) return zone
    const { versionId, definition, analyze, templates } = live
    const revision = `${versionId}-${live.revision}`
    return { ...zone, published: { versionId, definition, analyze, templates, revision } }
  }
}
