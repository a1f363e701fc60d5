import type {
  Integration,
  IntegrationCreation,
  IntegrationSnippet,
  IntegrationUpdate,
} from '@millrace/contract/resources/workflow-integration.ts'
import { integrationLimits } from '@millrace/contract/resources/workflow-integration.ts'
import { changesOf, definedOf } from '../../../platform/changes.ts'
import { DomainError } from '../../../platform/errors.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import { invalid, invalidAll } from '../../../platform/invalid.ts'
import { found, type ResourceContext, recorderOf, requireRoom } from '../../../platform/resources/resource.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import { getWorkflow, getWorkflowForUpdate } from '../versions/version-reader.ts'
import type { WorkflowChanged } from '../versions/version-service.ts'
import type { StoredWorkflow } from '../workflow-store.ts'
import { faultsOfChannel, faultsOfCode, faultsOfFields, hostOf, storedFilters } from './integration-fields.ts'
import type { IntegrationReader, KnownEntrypoint } from './integration-reader.ts'
import { createIntegrationStore, type StoredIntegration } from './integration-store.ts'
import { newShortId } from './short-id.ts'
import { snippetOf } from './snippet.ts'

export interface IntegrationServiceDependencies extends Omit<ResourceContext, 'lockCompany'> {
  readonly reader: IntegrationReader
  readonly workflowChanged: WorkflowChanged
}

export type IntegrationService = ReturnType<typeof createIntegrationService>

/** What may be long, or hold what belongs to users of a site: the audit log names it without its values. */
const unshown = new Set(['code', 'parameters'])
/** Entrypoints that a failure names. */
const maxNamed = 10

/** Integrations of workflows (docs/workflows.md, Integrations). */
export function createIntegrationService({
  relational,
  recordAudit,
  reader,
  workflowChanged,
}: IntegrationServiceDependencies) {
  const record = recorderOf('integration', recordAudit)

  async function readBack(
    queries: Queries,
    { companyId, id: workflowId }: StoredWorkflow,
    id: string,
  ): Promise<Integration> {
    const all = (await reader.list(queries, companyId, [workflowId])).get(workflowId) ?? []
    const one = all.find((each) => each.id === normalizeId(id))
    return found(one, 'integrationNotFound', id)
  }

  const getStored = async (tx: Queries, workflow: StoredWorkflow, id: string): Promise<StoredIntegration> =>
    found(await createIntegrationStore(tx).find(workflow, normalizeId(id)), 'integrationNotFound', id)

  /** Of the live version, else of the draft. @throws {DomainError} `unknownEntrypoint` */
  async function getEntrypoint(
    tx: Queries,
    { companyId, id }: StoredWorkflow,
    entrypointId: string,
  ): Promise<KnownEntrypoint> {
    const { live, draft, faults } = await reader.readEntrypoints(tx, companyId, id)
    const named = live.get(entrypointId) ?? draft.get(entrypointId)
    if (named) return named
    const known = [...new Set([...live.keys(), ...draft.keys()])].slice(0, maxNamed).join(', ')
    const message =
      faults.length > 0
        ? `The draft has faults; save it without them first: ${faults.slice(0, maxNamed).join('; ')}`
        : known === ''
          ? 'The workflow has no entrypoint yet: save a draft that has one'
          : `Neither the live version nor the draft has the entrypoint "${entrypointId}"; there are: ${known}`
    throw new DomainError('unknownEntrypoint', { id, entrypointId }, { message })
  }

  return {
    /** @throws {DomainError} `workflowNotFound` */
    async list(principal: Principal, workflowId: string): Promise<Integration[]> {
      const { companyId, id } = await getWorkflow(relational.db, principal, workflowId)
      return (await reader.list(relational.db, companyId, [id])).get(id) ?? []
    },

    /** @throws {DomainError} `workflowNotFound` or `integrationNotFound` */
    async read(principal: Principal, workflowId: string, id: string): Promise<Integration> {
      return readBack(relational.db, await getWorkflow(relational.db, principal, workflowId), id)
    },

    /** @throws {DomainError} `workflowNotFound` or `integrationNotFound` */
    async readSnippet(principal: Principal, workflowId: string, id: string): Promise<IntegrationSnippet> {
      return { html: snippetOf(await this.read(principal, workflowId, id)) }
    },

    /** @throws {DomainError} `validation`, `workflowNotFound`, `unknownEntrypoint` or `tooManyIntegrations` */
    async create(caller: Caller, workflowId: string, body: IntegrationCreation): Promise<Integration> {
      const faults = [...faultsOfFields(body), ...faultsOfCode(body.code)]
      if (faults.length > 0) throw invalidAll(faults)
      const created = await relational.transaction(async (tx) => {
        const workflow = await getWorkflowForUpdate(tx, caller.principal, workflowId)
        const { companyId } = workflow
        const entrypoint = await getEntrypoint(tx, workflow, body.entrypointId)
        const misplaced = faultsOfChannel(body, entrypoint.type)
        if (misplaced.length > 0) throw invalidAll(misplaced)
        const store = createIntegrationStore(tx)
        requireRoom('tooManyIntegrations', integrationLimits.perWorkflow, await store.count(workflow))
        const { entrypointId, name, parameters = {}, domain, filters, enabled = true } = body
        const id = newId()
        const shortId = newShortId()
        await store.insert({
          id,
          companyId,
          workflowId: workflow.id,
          shortId,
          entrypointId,
          channel: entrypoint.type,
          format: entrypoint.format,
          parameters,
          enabled,
          ...definedOf({ name: name?.trim(), domain: domain && hostOf(domain) }),
          ...(entrypoint.type === 'web' && {
            code: body.code ?? null,
            selector: body.selector ?? null,
            includeContext: body.includeContext ?? false,
            includeDatalayerPath: body.includeDatalayerPath ?? [],
            waitForEvents: body.waitForEvents ?? [],
            filters: filters ? storedFilters(filters) : null,
            emplacement: body.emplacement ?? 'replace',
          }),
        })
        const details = { workflowId: workflow.id, entrypointId, shortId }
        await record(tx, caller, 'integration-create', { id, name: name?.trim() ?? entrypointId }, details)
        return readBack(tx, workflow, id)
      })
      workflowChanged(normalizeId(workflowId))
      return created
    },

    /** @throws {DomainError} `validation`, `workflowNotFound`, `integrationNotFound` or `unknownEntrypoint` */
    async update(
      caller: Caller,
      workflowId: string,
      id: string,
      body: IntegrationUpdate,
    ): Promise<Integration> {
      const faults = faultsOfFields(body)
      if (faults.length > 0) throw invalidAll(faults)
      const updated = await relational.transaction(async (tx) => {
        const workflow = await getWorkflowForUpdate(tx, caller.principal, workflowId)
        const stored = await getStored(tx, workflow, id)
        const { name, domain, filters, code, selector, enabled, parameters, emplacement } = body
        const { includeContext, includeDatalayerPath, waitForEvents } = body
        const { entrypointId } = body
        const entrypoint =
          entrypointId === undefined || entrypointId === stored.entrypointId
            ? undefined
            : await getEntrypoint(tx, workflow, entrypointId)
        const wanted = {
          name: name?.trim() ?? name,
          entrypointId,
          channel: entrypoint?.type,
          format: entrypoint?.format,
          parameters,
          domain: domain ? hostOf(domain) : domain,
          code,
          selector,
          enabled,
          includeContext,
          includeDatalayerPath,
          waitForEvents,
          filters: filters ? storedFilters(filters) : filters,
          emplacement,
        }
        const { type } = await readBack(tx, workflow, id)
        if (entrypoint && entrypoint.type !== type) {
          const message = `must be an entrypoint of the channel ${type}, and this one is ${entrypoint.type}: create another integration for it`
          throw invalid('entrypointId', message)
        }
        const unfit = [...faultsOfChannel(wanted, type), ...faultsOfCode(code, stored.code)]
        if (unfit.length > 0) throw invalidAll(unfit)
        const changes = changesOf(stored, wanted, unshown)
        if (changes.changed.length > 0) {
          await createIntegrationStore(tx).update(stored, definedOf(wanted))
          const details = { workflowId: workflow.id, ...changes }
          await record(tx, caller, 'integration-update', targetOf(stored), details)
        }
        return readBack(tx, workflow, id)
      })
      workflowChanged(normalizeId(workflowId))
      return updated
    },

    /** @throws {DomainError} `workflowNotFound` or `integrationNotFound` */
    async delete(caller: Caller, workflowId: string, id: string): Promise<void> {
      await relational.transaction(async (tx) => {
        const workflow = await getWorkflowForUpdate(tx, caller.principal, workflowId)
        const stored = await getStored(tx, workflow, id)
        await createIntegrationStore(tx).delete(stored)
        const { entrypointId, shortId } = stored
        const details = { workflowId: workflow.id, entrypointId, shortId }
        await record(tx, caller, 'integration-delete', targetOf(stored), details)
      })
      workflowChanged(normalizeId(workflowId))
    },
  }
}

const targetOf = ({ id, name, entrypointId }: StoredIntegration) => ({ id, name: name ?? entrypointId })
