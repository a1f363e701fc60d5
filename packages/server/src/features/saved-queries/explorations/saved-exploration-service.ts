import {
  type SavedExploration,
  type SavedExplorationCreation,
  type SavedExplorationUpdate,
  savedExplorationLimits,
} from '@millrace/contract/resources/saved-exploration.ts'
import { definedOf } from '../../../platform/changes.ts'
import { newId, normalizeId } from '../../../platform/ids.ts'
import type { Listed } from '../../../platform/paging.ts'
import { found, type ResourceContext, requireRoom } from '../../../platform/resources/resource.ts'
import { assertMayChange } from '../../../platform/statistics-rights.ts'
import { assertExpected, type Expected } from '../../../platform/stores/revision.ts'
import type { Principal } from '../../identity/sessions/principal.ts'
import { createDefinitionCheck, type ValidateExploration } from './check-definition.ts'
import {
  createSavedExplorationStore,
  type SavedExplorationList,
  toSavedExploration,
} from './saved-exploration-store.ts'

export interface SavedExplorationDependencies extends Pick<ResourceContext, 'relational' | 'lockCompany'> {
  readonly validateExploration: ValidateExploration
}

export type SavedExplorationService = ReturnType<typeof createSavedExplorationService>

const readerOf = ({ companyId, userId: readerId }: Principal) => ({ companyId, readerId })

/** Explorations under a name (docs/saved-queries.md, Saved explorations). */
export function createSavedExplorationService(dependencies: SavedExplorationDependencies) {
  const { relational, lockCompany } = dependencies
  const check = createDefinitionCheck(dependencies.validateExploration)
  const store = createSavedExplorationStore(relational.db)

  const find = async ({ companyId }: Principal, id: string) =>
    found(await store.find({ companyId, id: normalizeId(id) }), 'savedExplorationNotFound', id)

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
      await check(readerOf(principal), wanted)
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
      if (isChanged) await check(readerOf(principal), { exploration: present.exploration, definition })
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
