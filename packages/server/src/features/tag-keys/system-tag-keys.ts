import { newId } from '../../platform/ids.ts'
import { invalid } from '../../platform/invalid.ts'
import type { Key } from '../../platform/resources/company-rows.ts'
import { refusing } from '../../platform/resources/resource.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import { createTagKeyStore, type NewTagValue } from './tag-key-store.ts'
import { comparedName, hashOfName } from './tag-name.ts'

/** A value of a system tag key: `path` is where its name stands in the request. */
export interface SystemTagValue {
  /** Absent for a new value. */
  readonly id?: string | undefined
  readonly name: string
  readonly path: string
}

export interface SystemTagKey {
  readonly companyId: string
  readonly name: string
  readonly values: readonly SystemTagValue[]
}

/** Tag keys that the service makes and keeps: always inside the transaction of what they stand for. */
export type SystemTagKeys = ReturnType<typeof createSystemTagKeys>

export function createSystemTagKeys() {
  return {
    /**
     * @returns identifiers of the key and of its values, in their order
     * @throws {DomainError} `validation` or `tagKeyNameTaken`
     */
    async insert(tx: Queries, { companyId, name, values }: SystemTagKey) {
      const id = newId()
      const made = namedValues(values)
      const store = createTagKeyStore(tx)
      await refusing({ tag_keys_name: ['tagKeyNameTaken', { name }] }, () =>
        store.insert({
          id,
          companyId,
          ...named(name),
          description: '',
          cardinality: 'single',
          assignmentMode: 'system',
        }),
      )
      await store.insertValues({ companyId, id }, made)
      return { id, valueIds: made.map((value) => value.id) }
    },

    /** @throws {DomainError} `tagKeyNameTaken` */
    async rename(tx: Queries, key: Key, name: string) {
      await refusing({ tag_keys_name: ['tagKeyNameTaken', { name }] }, () =>
        createTagKeyStore(tx).update(key, named(name)),
      )
    },

    /**
     * Values that are not named are deleted; the others keep their identifiers, whatever their names are now.
     * @returns identifiers in their order
     * @throws {DomainError} `validation`
     */
    async replaceValues(tx: Queries, key: Key, values: readonly SystemTagValue[]): Promise<string[]> {
      const store = createTagKeyStore(tx)
      const wanted = namedValues(values)
      const kept = new Set(values.flatMap(({ id }) => (id === undefined ? [] : [id])))
      for (const { _id } of await store.listValues(key)) {
        if (!kept.has(_id)) await store.deleteValue(key, _id)
        // Two values may change their names for each other's.
        else await store.updateValue(key, _id, { nameHash: hashOfName(newId()) })
      }
      for (const { id, name, nameHash } of wanted)
        if (kept.has(id)) await store.updateValue(key, id, { name, nameHash })
      await store.insertValues(
        key,
        wanted.filter(({ id }) => !kept.has(id)),
      )
      await store.update(key, {})
      return wanted.map(({ id }) => id)
    },

    /** With its values, to which nothing refers. */
    async delete(tx: Queries, key: Key): Promise<void> {
      await createTagKeyStore(tx).delete(key)
    },
  }
}

const named = (name: string) => ({ name: name.trim(), nameHash: hashOfName(name) })

/** The index refuses repeated names too, without telling which. */
function namedValues(values: readonly SystemTagValue[]): NewTagValue[] {
  const seen = new Set<string>()
  return values.map(({ id = newId(), name, path }) => {
    const compared = comparedName(name)
    if (compared === '') throw invalid(path, 'must hold a character that is seen')
    if (seen.has(compared)) throw invalid(path, 'must differ from the names before it, also without case')
    seen.add(compared)
    return { id, ...named(name), description: '' }
  })
}
