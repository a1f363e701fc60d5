import { normalizeId } from '../../../platform/ids.ts'
import { found } from '../../../platform/resources/resource.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { DefinitionResources } from '../definition/definition-resources.ts'
import type { ReadResources } from '../read-resources.ts'
import { createWorkflowStore, type StoredWorkflow, type Viewer } from '../workflow-store.ts'
import { type ReadContent, readContent } from './version-content.ts'
import { createVersionStore, type StoredVersion } from './version-store.ts'

/** A version with what it names, of a workflow that is locked until the transaction ends. */
export interface HeldVersion {
  readonly workflow: StoredWorkflow
  readonly version: StoredVersion
  readonly content: ReadContent
  readonly resources: DefinitionResources
}

/** @throws {DomainError} `workflowNotFound` */
export async function getWorkflow(queries: Queries, viewer: Viewer, id: string): Promise<StoredWorkflow> {
  return found(await createWorkflowStore(queries).find(viewer, normalizeId(id)), 'workflowNotFound', id)
}

/** Locked until the transaction ends. @throws {DomainError} `workflowNotFound` */
export async function getWorkflowForUpdate(tx: Queries, viewer: Viewer, id: string): Promise<StoredWorkflow> {
  return found(await createWorkflowStore(tx).findForUpdate(viewer, normalizeId(id)), 'workflowNotFound', id)
}

/** @throws {DomainError} `workflowVersionNotFound` */
export async function getVersion(
  queries: Queries,
  { companyId, id: workflowId }: StoredWorkflow,
  id: string,
): Promise<StoredVersion> {
  const version = await createVersionStore(queries).find({ companyId, workflowId, id: normalizeId(id) })
  return found(version, 'workflowVersionNotFound', id)
}

/**
 * Holds what a version names, so that nothing of it is deleted before the transaction ends, then the workflow: what
 * deletes an object locks it first and the workflows that use it afterwards, and in one order no two wait for each
 * other.
 * @throws {DomainError} `workflowNotFound` or `workflowVersionNotFound`
 */
export async function holdVersion(
  tx: Queries,
  readResources: ReadResources,
  viewer: Viewer,
  workflowId: string,
  choose: (workflow: StoredWorkflow) => string,
): Promise<HeldVersion> {
  async function read(workflow: StoredWorkflow): Promise<HeldVersion> {
    const version = await getVersion(tx, workflow, choose(workflow))
    const content = readContent(version)
    return { workflow, version, content, resources: await readResources(tx, workflow, content, true) }
  }
  const before = await read(await getWorkflow(tx, viewer, workflowId))
  const workflow = await getWorkflowForUpdate(tx, viewer, workflowId)
  // Every save changes the workflow too. Once it is locked, another order of locks is met by no save.
  const isSame = workflow.updatedAt.getTime() === before.workflow.updatedAt.getTime()
  return isSame ? { ...before, workflow } : read(workflow)
}
