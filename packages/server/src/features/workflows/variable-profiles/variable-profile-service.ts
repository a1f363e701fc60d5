import {
  maxVariableProfiles,
  type VariableProfile,
  type VariableProfileInput,
} from '@millrace/contract/resources/variable-profile.ts'
import { auditEventOf, type RecordAudit } from '../../../platform/audit.ts'
import { changesOf } from '../../../platform/changes.ts'
import { DomainError } from '../../../platform/errors.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import { invalidAll } from '../../../platform/invalid.ts'
import { type Listed, type Page, rangeOf } from '../../../platform/paging.ts'
import type { Queries, Relational } from '../../../platform/stores/relational.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import { faultsOfNames } from '../integrations/integration-fields.ts'
import { createVariableProfileStore, type ProfileFields } from './variable-profile-store.ts'

export interface VariableProfileServiceDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly recordAudit: RecordAudit
  /** Waits until no other transaction holds the company. */
  readonly lockCompany: (tx: Queries, companyId: string) => Promise<void>
}

export type VariableProfileService = ReturnType<typeof createVariableProfileService>

/** Variable profiles of a company (docs/workflows.md, Variable profiles). */
export function createVariableProfileService({
  relational,
  recordAudit,
  lockCompany,
}: VariableProfileServiceDependencies) {
  async function getForUpdate(tx: Queries, { companyId }: Principal, id: string): Promise<VariableProfile> {
    const found = await createVariableProfileStore(tx).findForUpdate({ companyId, id: normalizeId(id) })
    if (!found) throw absent(id)
    return found
  }

  async function readBack(tx: Queries, key: { companyId: string; id: string }): Promise<VariableProfile> {
    const found = await createVariableProfileStore(tx).find(key)
    if (!found) throw absent(key.id)
    return found
  }

  return {
    async list({ companyId }: Principal, page: Page): Promise<Listed<VariableProfile>> {
      const store = createVariableProfileStore(relational.db)
      const [rows, count] = await Promise.all([store.list(companyId, rangeOf(page)), store.count(companyId)])
      return { rows, count }
    },

    /** @throws {DomainError} `variableProfileNotFound` */
    read({ companyId }: Principal, id: string): Promise<VariableProfile> {
      return readBack(relational.db, { companyId, id: normalizeId(id) })
    },

    /** @throws {DomainError} `validation` or `tooManyVariableProfiles` */
    create(caller: Caller, body: VariableProfileInput): Promise<VariableProfile> {
      const { companyId } = caller.principal
      const fields = fieldsOf(body)
      return relational.transaction(async (tx) => {
        const store = createVariableProfileStore(tx)
        await lockCompany(tx, companyId)
        const limit = maxVariableProfiles
        if ((await store.count(companyId)) >= limit)
          throw new DomainError('tooManyVariableProfiles', { limit })
        const id = newId()
        await store.insert({ id, companyId, ...fields })
        const target = { kind: 'variable-profile', id, name: fields.name }
        const details = { parameters: fields.parameters.map(({ name }) => name) }
        await recordAudit(tx, auditEventOf(caller, 'variable-profile-create', target, details))
        return readBack(tx, { companyId, id })
      })
    },

    /** @throws {DomainError} `validation` or `variableProfileNotFound` */
    replace(caller: Caller, id: string, body: VariableProfileInput): Promise<VariableProfile> {
      const fields = fieldsOf(body)
      return relational.transaction(async (tx) => {
        const profile = await getForUpdate(tx, caller.principal, id)
        const changes = changesOf(profile, fields)
        if (changes.changed.length > 0) {
          await createVariableProfileStore(tx).update(profile, fields)
          const event = auditEventOf(caller, 'variable-profile-update', targetOf(profile), { ...changes })
          await recordAudit(tx, event)
        }
        return readBack(tx, profile)
      })
    },

    /** @throws {DomainError} `variableProfileNotFound` */
    async delete(caller: Caller, id: string): Promise<void> {
      await relational.transaction(async (tx) => {
        const profile = await getForUpdate(tx, caller.principal, id)
        const store = createVariableProfileStore(tx)
        const workflows = await store.takeFromWorkflows(profile)
        await store.delete(profile)
        const event = auditEventOf(caller, 'variable-profile-delete', targetOf(profile), { workflows })
        await recordAudit(tx, event)
      })
    },
  }
}

const absent = (id: string) => new DomainError('variableProfileNotFound', { id: normalizeId(id) })

const targetOf = ({ id, name }: VariableProfile) => ({ kind: 'variable-profile', id, name })

function fieldsOf({ name, parameters }: VariableProfileInput): ProfileFields {
  const names = parameters.map((parameter) => parameter.name)
  const faults = faultsOfNames(names, (place) => `parameters.${place}.name`)
  if (faults.length > 0) throw invalidAll(faults)
  return { name: name.trim(), parameters }
}
