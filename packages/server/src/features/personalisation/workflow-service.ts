import {
  type Workflow,
  type WorkflowCreation,
  type WorkflowSummary,
  type WorkflowUpdate,
  workflowLimits,
} from '@millrace/contract/resources/workflow.ts'
import { changesOf, definedOf } from '../../platform/changes.ts'
import type { Clock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
import { newId, normalizeId } from '../../platform/ids.ts'
import { invalid } from '../../platform/invalid.ts'
import type { Listed, Page } from '../../platform/paging.ts'
import type { Key } from '../../platform/resources/company-rows.ts'
import {
  found,
  type ResourceContext,
  recorderOf,
  refusing,
  requireRoom,
} from '../../platform/resources/resource.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { ClaimKey } from '../idempotency/idempotency-store.ts'
import type { RequireMemberTeams } from '../identity/people/teams/resource-groups.ts'
import type { Caller, Principal } from '../identity/sessions/principal.ts'
import { emptyDefinition } from './definition/read-definition.ts'
import { listUnsharedDatasources } from './definition-source-store.ts'
import type { IntegrationReader } from './integrations/integration-reader.ts'
import type { ReadResources } from './read-resources.ts'
import { createVariableProfileStore } from './variable-profiles/variable-profile-store.ts'
import {
  analyseContent,
  type Content,
  listReferences,
  noOverrides,
  readContent,
} from './versions/version-content.ts'
import { getVersion, getWorkflow, getWorkflowForUpdate, holdVersion } from './versions/version-reader.ts'
import type { ValidateDefinition, WorkflowChanged } from './versions/version-service.ts'
import { createVersionStore, type NewVersion, toVersion } from './versions/version-store.ts'
import { assertAllowed } from './workflow-states.ts'
import {
  createWorkflowStore,
  type NewWorkflow,
  type StoredWorkflow,
  toSummary,
  type WorkflowFilter,
  type WorkflowOrder,
} from './workflow-store.ts'

export interface WorkflowServiceDependencies extends ResourceContext {
  readonly requireMemberTeams: RequireMemberTeams
  readonly claimKey: ClaimKey
  /** Makes the company's datasource of displays and clicks, unless it is there. */
  readonly ensureEventsDatasource: (tx: Queries, companyId: string) => Promise<void>
  readonly integrations: Pick<IntegrationReader, 'list'>
  readonly readResources: ReadResources
  readonly validateDefinition: ValidateDefinition
  readonly workflowChanged: WorkflowChanged
  readonly clock: Clock
}

export type WorkflowService = ReturnType<typeof createWorkflowService>

/** Workflows of a company and their statuses (docs/workflows.md, Life). */
export function createWorkflowService(dependencies: WorkflowServiceDependencies) {
  const { relational, lockCompany, requireMemberTeams, claimKey, clock } = dependencies
  const record = recorderOf('workflow', dependencies.recordAudit)
  const { workflowChanged } = dependencies
  const { ensureEventsDatasource, readResources, validateDefinition } = dependencies

  async function toWorkflow(queries: Queries, stored: StoredWorkflow): Promise<Workflow> {
    const { draftVersionId: _draft, liveVersionId: _live, ...own } = toSummary(stored)
    const integrations = await dependencies.integrations.list(queries, stored.companyId, [stored.id])
    const versions = await createVersionStore(queries).listShown(stored)
    return { ...own, integrations: integrations.get(stored.id) ?? [], versions: versions.map(toVersion) }
  }

  /** What was changed is read back whichever teams see it now. */
  const readBack = async (tx: Queries, key: Key): Promise<Workflow> =>
    toWorkflow(tx, found(await createWorkflowStore(tx).findByKey(key), 'workflowNotFound', key.id))

  /** Changes one that is locked meanwhile, and gives it as it is afterwards. */
  async function change(
    caller: Caller,
    id: string,
    work: (tx: Queries, workflow: StoredWorkflow) => Promise<void>,
  ): Promise<Workflow> {
    const changed = await relational.transaction(async (tx) => {
      const held = await getWorkflowForUpdate(tx, caller.principal, id)
      await work(tx, held)
      return readBack(tx, held)
    })
    workflowChanged(changed.id)
    return changed
  }

  /** @throws {DomainError} `tooManyWorkflows` */
  async function makeRoom(tx: Queries, companyId: string): Promise<void> {
    await lockCompany(tx, companyId)
    const count = await createWorkflowStore(tx).countOfCompany(companyId)
    requireRoom('tooManyWorkflows', workflowLimits.perCompany, count)
  }

  /** @throws {DomainError} `validation` for one that the company does not have */
  async function requireProfile(
    tx: Queries,
    companyId: string,
    wanted: string | null | undefined,
  ): Promise<string | null | undefined> {
    if (wanted === null || wanted === undefined) return wanted
    const id = normalizeId(wanted)
    if (await createVariableProfileStore(tx).hold({ companyId, id })) return id
    throw invalid('variableProfileId', 'must be a variable profile of your company, or null')
  }

  /** With its first version. */
  async function insert(
    tx: Queries,
    workflow: NewWorkflow & { readonly id: string },
    teamIds: readonly string[],
    version: Content & Pick<NewVersion, 'metadata' | 'lastSavedBy'>,
  ): Promise<void> {
    const { companyId, id: workflowId } = workflow
    const store = createWorkflowStore(tx)
    await ensureEventsDatasource(tx, companyId)
    await store.insert(workflow)
    await store.replaceTeams({ companyId, id: workflowId }, teamIds)
    const content = readContent(version)
    const resources = await readResources(tx, { companyId, resourceGroupIds: teamIds }, content)
    const analysed = analyseContent(version, content, resources)
    const draft = { id: newId(), companyId, workflowId }
    const versions = createVersionStore(tx)
    await versions.insert({ ...version, ...draft, ...analysed })
    await versions.replaceReferences(draft, listReferences(content))
  }

  return {
    async list(
      principal: Principal,
      filter: WorkflowFilter,
      order: WorkflowOrder,
      page: Page,
    ): Promise<Listed<WorkflowSummary>> {
      const { resourceGroupId, hierarchy } = filter
      const wanted = {
        ...filter,
        resourceGroupId: resourceGroupId && normalizeId(resourceGroupId),
        hierarchy: hierarchy && foldersOf(hierarchy),
      }
      return createWorkflowStore(relational.db).list(principal, wanted, order, page)
    },

    /** Names of the folders right below one. */
    listFolders(principal: Principal, hierarchy: readonly string[]): Promise<string[]> {
      const store = createWorkflowStore(relational.db)
      return store.listFolders(principal, foldersOf(hierarchy), workflowLimits.listedFolders)
    },

    /** @throws {DomainError} `workflowNotFound` */
    async read(principal: Principal, id: string): Promise<Workflow> {
      return toWorkflow(relational.db, await getWorkflow(relational.db, principal, id))
    },

    /**
     * Operation 10. With the same key and body it gives the workflow that was made before.
     * @throws {DomainError} `validation`, `unknownTeam`, `notInTeam`, `tooManyWorkflows` or `conflict`
     */
    create(caller: Caller, body: WorkflowCreation, key: string | undefined): Promise<Workflow> {
      const { principal } = caller
      const { companyId, userId } = principal
      const name = body.name.trim()
      return refusing(failuresOf(body), () =>
        relational.transaction(async (tx) => {
          const fresh = { id: newId(), isNew: true }
          const asked = { companyId, userId, operation: 'createWorkflow', key: key ?? '', body }
          const { id, isNew } = key === undefined ? fresh : await claimKey(tx, asked, fresh.id)
          if (!isNew) return readAgain(tx, principal, id)
          await makeRoom(tx, companyId)
          const teamIds = await requireMemberTeams(tx, principal, body.resourceGroupIds)
          const { description = '', hidden = false } = body
          const hierarchy = foldersOf(body.hierarchy)
          const variableProfileId = await requireProfile(tx, companyId, body.variableProfileId)
          const workflow = { id, companyId, name, description, hierarchy, hidden, variableProfileId }
          await insert(tx, workflow, teamIds, {
            definition: emptyDefinition,
            analyzeOverrides: noOverrides,
            metadata: {},
            lastSavedBy: userId,
          })
          const details = { resourceGroupIds: teamIds }
          await record(tx, caller, 'workflow-create', { id, name }, details)
          return readBack(tx, { companyId, id })
        }),
      )
    },

    /** @throws {DomainError} `validation`, `workflowNotFound`, `unknownTeam`, `notInTeam` or `datasourcesNotShared` */
    update(caller: Caller, id: string, body: WorkflowUpdate): Promise<Workflow> {
      const { principal } = caller
      return refusing(failuresOf(body), () =>
        change(caller, id, async (tx, workflow) => {
          const variableProfileId = await requireProfile(tx, principal.companyId, body.variableProfileId)
          const resourceGroupIds =
            body.resourceGroupIds &&
            (await requireMemberTeams(tx, principal, body.resourceGroupIds, workflow.resourceGroupIds))
          const wanted = {
            name: body.name?.trim(),
            description: body.description,
            hierarchy: body.hierarchy && foldersOf(body.hierarchy),
            hidden: body.hidden,
            variableProfileId,
            resourceGroupIds,
          }
          const changes = changesOf(workflow, wanted)
          if (changes.changed.length === 0) return
          const store = createWorkflowStore(tx)
          const { resourceGroupIds: teamIds, ...fields } = wanted
          await store.update(workflow, definedOf(fields))
          if (changes.changed.includes('resourceGroupIds')) {
            await requireShared(tx, workflow, teamIds ?? [])
            await store.replaceTeams(workflow, teamIds ?? [])
          }
          await record(tx, caller, 'workflow-update', workflow, { ...changes })
        }),
      )
    },

    /** @throws {DomainError} `workflowNotFound` or `workflowTransition` */
    archive(caller: Caller, id: string): Promise<Workflow> {
      return change(caller, id, async (tx, workflow) => {
        assertAllowed(workflow, 'archive')
        const archivedAt = new Date(clock.now())
        await createWorkflowStore(tx).update(workflow, { status: 'inactive', archivedAt })
        await record(tx, caller, 'workflow-archive', workflow, { from: workflow.status })
      })
    },

    /** @throws {DomainError} `workflowNotFound`, `workflowTransition` or `tooManyWorkflows` */
    async restore(caller: Caller, id: string): Promise<Workflow> {
      const restored = await relational.transaction(async (tx) => {
        await makeRoom(tx, caller.principal.companyId)
        const live = (each: StoredWorkflow) => each.publishedVersionId ?? each.draftVersionId
        const held = await holdVersion(tx, readResources, caller.principal, id, live)
        const { workflow, version, content, resources } = held
        assertAllowed(workflow, 'restore')
        const isServed =
          version.state === 'live' && (await validateDefinition(content.definition, resources)).length === 0
        const status = isServed ? 'published' : 'draft'
        if (version.state === 'live' && !isServed) {
          const versions = createVersionStore(tx)
          await versions.update(version, { state: 'inactive' })
          await versions.replaceReferences(version, [])
        }
        await createWorkflowStore(tx).update(workflow, {
          status,
          archivedAt: null,
          ...(!isServed && { publishedVersionId: null }),
        })
        await record(tx, caller, 'workflow-restore', workflow, { to: status })
        return readBack(tx, workflow)
      })
      workflowChanged(restored.id)
      return restored
    },

    /** @throws {DomainError} `workflowNotFound` or `tooManyWorkflows` */
    duplicate(caller: Caller, id: string): Promise<Workflow> {
      const { principal } = caller
      const { companyId, userId } = principal
      return relational.transaction(async (tx) => {
        const workflow = await getWorkflow(tx, principal, id)
        await makeRoom(tx, companyId)
        const version = await getVersion(tx, workflow, workflow.publishedVersionId ?? workflow.draftVersionId)
        const { description, hierarchy, hidden, variableProfileId } = workflow
        const name = shortened(`Copy of ${workflow.name}`)
        const copy = { id: newId(), companyId, name, description, hierarchy, hidden, variableProfileId }
        const teamIds = workflow.resourceGroupIds.filter((teamId) => principal.teamIds.includes(teamId))
        const { definition, analyzeOverrides, metadata } = version
        await insert(tx, copy, teamIds, { definition, analyzeOverrides, metadata, lastSavedBy: userId })
        const details = { from: workflow.id, versionId: version.id }
        await record(tx, caller, 'workflow-duplicate', copy, details)
        return readBack(tx, copy)
      })
    },

    /** @throws {DomainError} `workflowNotFound` or `workflowTransition` */
    async delete(caller: Caller, id: string): Promise<void> {
      await relational.transaction(async (tx) => {
        const workflow = await getWorkflowForUpdate(tx, caller.principal, id)
        assertAllowed(workflow, 'delete')
        await createWorkflowStore(tx).delete(workflow)
        await record(tx, caller, 'workflow-delete', workflow, { from: workflow.status })
      })
      workflowChanged(normalizeId(id))
    },
  }

  /** What an earlier request with the same key has made. */
  async function readAgain(tx: Queries, principal: Principal, id: string): Promise<Workflow> {
    const made = await createWorkflowStore(tx).find(principal, id)
    if (made) return toWorkflow(tx, made)
    const message = 'The workflow that this Idempotency-Key made is gone: use a new key to make another'
    throw new DomainError('conflict', { id }, { message })
  }
}

/**
 * The live version reads no more than its teams see.
 * @throws {DomainError} `datasourcesNotShared`
 */
async function requireShared(
  tx: Queries,
  { companyId, id, status, publishedVersionId: versionId }: StoredWorkflow,
  teamIds: readonly string[],
): Promise<void> {
  if (status !== 'published' || versionId === null) return
  const unshared = await listUnsharedDatasources(tx, { companyId, versionId }, teamIds)
  if (unshared.length === 0) return
  const names = unshared.map(({ name }) => `"${name}"`).join(', ')
  const message = `The live version reads datasources that none of these teams has: ${names}; give one of the teams these datasources first, or publish a version without them`
  throw new DomainError('datasourcesNotShared', { id, datasources: unshared }, { message })
}

const foldersOf = (hierarchy: readonly string[] = []): string[] => hierarchy.map((name) => name.trim())

/** Of the length that names may have, in code points. */
const shortened = (name: string): string => [...name].slice(0, 200).join('')

const failuresOf = ({ resourceGroupIds: teamIds = [] }: WorkflowUpdate) =>
  ({ workflow_teams_team: ['unknownTeam', { teamIds }] }) as const
