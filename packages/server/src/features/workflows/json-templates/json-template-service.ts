import type { Warning } from '@millrace/contract/envelope.ts'
import {
  type JsonTemplate,
  type JsonTemplateInput,
  templateLimits,
} from '@millrace/contract/resources/json-template.ts'
import { auditEventOf, type RecordAudit } from '../../../platform/audit.ts'
import { changesOf } from '../../../platform/changes.ts'
import { DomainError } from '../../../platform/errors.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import { invalidAll } from '../../../platform/invalid.ts'
import { type Listed, type Page, rangeOf } from '../../../platform/paging.ts'
import { namingTeams } from '../../../platform/stores/named-teams.ts'
import type { Queries, Relational } from '../../../platform/stores/relational.ts'
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

export interface JsonTemplateServiceDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly recordAudit: RecordAudit
  /** Waits until no other transaction holds the company. */
  readonly lockCompany: (tx: Queries, companyId: string) => Promise<void>
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
  const { relational, recordAudit, lockCompany, requireMemberTeams, requireUnused } = dependencies

  async function getForUpdate(
    tx: Queries,
    principal: Principal,
    id: string,
    expected: Expected,
  ): Promise<StoredTemplate> {
    const found = await createJsonTemplateStore(tx).findForUpdate(principal, normalizeId(id))
    if (!found) throw absent(id)
    await assertExpected(tx, found, expected)
    return found
  }

  /** Whichever teams see it now. */
  async function readBack(tx: Queries, key: { companyId: string; id: string }): Promise<JsonTemplate> {
    const found = await createJsonTemplateStore(tx).findByKey(key)
    if (!found) throw absent(key.id)
    return toTemplate(found)
  }

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
      const teamIds = workflow?.resourceGroupIds
      const store = createJsonTemplateStore(relational.db)
      const [rows, count] = await Promise.all([
        store.list(principal, teamIds, rangeOf(page)),
        store.count(principal, teamIds),
      ])
      return { rows: rows.map(toTemplate), count }
    },

    /** @throws {DomainError} `jsonTemplateNotFound` */
    async read(principal: Principal, id: string): Promise<JsonTemplate> {
      const found = await createJsonTemplateStore(relational.db).find(principal, normalizeId(id))
      if (!found) throw absent(id)
      return toTemplate(found)
    },

    /** @throws {DomainError} `validation`, `unknownTeam`, `notInTeam` or `tooManyJsonTemplates` */
    create(caller: Caller, body: JsonTemplateInput): Promise<SavedTemplate> {
      const { principal } = caller
      const { companyId } = principal
      const { fields, warnings } = fieldsOf(body)
      return namingTeams(teamsKey, body.resourceGroupIds, () =>
        relational.transaction(async (tx) => {
          const store = createJsonTemplateStore(tx)
          await lockCompany(tx, companyId)
          const limit = templateLimits.perCompany
          if ((await store.countOfCompany(companyId)) >= limit) {
            throw new DomainError('tooManyJsonTemplates', { limit })
          }
          const teamIds = await requireMemberTeams(tx, principal, body.resourceGroupIds)
          const id = newId()
          await store.insert({ id, companyId, ...fields, lastSavedBy: principal.userId })
          await store.replaceTeams({ companyId, id }, teamIds)
          const target = { kind: 'json-template', id, name: fields.name }
          const details = { resourceGroupIds: teamIds, variables: fields.variables.length }
          await recordAudit(tx, auditEventOf(caller, 'json-template-create', target, details))
          return { template: await readBack(tx, { companyId, id }), warnings }
        }),
      )
    },

    /** @throws {DomainError} `validation`, `jsonTemplateNotFound`, `savedMeanwhile`, `unknownTeam` or `notInTeam` */
    replace(caller: Caller, id: string, body: JsonTemplateInput, expected: Expected): Promise<SavedTemplate> {
      const { principal } = caller
      const { fields, warnings } = fieldsOf(body)
      return namingTeams(teamsKey, body.resourceGroupIds, () =>
        relational.transaction(async (tx) => {
          const stored = await getForUpdate(tx, principal, id, expected)
          const present = stored.resourceGroupIds
          const teamIds = await requireMemberTeams(tx, principal, body.resourceGroupIds, present)
          const changes = changesOf(stored, { ...fields, resourceGroupIds: teamIds }, unshown)
          if (changes.changed.length > 0) {
            const store = createJsonTemplateStore(tx)
            await store.update(stored, { ...fields, lastSavedBy: principal.userId })
            if (changes.changed.includes('resourceGroupIds')) await store.replaceTeams(stored, teamIds)
            const event = auditEventOf(caller, 'json-template-update', targetOf(stored), { ...changes })
            await recordAudit(tx, event)
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
        await recordAudit(tx, auditEventOf(caller, 'json-template-delete', targetOf(stored)))
      })
    },
  }
}

const absent = (id: string) => new DomainError('jsonTemplateNotFound', { id: normalizeId(id) })

const targetOf = ({ id, name }: StoredTemplate) => ({ kind: 'json-template', id, name })

const teamsKey = 'json_template_teams_team'

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
