import type {
  TagKey,
  TagKeyCreation,
  TagKeyUpdate,
  TagValue,
  TagValueCreation,
  TagValueUpdate,
} from '@millrace/contract/resources/tag-key.ts'
import { maxTagValues } from '@millrace/contract/resources/tag-key.ts'
import { changesOf, definedOf } from '../../platform/changes.ts'
import { DomainError } from '../../platform/errors.ts'
import { newId, normalizeId } from '../../platform/ids.ts'
import { invalid } from '../../platform/invalid.ts'
import type { Listed, Page } from '../../platform/paging.ts'
import {
  found,
  type ResourceContext,
  recorderOf,
  refusing,
  requireRoom,
} from '../../platform/resources/resource.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { RequireResourceGroups } from '../identity/people/teams/resource-groups.ts'
import type { Caller, Principal } from '../identity/sessions/principal.ts'
import { createTagKeyStore, type NewTagValue, type StoredTagKey, toTagKey } from './tag-key-store.ts'
import { comparedName, hashOfName } from './tag-name.ts'

/** What keeps a tag key or a value from being deleted. */
export interface TagUse {
  readonly kind: 'experiment' | 'workflow'
  readonly id: string
  readonly name: string
}

/**
 * What uses a key: anything; or a value, with `valueId`: experiments only, since tags of branches go with it.
 * Asked inside the transaction that deletes, with the key locked: what begins to use it locks it too.
 */
export type ListUsesOfTag = (
  tx: Queries,
  tag: {
    readonly companyId: string
    readonly tagKeyId: string
    readonly valueId?: string
    /** Who is told of them, by the names that this user may know. */
    readonly readerId: string
  },
) => Promise<readonly TagUse[]>

export interface TagKeyServiceDependencies extends ResourceContext {
  readonly requireResourceGroups: RequireResourceGroups
  readonly listUsesOfTag: ListUsesOfTag
  /** Takes the key, or one value of it, from the branches of workflows. */
  readonly forgetTag: (
    tx: Queries,
    tag: { readonly companyId: string; readonly tagKeyId: string; readonly valueId?: string },
  ) => Promise<void>
}

/** Keys of a company that were made by hand. */
const maxTagKeys = 200
/** Uses that a failure names. */
const maxNamedUses = 20

export type TagKeyService = ReturnType<typeof createTagKeyService>

/** Tag keys of a company and their values. */
export function createTagKeyService(dependencies: TagKeyServiceDependencies) {
  const { relational, lockCompany, requireResourceGroups, listUsesOfTag, forgetTag } = dependencies
  const record = recorderOf('tag-key', dependencies.recordAudit)
  const recordValue = recorderOf('tag-value', dependencies.recordAudit)

  async function get(queries: Queries, { companyId }: Principal, id: string): Promise<TagKey> {
    const key = await createTagKeyStore(queries).find({ companyId, id: normalizeId(id) })
    return toTagKey(found(key, 'tagKeyNotFound', id))
  }

  /** Locked until the transaction ends, with its values: what changes or uses them locks the key first. */
  async function getForUpdate(tx: Queries, { companyId }: Principal, id: string): Promise<StoredTagKey> {
    const key = await createTagKeyStore(tx).findForUpdate({ companyId, id: normalizeId(id) })
    return found(key, 'tagKeyNotFound', id)
  }

  const getValue = async (tx: Queries, key: StoredTagKey, id: string): Promise<TagValue> =>
    found(await createTagKeyStore(tx).findValue(key, normalizeId(id)), 'tagValueNotFound', id)

  /** Changes one key and gives it as it is afterwards; the transaction holds all of it or nothing. */
  function change(
    caller: Caller,
    id: string,
    work: (tx: Queries, key: StoredTagKey) => Promise<void>,
  ): Promise<TagKey> {
    return relational.transaction(async (tx) => {
      const key = await getForUpdate(tx, caller.principal, id)
      refuseSystemKey(key)
      await work(tx, key)
      return get(tx, caller.principal, key.id)
    })
  }

  /** A use says more than that the service keeps the key: it comes first, also where the service made the key. */
  async function refuseUsedValue(
    tx: Queries,
    { userId: readerId }: Principal,
    key: StoredTagKey,
    valueId: string,
  ): Promise<void> {
    const uses = await listUsesOfTag(tx, { companyId: key.companyId, tagKeyId: key.id, valueId, readerId })
    if (uses.length === 0) return
    const experimentIds = uses.slice(0, maxNamedUses).map((use) => use.id)
    throw new DomainError('tagValueInUse', { id: valueId, experimentIds })
  }

  return {
    list: ({ companyId }: Principal, includeSystem: boolean, page: Page): Promise<Listed<TagKey>> =>
      createTagKeyStore(relational.db).list(companyId, includeSystem, page),

    /** @throws DomainError `tagKeyNotFound` */
    read(principal: Principal, id: string): Promise<TagKey> {
      return get(relational.db, principal, id)
    },

    /** @throws DomainError `validation`, `tagKeyNameTaken`, `tagValueNameTaken`, `tooManyTagKeys` or `unknownTeam` */
    async create(caller: Caller, { definition, resourceGroupIds }: TagKeyCreation): Promise<TagKey> {
      const { companyId } = caller.principal
      const { description = '', cardinality = 'single' } = definition
      const named = nameOf(definition.name, 'definition.name')
      const values = (definition.values ?? []).map((value, i) =>
        newValue(value, `definition.values.${i}.name`),
      )
      refuseRepeatedNames(values)
      const id = newId()
      return refusing(failuresOf(named.name, resourceGroupIds), () =>
        relational.transaction(async (tx) => {
          const store = createTagKeyStore(tx)
          await lockCompany(tx, companyId)
          requireRoom('tooManyTagKeys', maxTagKeys, await store.count(companyId))
          const teamIds = (await requireResourceGroups(tx, companyId, resourceGroupIds)) ?? []
          await store.insert({ id, companyId, ...named, description, cardinality })
          await store.insertValues({ companyId, id }, values)
          await store.replaceTeams({ companyId, id }, teamIds)
          const details = { cardinality, values: values.length, resourceGroupIds: teamIds }
          await record(tx, caller, 'tag-key-create', { id, name: named.name }, details)
          return get(tx, caller.principal, id)
        }),
      )
    },

    /** @throws DomainError `validation`, `tagKeyNotFound`, `tagKeyNameTaken`, `systemTagKey` or `unknownTeam` */
    async update(caller: Caller, id: string, wanted: TagKeyUpdate): Promise<TagKey> {
      const { definition = {} } = wanted
      const named = definition.name === undefined ? undefined : nameOf(definition.name, 'definition.name')
      return refusing(failuresOf(named?.name, wanted.resourceGroupIds), () =>
        change(caller, id, async (tx, key) => {
          const store = createTagKeyStore(tx)
          const { description, cardinality } = definition
          const resourceGroupIds = await requireResourceGroups(tx, key.companyId, wanted.resourceGroupIds)
          const changes = changesOf(key, { name: named?.name, description, cardinality, resourceGroupIds })
          if (changes.changed.length === 0) return
          await store.update(key, definedOf({ ...named, description, cardinality }))
          if (resourceGroupIds) await store.replaceTeams(key, resourceGroupIds)
          await record(tx, caller, 'tag-key-update', key, { ...changes })
        }),
      )
    },

    /** @throws DomainError `tagKeyNotFound`, `tagKeyInUse` or `systemTagKey` */
    async delete(caller: Caller, id: string): Promise<void> {
      await relational.transaction(async (tx) => {
        const key = await getForUpdate(tx, caller.principal, id)
        const { userId: readerId } = caller.principal
        const uses = await listUsesOfTag(tx, { companyId: key.companyId, tagKeyId: key.id, readerId })
        if (uses.length > 0) throw inUse(key, uses)
        refuseSystemKey(key)
        const store = createTagKeyStore(tx)
        const values = await store.countValues(key)
        await store.delete(key)
        await forgetTag(tx, { companyId: key.companyId, tagKeyId: key.id })
        await record(tx, caller, 'tag-key-delete', key, { values })
      })
    },

    /** @throws DomainError `validation`, `tagKeyNotFound`, `tagValueNameTaken`, `tooManyTagValues` or `systemTagKey` */
    async createValue(caller: Caller, id: string, wanted: TagValueCreation): Promise<TagKey> {
      const value = newValue(wanted, 'name')
      return refusing({ tag_values_name: ['tagValueNameTaken', { name: value.name }] }, () =>
        change(caller, id, async (tx, key) => {
          const store = createTagKeyStore(tx)
          requireRoom('tooManyTagValues', maxTagValues, await store.countValues(key))
          await store.insertValues(key, [value])
          await store.update(key, {})
          await recordValue(tx, caller, 'tag-value-create', value, { tagKeyId: key.id })
        }),
      )
    },

    /**
     * @throws DomainError `validation`, `tagKeyNotFound`, `tagValueNotFound`, `tagValueNameTaken` or `systemTagKey`
     */
    async updateValue(caller: Caller, id: string, valueId: string, wanted: TagValueUpdate): Promise<TagKey> {
      const named = wanted.name === undefined ? undefined : nameOf(wanted.name, 'name')
      return refusing({ tag_values_name: ['tagValueNameTaken', { name: named?.name ?? '' }] }, () =>
        change(caller, id, async (tx, key) => {
          const store = createTagKeyStore(tx)
          const value = await getValue(tx, key, valueId)
          const { description } = wanted
          const changes = changesOf(value, { name: named?.name, description })
          if (changes.changed.length === 0) return
          await store.updateValue(key, value._id, definedOf({ ...named, description }))
          await store.update(key, {})
          const target = { id: value._id, name: value.name }
          await recordValue(tx, caller, 'tag-value-update', target, { tagKeyId: key.id, ...changes })
        }),
      )
    },

    /**
     * Operation 9. @returns the key as it is afterwards
     * @throws DomainError `tagKeyNotFound`, `tagValueNotFound`, `tagValueInUse` or `systemTagKey`
     */
    deleteValue(caller: Caller, id: string, valueId: string): Promise<TagKey> {
      return relational.transaction(async (tx) => {
        const key = await getForUpdate(tx, caller.principal, id)
        const value = await getValue(tx, key, valueId)
        await refuseUsedValue(tx, caller.principal, key, value._id)
        refuseSystemKey(key)
        const store = createTagKeyStore(tx)
        await store.deleteValue(key, value._id)
        await forgetTag(tx, { companyId: key.companyId, tagKeyId: key.id, valueId: value._id })
        await store.update(key, {})
        const target = { id: value._id, name: value.name }
        await recordValue(tx, caller, 'tag-value-delete', target, { tagKeyId: key.id })
        return get(tx, caller.principal, key.id)
      })
    },
  }
}

/** Only keys that were made by hand are changed by hand. */
function refuseSystemKey({ id, assignmentMode }: StoredTagKey): void {
  if (assignmentMode === 'system') throw new DomainError('systemTagKey', { id })
}

/** A name as it is stored: without the spaces around it. */
function nameOf(text: string, path: string): { name: string; nameHash: Buffer } {
  if (comparedName(text) === '') throw invalid(path, 'must hold a character that is seen')
  return { name: text.trim(), nameHash: hashOfName(text) }
}

function newValue({ name, description = '' }: TagValueCreation, path: string): NewTagValue {
  return { id: newId(), ...nameOf(name, path), description }
}

/** The index refuses them too, without telling which. */
function refuseRepeatedNames(values: readonly NewTagValue[]): void {
  const seen = new Set<string>()
  for (const { name, nameHash } of values) {
    const key = nameHash.toString('hex')
    if (seen.has(key)) throw new DomainError('tagValueNameTaken', { name })
    seen.add(key)
  }
}

const failuresOf = (name = '', teamIds: string[] = []) =>
  ({
    tag_keys_name: ['tagKeyNameTaken', { name }],
    tag_key_teams_team: ['unknownTeam', { teamIds }],
  }) as const

function inUse({ id, name }: StoredTagKey, uses: readonly TagUse[]): DomainError {
  const named = uses.slice(0, maxNamedUses).map((use) => ({ kind: use.kind, id: use.id, name: use.name }))
  const shown = [...new Set(named.map((use) => `the ${use.kind} "${use.name}"`))].join(', ')
  const more = uses.length > named.length ? ` and ${uses.length - named.length} more` : ''
  return new DomainError(
    'tagKeyInUse',
    { id, uses: named },
    { message: `The tag key "${name}" is in use by ${shown}${more}; remove it there first` },
  )
}
