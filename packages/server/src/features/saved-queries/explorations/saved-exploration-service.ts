import {
  type ExplorationKind,
  explorationBodies,
  type SavedExploration,
  type SavedExplorationCreation,
  type SavedExplorationUpdate,
  savedExplorationLimits,
} from '@millrace/contract/resources/saved-exploration.ts'
import { definedOf } from '../../../platform/changes.ts'
import { faultOfShape } from '../../../platform/http/validation.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import { invalid, placed } from '../../../platform/invalid.ts'
import type { Listed } from '../../../platform/paging.ts'
import { found, type ResourceContext, requireRoom } from '../../../platform/resources/resource.ts'
import { assertMayChange } from '../../../platform/statistics-rights.ts'
import { assertExpected, type Expected } from '../../../platform/stores/revision.ts'
import type { Principal } from '../../identity/sessions/principal.ts'
import {
  createSavedExplorationStore,
  type SavedExplorationList,
  toSavedExploration,
} from './saved-exploration-store.ts'

export interface SavedExplorationDependencies extends Pick<ResourceContext, 'relational' | 'lockCompany'> {
  /** Throws what asking it would, without asking; the definition has the shape of its kind. */
  readonly validateExploration: (
    kind: ExplorationKind,
    definition: unknown,
    reader: { readonly companyId: string; readonly readerId: string },
  ) => Promise<void>
}

export type SavedExplorationService = ReturnType<typeof createSavedExplorationService>

type Asked = Pick<SavedExploration, 'exploration' | 'definition'>

/** Explorations under a name (docs/saved-queries.md, Saved explorations). */
export function createSavedExplorationService(dependencies: SavedExplorationDependencies) {
  const { relational, lockCompany, validateExploration } = dependencies
  const store = createSavedExplorationStore(relational.db)

  const find = async ({ companyId }: Principal, id: string) =>
    found(await store.find({ companyId, id: normalizeId(id) }), 'savedExplorationNotFound', id)

  /** @throws {DomainError} what is wrong with the definition, with its place */
  async function check({ companyId, userId: readerId }: Principal, { exploration, definition }: Asked) {
    const { length } = JSON.stringify(definition)
    const max = savedExplorationLimits.characters
    if (length > max)
      throw invalid('definition', `must have at most ${max} characters of JSON; it has ${length}`)
    const fault = faultOfShape(explorationBodies[exploration], definition)
    if (fault) throw invalid(['definition', fault.path].filter(Boolean).join('.'), fault.message)
    await validateExploration(exploration, definition, { companyId, readerId }).catch((error: unknown) => {
      throw placed(error, 'definition')
    })
  }

  return {
    list: ({ companyId }: Principal, wanted: SavedExplorationList): Promise<Listed<SavedExploration>> =>
      store.list(companyId, wanted),

    /** @throws {DomainError} `savedExplorationNotFound` */
    async read(principal: Principal, id: string): Promise<SavedExploration> {
      return toSavedExploration(await find(principal, id))
    },

    /** @throws {DomainError} `validation`, failures of explorations or `tooManySavedExplorations` */
    async save(principal: Principal, wanted: SavedExplorationCreation): Promise<SavedExploration> {
      const { companyId, userId } = principal
      await check(principal, wanted)
      return relational.transaction(async (tx) => {
        const within = createSavedExplorationStore(tx)
        await lockCompany(tx, companyId)
        const count = await within.countOfCompany(companyId)
        requireRoom('tooManySavedExplorations', savedExplorationLimits.perCompany, count)
        const { name, exploration, definition } = wanted
        const key = { id: newId(), companyId }
        const saver = { ownerId: userId, lastSavedBy: userId }
        await within.insert({ ...key, name: name.trim(), exploration, definition, ...saver })
        return toSavedExploration(found(await within.find(key), 'savedExplorationNotFound', key.id))
      })
    },

    /** @throws {DomainError} `savedExplorationNotFound`, `forbidden`, `savedMeanwhile`, and those of `save` */
    async update(
      principal: Principal,
      id: string,
      { name, definition }: SavedExplorationUpdate,
      expected: Expected,
    ): Promise<SavedExploration> {
      const present = await find(principal, id)
      assertMayChange(principal, [present.ownerId])
      const isChanged =
        definition !== undefined && JSON.stringify(definition) !== JSON.stringify(present.definition)
      if (isChanged) await check(principal, { exploration: present.exploration, definition })
      return relational.transaction(async (tx) => {
        const within = createSavedExplorationStore(tx)
        const locked = found(await within.findForUpdate(present), 'savedExplorationNotFound', id)
        await assertExpected(tx, locked, expected)
        const fields = definedOf({ name: name?.trim(), definition })
        if (Object.keys(fields).length > 0)
          await within.update(locked, { ...fields, lastSavedBy: principal.userId })
        return toSavedExploration(found(await within.find(locked), 'savedExplorationNotFound', id))
      })
    },

    /** @throws {DomainError} `savedExplorationNotFound`, `forbidden` or `savedMeanwhile` */
    async delete(principal: Principal, id: string, expected: Expected): Promise<void> {
      const present = await find(principal, id)
      assertMayChange(principal, [present.ownerId])
      await relational.transaction(async (tx) => {
        const within = createSavedExplorationStore(tx)
        const locked = found(await within.findForUpdate(present), 'savedExplorationNotFound', id)
        await assertExpected(tx, locked, expected)
        await within.delete(locked)
      })
    },
  }
}
