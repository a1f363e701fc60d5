import type { Role, RoleCreation, RoleUpdate } from '@millrace/contract/resources/role.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId, normalizeId } from '../../../../platform/ids.ts'
import { type Listed, mapListed, type Page } from '../../../../platform/paging.ts'
import { found, recorderOf, refusing, withIsoDates } from '../../../../platform/resources/resource.ts'
import { mapConstraintViolation, type Queries } from '../../../../platform/stores/relational.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Caller, Principal } from '../../sessions/principal.ts'
import { createPeopleStore } from '../people-store.ts'
import type { UserLifecycle } from '../users/user-lifecycle.ts'
import { permissionsAbove } from './grants.ts'
import { createRoleStore, type StoredRole } from './role-store.ts'

export interface RoleServiceDependencies extends IdentityContext {
  readonly lifecycle: Pick<UserLifecycle, 'transact'>
  /** Settings of other features that name the role, in words for a message; inside the transaction that deletes it. */
  readonly settingsNaming?: (
    tx: Queries,
    role: { id: string; companyId: string },
  ) => Promise<readonly string[]>
}

const toRole = (stored: StoredRole): Role => withIsoDates(stored)

/** @throws DomainError `permissionAboveOwn` for permissions that the caller does not have */
function requireOwn(principal: Principal, permissions: readonly string[]): void {
  const above = permissionsAbove(principal, permissions)
  if (above.length > 0) throw new DomainError('permissionAboveOwn', { permissions: above })
}

export type RoleService = ReturnType<typeof createRoleService>

/** Roles of a company. Callers give and take only permissions that they hold themselves. */
export function createRoleService(dependencies: RoleServiceDependencies) {
  const { relational, lifecycle, settingsNaming = async () => [] } = dependencies
  const record = recorderOf('role', dependencies.recordAudit)

  async function get(queries: Queries, { companyId }: Principal, id: string): Promise<StoredRole> {
    return found(await createRoleStore(queries).find(companyId, normalizeId(id)), 'roleNotFound', id)
  }

  /** Locked until the transaction ends, so that it is given to no one meanwhile. */
  async function getForUpdate(tx: Queries, principal: Principal, id: string): Promise<StoredRole> {
    await createPeopleStore(tx).lockCompany(principal.companyId)
    await createRoleStore(tx).lock(principal.companyId, normalizeId(id))
    const role = await get(tx, principal, id)
    if (role.builtIn) throw new DomainError('builtInRole', { id: role.id })
    return role
  }

  /** A role that rows of other features refer to stays. */
  const deleteUnlessReferenced = (id: string, work: (tx: Queries) => Promise<void>): Promise<void> =>
    mapConstraintViolation(
      () => lifecycle.transact(work),
      (_, cause) => new DomainError('roleInUse', { id, users: 0, settings: [] }, { cause }),
    )

  /** Settings that refer to the role, for a message. */
  async function usesOf(tx: Queries, role: StoredRole): Promise<string[]> {
    const isDefault = await createRoleStore(tx).isDefault(role.companyId, role.id)
    const others = await settingsNaming(tx, role)
    return [...(isDefault ? ['the default role of the company'] : []), ...others]
  }

  return {
    async list({ companyId }: Pick<Principal, 'companyId'>, page: Page): Promise<Listed<Role>> {
      return mapListed(await createRoleStore(relational.db).list(companyId, page), toRole)
    },

    /** @throws DomainError `roleNotFound` */
    async read(principal: Principal, id: string): Promise<Role> {
      return toRole(await get(relational.db, principal, id))
    },

    /** @throws DomainError `permissionAboveOwn` or `roleNameTaken` */
    async create(caller: Caller, { name, permissions }: RoleCreation): Promise<Role> {
      const { principal } = caller
      const id = newId()
      requireOwn(principal, permissions)
      await refusing({ roles_name: ['roleNameTaken', { name }] }, () =>
        lifecycle.transact(async (tx) => {
          const store = createRoleStore(tx)
          await store.insert({ id, companyId: principal.companyId, name })
          await store.addPermissions(id, permissions)
          await record(tx, caller, 'role-create', { id, name }, { permissions })
        }),
      )
      return toRole(await get(relational.db, principal, id))
    },

    /**
     * @throws DomainError `roleNotFound`, `builtInRole`, `permissionAboveOwn`, `roleNameTaken` or
     *   `lastAdministrator`
     */
    async update(caller: Caller, id: string, wanted: RoleUpdate): Promise<Role> {
      const { principal } = caller
      await refusing({ roles_name: ['roleNameTaken', { name: wanted.name ?? '' }] }, () =>
        lifecycle.transact(async (tx) => {
          const store = createRoleStore(tx)
          const role = await getForUpdate(tx, principal, id)
          const { name = role.name, permissions = role.permissions } = wanted
          const before: ReadonlySet<string> = new Set(role.permissions)
          const after: ReadonlySet<string> = new Set(permissions)
          const added = [...after].filter((permission) => !before.has(permission)).sort()
          const removed = [...before].filter((permission) => !after.has(permission)).sort()
          requireOwn(principal, [...added, ...removed])
          if (name === role.name && added.length + removed.length === 0) return
          await store.rename(role.id, name)
          await store.addPermissions(role.id, added)
          await store.removePermissions(role.id, removed)
          const details = { ...(name === role.name ? {} : { name }), added, removed }
          await record(tx, caller, 'role-update', role, details)
        }),
      )
      return toRole(await get(relational.db, principal, id))
    },

    /** @throws DomainError `roleNotFound`, `builtInRole`, `permissionAboveOwn` or `roleInUse` */
    async delete(caller: Caller, id: string): Promise<void> {
      const { principal } = caller
      await deleteUnlessReferenced(normalizeId(id), async (tx) => {
        const store = createRoleStore(tx)
        const role = await getForUpdate(tx, principal, id)
        requireOwn(principal, role.permissions)
        const settings = await usesOf(tx, role)
        if (role.userCount > 0 || settings.length > 0) {
          const what = [...(role.userCount > 0 ? [`${role.userCount} users`] : []), ...settings].join(', ')
          throw new DomainError(
            'roleInUse',
            { id: role.id, users: role.userCount, settings },
            { message: `This role is in use (${what}); choose another role there first` },
          )
        }
        await store.releaseFromDeleted(role.companyId, role.id)
        await store.delete(role.companyId, role.id)
        await record(tx, caller, 'role-delete', role, { permissions: role.permissions })
      })
    },
  }
}
