import { isDeepStrictEqual } from 'node:util'
import type { DefinitionFault, WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import type { AnalyzeOverrides, WorkflowVersion } from '@millrace/contract/resources/workflow-version.ts'
import {
  versionLimits,
  type WorkflowChanges,
  type WorkflowValidation,
  type WorkflowVersionSave,
  type WorkflowVersionSummary,
} from '@millrace/contract/resources/workflow-version-save.ts'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { normalizeId } from '../../../platform/ids.ts'
import { invalid } from '../../../platform/invalid.ts'
import type { Listed, Page } from '../../../platform/paging.ts'
import { type ResourceContext, recorderOf } from '../../../platform/resources/resource.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import { assertExpected, type Expected } from '../../../platform/stores/revision.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import { isAssignable } from '../definition/analysis/branch-qualifiers.ts'
import { joined } from '../definition/binding-shape.ts'
import { changesBetween } from '../definition/changes-between.ts'
import type { DefinitionResources } from '../definition/definition-resources.ts'
import type { ReadResources } from '../read-resources.ts'
import { assertAllowed } from '../workflow-states.ts'
import { createWorkflowStore, type StoredWorkflow } from '../workflow-store.ts'
import { publishHeld } from './publish-version.ts'
import {
  analyseContent,
  type Content,
  listReferences,
  noOverrides,
  type ReadContent,
  readContent,
} from './version-content.ts'
import { getVersion, getWorkflow, getWorkflowForUpdate, holdVersion } from './version-reader.ts'
import { createVersionStore, type StoredVersion, toVersion } from './version-store.ts'

export type ValidateDefinition = (
  definition: WorkflowDefinition,
  resources: DefinitionResources,
) => Promise<readonly DefinitionFault[]>

export interface VersionServiceDependencies extends Omit<ResourceContext, 'lockCompany'> {
  readonly readResources: ReadResources
  readonly validateDefinition: ValidateDefinition
  readonly workflowChanged: WorkflowChanged
  readonly clock: Clock
}

/**
 * Called once a change of a workflow is committed, before it is acknowledged: what runs next in this process is what
 * the caller made. Other processes are notified by the database.
 */
export type WorkflowChanged = (workflowId: string) => void

export type VersionService = ReturnType<typeof createVersionService>

/** Versions of workflows: drafts that are saved, validated and published (docs/workflows.md, Versions). */
export function createVersionService(dependencies: VersionServiceDependencies) {
  const { relational, readResources, validateDefinition, workflowChanged, clock } = dependencies
  const record = recorderOf('workflow', dependencies.recordAudit)

  const faultsOf = async ({ faults, definition }: ReadContent, resources: DefinitionResources) =>
    faults.length > 0 ? faults : validateDefinition(definition, resources)

  const readBoth = async (queries: Queries, principal: Principal, id: string, versionId: string) => {
    const workflow = await getWorkflow(queries, principal, id)
    return { workflow, version: await getVersion(queries, workflow, versionId) }
  }

  /**
   * What overrides of a live version name is not deleted before they are saved. It is held before the workflow, as when
   * a version is published; a draft may name what is gone.
   */
  async function holdOverrides(
    tx: Queries,
    principal: Principal,
    id: string,
    versionId: string,
    body: WorkflowVersionSave,
  ): Promise<void> {
    if (!body.analyzeOverrides) return
    const { workflow, version } = await readBoth(tx, principal, id, versionId)
    if (version.state === 'live')
      await readResources(tx, workflow, readContent(contentOf(version, body)), true)
  }

  /** Writes what a version holds from now on, with what follows from it. */
  async function writeContent(
    tx: Queries,
    workflow: StoredWorkflow,
    version: StoredVersion,
    { definition, analyzeOverrides, ...fields }: Content & SavedFields,
  ): Promise<void> {
    const content = readContent({ definition, analyzeOverrides })
    const resources = await readResources(tx, workflow, content)
    assertKnownOverrides(analyzeOverrides, resources)
    const analysed = analyseContent({ definition, analyzeOverrides }, content, resources)
    const store = createVersionStore(tx)
    await store.update(version, { definition, analyzeOverrides, ...fields, ...analysed })
    // Of those that are neither edited nor shown, nothing keeps what they name.
    if (version.state !== 'inactive') await store.replaceReferences(version, listReferences(content))
    await createWorkflowStore(tx).update(workflow, {})
  }

  return {
    async list(principal: Principal, id: string, page: Page): Promise<Listed<WorkflowVersionSummary>> {
      const workflow = await getWorkflow(relational.db, principal, id)
      return createVersionStore(relational.db).list(workflow, page)
    },

    /** @throws {DomainError} `workflowNotFound` or `workflowVersionNotFound` */
    async read(principal: Principal, id: string, versionId: string): Promise<WorkflowVersion> {
      return toVersion((await readBoth(relational.db, principal, id, versionId)).version)
    },

    /**
     * @param expected undefined where the caller does not say what it has seen
     * @throws {DomainError} `workflowNotFound`, `workflowVersionNotFound`, `versionConditionRequired`, `versionChanged`,
     *   `versionNotDraft` or `validation`
     */
    save(
      caller: Caller,
      id: string,
      versionId: string,
      body: WorkflowVersionSave,
      expected: Expected,
    ): Promise<WorkflowVersion> {
      const { principal } = caller
      return relational.transaction(async (tx) => {
        await holdOverrides(tx, principal, id, versionId, body)
        const workflow = await getWorkflowForUpdate(tx, principal, id)
        const version = await getVersion(tx, workflow, versionId)
        if (!expected) throw new DomainError('versionConditionRequired', { id: version.id })
        await assertExpected(tx, version, expected, 'versionChanged')
        const wanted = contentOf(version, body)
        if (version.state !== 'draft' && !isDeepStrictEqual(wanted.definition, version.definition)) {
          throw notDraft(workflow, version)
        }
        await writeContent(tx, workflow, version, {
          ...wanted,
          metadata: body.metadata ?? version.metadata,
          changeDescription: body.changeDescription ?? version.changeDescription,
          lastSavedBy: principal.userId,
        })
        const details = { versionId: version.id, number: version.number, state: version.state }
        await record(tx, caller, 'workflow-version-save', workflow, details)
        return toVersion(await getVersion(tx, workflow, version.id))
      })
    },

    /** @throws {DomainError} `workflowNotFound` or `workflowVersionNotFound` */
    async validate(principal: Principal, id: string, versionId: string): Promise<WorkflowValidation> {
      const { workflow, version } = await readBoth(relational.db, principal, id, versionId)
      const content = readContent(version)
      const faults = await faultsOf(content, await readResources(relational.db, workflow, content))
      return { valid: faults.length === 0, faults: [...faults] }
    },

    /**
     * @throws {DomainError} `workflowNotFound`, `workflowVersionNotFound`, `workflowTransition`, `versionNotDraft`,
     *   `versionChanged` or `workflowInvalid`
     */
    async publish(
      caller: Caller,
      id: string,
      versionId: string,
      expected: Expected,
    ): Promise<WorkflowVersion> {
      const { principal } = caller
      try {
        const published = await relational.transaction(async (tx) => {
          const held = await holdVersion(tx, readResources, principal, id, () => versionId)
          const { workflow, version, content, resources } = held
          assertAllowed(workflow, 'publish')
          if (version.state !== 'draft') throw notDraft(workflow, version)
          await assertExpected(tx, version, expected, 'versionChanged')
          const faults = await faultsOf(content, resources)
          if (faults.length > 0) throw notPublishable(version, faults)
          await publishHeld(tx, held, { userId: principal.userId, now: clock.now() })
          const details = { versionId: version.id, number: version.number, from: workflow.status }
          await record(tx, caller, 'workflow-version-publish', workflow, details)
          return toVersion(await getVersion(tx, workflow, version.id))
        })
        workflowChanged(normalizeId(id))
        return published
      } catch (error) {
        // Nothing was published, and not for what the definition holds: the status says so until the next attempt. A
        // store that is down cannot keep that; the failure itself is what the caller gets.
        if (!(error instanceof DomainError)) {
          const store = createWorkflowStore(relational.db)
          await store.markFailed(principal, normalizeId(id)).catch(() => undefined)
        }
        throw error
      }
    },

    /**
     * The content of the version becomes that of the draft.
     * @throws {DomainError} `workflowNotFound`, `workflowVersionNotFound` or `versionChanged`
     */
    restore(caller: Caller, id: string, versionId: string, expected: Expected): Promise<WorkflowVersion> {
      const { principal } = caller
      return relational.transaction(async (tx) => {
        const workflow = await getWorkflowForUpdate(tx, principal, id)
        const version = await getVersion(tx, workflow, versionId)
        const draft = await getVersion(tx, workflow, workflow.draftVersionId)
        await assertExpected(tx, draft, expected, 'versionChanged')
        const content = readContent(version)
        const resources = await readResources(tx, workflow, content)
        await writeContent(tx, workflow, draft, {
          definition: version.definition,
          analyzeOverrides: knownOverrides(version.analyzeOverrides, resources),
          metadata: version.metadata,
          changeDescription: null,
          lastSavedBy: principal.userId,
        })
        const details = { versionId: version.id, number: version.number }
        await record(tx, caller, 'workflow-version-restore', workflow, details)
        return toVersion(await getVersion(tx, workflow, draft.id))
      })
    },

    /** @throws {DomainError} `workflowNotFound` or `workflowVersionNotFound` */
    async changes(
      principal: Principal,
      id: string,
      versionId: string,
      from: string,
    ): Promise<WorkflowChanges> {
      const { workflow, version: after } = await readBoth(relational.db, principal, id, versionId)
      const before = await getVersion(relational.db, workflow, from)
      return { from: before.id, to: after.id, changes: changesBetween(partsOf(before), partsOf(after)) }
    },
  }
}

/** What a save sets besides the content. */
type SavedFields = Pick<StoredVersion, 'metadata' | 'changeDescription' | 'lastSavedBy'>

/** The content as the body wants it. @throws {DomainError} `validation` where it is beyond the bounds */
function contentOf(version: StoredVersion, body: WorkflowVersionSave): Content {
  const { definition = version.definition, analyzeOverrides, metadata } = body
  if (body.definition) {
    const [fault] = readContent({ definition, analyzeOverrides: noOverrides }).faults
    if (fault && isOfWhole(fault))
      throw invalid(joined('definition', fault.path), `is too large: ${fault.message}`)
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata ?? {}))
  if (bytes > versionLimits.metadataBytes) {
    throw invalid('metadata', `must have at most ${versionLimits.metadataBytes} bytes, it has ${bytes}`)
  }
  return {
    definition,
    analyzeOverrides: analyzeOverrides
      ? withLowerCaseIds({ ...noOverrides, ...analyzeOverrides })
      : version.analyzeOverrides,
  }
}

/** Of no node, edge or entrypoint: the definition cannot be looked at further. */
const isOfWhole = ({ nodeId, edgeId, entrypointId }: DefinitionFault): boolean =>
  nodeId === undefined && edgeId === undefined && entrypointId === undefined

function withLowerCaseIds(overrides: AnalyzeOverrides): AnalyzeOverrides {
  return {
    ...overrides,
    branchCategoryIds: Object.fromEntries(
      Object.entries(overrides.branchCategoryIds).map(([branch, id]) => [branch, normalizeId(id)]),
    ),
    branchTags: overrides.branchTags.map(({ branchId, tagKeyId, tagValueId }) => ({
      tagKeyId: normalizeId(tagKeyId),
      tagValueId: normalizeId(tagValueId),
      branchId,
    })),
  }
}

/** @throws {DomainError} `validation` */
function assertKnownOverrides(overrides: AnalyzeOverrides, resources: DefinitionResources): void {
  for (const [i, tag] of overrides.branchTags.entries()) {
    if (isAssignable(resources, tag)) continue
    throw invalid(
      `analyzeOverrides.branchTags.${i}`,
      'must name a value of a tag key of your company that is assigned by hand',
    )
  }
  for (const [branch, id] of Object.entries(overrides.branchCategoryIds)) {
    if (resources.categories.has(id)) continue
    throw invalid(`analyzeOverrides.branchCategoryIds.${branch}`, 'must be a branch category of your company')
  }
}

/** Without the tags and categories that are gone. */
function knownOverrides(overrides: AnalyzeOverrides, resources: DefinitionResources): AnalyzeOverrides {
  return {
    ...overrides,
    branchTags: overrides.branchTags.filter((tag) => isAssignable(resources, tag)),
    branchCategoryIds: Object.fromEntries(
      Object.entries(overrides.branchCategoryIds).filter(([, id]) => resources.categories.has(id)),
    ),
  }
}

function notDraft({ draftVersionId }: StoredWorkflow, { id, state }: StoredVersion): DomainError {
  return new DomainError('versionNotDraft', { id, state, draftVersionId })
}

function notPublishable({ id }: StoredVersion, faults: readonly DefinitionFault[]): DomainError {
  const [first] = faults
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : ''
  return new DomainError(
    'workflowInvalid',
    { id, faults: [...faults] },
    { message: `The version cannot be published: ${first?.message}${more}` },
  )
}

/** The parts of a stored definition that are objects: a draft may hold anything. */
function partsOf({ definition }: StoredVersion): WorkflowDefinition {
  const objects = (part: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(part).filter(([, each]) => each !== null && typeof each === 'object'))
  const { nodes, entrypoints, edges } = definition
  return { nodes: objects(nodes), entrypoints: objects(entrypoints), edges: objects(edges) } as never
}
