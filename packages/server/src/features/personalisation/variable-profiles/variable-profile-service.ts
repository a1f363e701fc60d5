import {
  maxVariableProfiles,
  type VariableProfile,
  type VariableProfileInput,
} from '@millrace/contract/resources/variable-profile.ts'
import { changesOf } from '../../../platform/changes.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import { invalidAll } from '../../../platform/invalid.ts'
import type { Listed, Page } from '../../../platform/paging.ts'
import { type Key, madeNow } from '../../../platform/resources/company-rows.ts'
import { found, type ResourceContext, recorderOf, requireRoom } from '../../../platform/resources/resource.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import { faultsOfNames } from '../integrations/integration-fields.ts'
import { createVariableProfileStore, type ProfileFields, toProfile } from './variable-profile-store.ts'

export type VariableProfileService = ReturnType<typeof createVariableProfileService>

/** Variable profiles of a company (docs/workflows.md, Variable profiles). */
export function createVariableProfileService({ relational, recordAudit, lockCompany }: ResourceContext) {
  const record = recorderOf('variable-profile', recordAudit)

  async function getForUpdate(tx: Queries, { companyId }: Principal, id: string) {
    const profile = await createVariableProfileStore(tx).findForUpdate({ companyId, id: normalizeId(id) })
    return found(profile, 'variableProfileNotFound', id)
  }

  const readBack = async (tx: Queries, key: Key): Promise<VariableProfile> =>
    toProfile(found(await createVariableProfileStore(tx).find(key), 'variableProfileNotFound', key.id))

  return {
    list: ({ companyId }: Principal, page: Page): Promise<Listed<VariableProfile>> =>
      createVariableProfileStore(relational.db).list(companyId, page),

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
        requireRoom('tooManyVariableProfiles', maxVariableProfiles, await store.count(companyId))
        const id = newId()
        await store.insert({ id, companyId, ...fields, ...madeNow })
        const details = { parameters: fields.parameters.map(({ name }) => name) }
        await record(tx, caller, 'variable-profile-create', { id, name: fields.name }, details)
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
          await record(tx, caller, 'variable-profile-update', profile, { ...changes })
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
        await record(tx, caller, 'variable-profile-delete', profile, { workflows })
      })
    },
  }
}

function fieldsOf({ name, parameters }: VariableProfileInput): ProfileFields {
  const names = parameters.map((parameter) => parameter.name)
  const faults = faultsOfNames(names, (place) => `parameters.${place}.name`)
  if (faults.length > 0) throw invalidAll(faults)
  return { name: name.trim(), parameters }
}
