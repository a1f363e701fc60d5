import type { Warning } from '@millrace/contract/envelope.ts'
import {
  type JsonTemplate,
  type JsonTemplateInput,
  templateLimits,
} from '@millrace/contract/resources/json-template.ts'
import { changesOf } from '../../../platform/changes.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import { invalidAll } from '../../../platform/invalid.ts'
import type { Listed, Page } from '../../../platform/paging.ts'
import { type Key, madeNow } from '../../../platform/resources/company-rows.ts'
import {
  found,
  type ResourceContext,
  recorderOf,
  refusing,
  requireRoom,
} from '../../../platform/resources/resource.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import { assertExpected, type Expected } from '../../../platform/stores/revision.ts'
import type { RequireMemberTeams } from '../../identity/people/teams/resource-groups.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import { getWorkflow } from '../versions/version-reader.ts'
import type { UsesReader } from '../workflow-uses-service.ts'
import {
  createJsonTemplateStore,
  type StoredTemplate,
  type TemplateFields,
  toTemplate,
} from './json-template-store.ts'
import { checkTemplate } from './template-faults.ts'

export interface JsonTemplateServiceDependencies extends ResourceContext {
  readonly requireMemberTeams: RequireMemberTeams
  /** @throws {DomainError} `usedByWorkflows` while a published workflow uses the template */
  readonly requireUnused: (tx: Queries, reader: UsesReader, templateId: string) => Promise<void>
}

export type JsonTemplateService = ReturnType<typeof createJsonTemplateService>

/** A template, and what to know about it. */
export interface SavedTemplate {
  readonly template: JsonTemplate
  readonly warnings: readonly Warning[]
}

/** What may be long: the audit log names it without its values. */
const unshown = new Set(['definition', 'variables'])

/** JSON templates of a company (docs/workflows.md, JSON templates). */
export function createJsonTemplateService(dependencies: JsonTemplateServiceDependencies) {
  const { relational, lockCompany, requireMemberTeams, requireUnused } = dependencies
  const record = recorderOf('json-template', dependencies.recordAudit)

  async function getForUpdate(
    tx: Queries,
    principal: Principal,
    id: string,
    expected: Expected,
  ): Promise<StoredTemplate> {
    const held = await createJsonTemplateStore(tx).findForUpdate(principal, normalizeId(id))
    const template = found(held, 'jsonTemplateNotFound', id)
    await assertExpected(tx, template, expected)
    return template
  }

  /** Whichever teams see it now. */
  const readBack = async (tx: Queries, key: Key): Promise<JsonTemplate> =>
    toTemplate(found(await createJsonTemplateStore(tx).findByKey(key), 'jsonTemplateNotFound', key.id))

  return {
    /**
     * Operation 11. @param workflowId only those that this workflow can use
     * @throws {DomainError} `workflowNotFound`
     */
    async list(
      principal: Principal,
      workflowId: string | undefined,
      page: Page,
    ): Promise<Listed<JsonTemplate>> {
      const workflow =
        workflowId === undefined ? undefined : await getWorkflow(relational.db, principal, workflowId)
      return createJsonTemplateStore(relational.db).list(principal, workflow?.resourceGroupIds, page)
    },

    /** @throws {DomainError} `jsonTemplateNotFound` */
    async read(principal: Principal, id: string): Promise<JsonTemplate> {
      const stored = await createJsonTemplateStore(relational.db).find(principal, normalizeId(id))
      return toTemplate(found(stored, 'jsonTemplateNotFound', id))
    },

    /** @throws {DomainError} `validation`, `unknownTeam`, `notInTeam` or `tooManyJsonTemplates` */
    create(caller: Caller, body: JsonTemplateInput): Promise<SavedTemplate> {
      const { principal } = caller
      const { companyId } = principal
      const { fields, warnings } = fieldsOf(body)
      return refusing(failuresOf(body), () =>
        relational.transaction(async (tx) => {
          const store = createJsonTemplateStore(tx)
          await lockCompany(tx, companyId)
          requireRoom(
            'tooManyJsonTemplates',
            templateLimits.perCompany,
            await store.countOfCompany(companyId),
          )
          const teamIds = await requireMemberTeams(tx, principal, body.resourceGroupIds)
          const id = newId()
          await store.insert({ id, companyId, ...fields, lastSavedBy: principal.userId, ...madeNow })
          await store.replaceTeams({ companyId, id }, teamIds)
          const details = { resourceGroupIds: teamIds, variables: fields.variables.length }
          await record(tx, caller, 'json-template-create', { id, name: fields.name }, details)
          return { template: await readBack(tx, { companyId, id }), warnings }
        }),
      )
    },

    /** @throws {DomainError} `validation`, `jsonTemplateNotFound`, `savedMeanwhile`, `unknownTeam` or `notInTeam` */
    replace(caller: Caller, id: string, body: JsonTemplateInput, expected: Expected): Promise<SavedTemplate> {
      const { principal } = caller
      const { fields, warnings } = fieldsOf(body)
      return refusing(failuresOf(body), () =>
        relational.transaction(async (tx) => {
          const stored = await getForUpdate(tx, principal, id, expected)
          const present = stored.resourceGroupIds
          const teamIds = await requireMemberTeams(tx, principal, body.resourceGroupIds, present)
          const changes = changesOf(stored, { ...fields, resourceGroupIds: teamIds }, unshown)
          if (changes.changed.length > 0) {
            const store = createJsonTemplateStore(tx)
            await store.update(stored, { ...fields, lastSavedBy: principal.userId })
            if (changes.changed.includes('resourceGroupIds')) await store.replaceTeams(stored, teamIds)
            await record(tx, caller, 'json-template-update', stored, { ...changes })
          }
          return { template: await readBack(tx, stored), warnings }
        }),
      )
    },

    /** @throws {DomainError} `jsonTemplateNotFound`, `savedMeanwhile` or `usedByWorkflows` */
    async delete(caller: Caller, id: string, expected: Expected): Promise<void> {
      await relational.transaction(async (tx) => {
        const stored = await getForUpdate(tx, caller.principal, id, expected)
        const { companyId, userId: readerId } = caller.principal
        await requireUnused(tx, { companyId, readerId }, stored.id)
        await createJsonTemplateStore(tx).delete(stored)
        await record(tx, caller, 'json-template-delete', stored)
      })
    },
  }
}

const failuresOf = ({ resourceGroupIds: teamIds }: JsonTemplateInput) =>
  ({ json_template_teams_team: ['unknownTeam', { teamIds }] }) as const

/** @throws {DomainError} `validation` */
function fieldsOf(body: JsonTemplateInput): {
  readonly fields: TemplateFields
  readonly warnings: readonly Warning[]
} {
  const { faults, warnings } = checkTemplate(body)
  if (faults.length > 0) throw invalidAll(faults)
  const { definition, variables = [], redirectVariable = null } = body
  return { fields: { name: body.name.trim(), definition, variables, redirectVariable }, warnings }
}
