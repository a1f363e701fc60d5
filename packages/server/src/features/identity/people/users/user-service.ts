import type { Colleague, User, UserUpdate } from '@millrace/contract/resources/user.ts'
import { actorOf } from '../../../../platform/audit.ts'
import { changesOf, definedOf } from '../../../../platform/changes.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { normalizeId } from '../../../../platform/ids.ts'
import { type Listed, mapListed, type Page } from '../../../../platform/paging.ts'
import { found, recorderOf, withIsoDates } from '../../../../platform/resources/resource.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Caller, Principal } from '../../sessions/principal.ts'
import { createPeopleStore } from '../people-store.ts'
import {
  requireGrantableRole,
  requireGrantableTeams,
  requireNotAbove,
  requireUnprovisioned,
} from '../roles/grants.ts'
import { type AuditSource, explainLastAdministrator, type UserLifecycle } from './user-lifecycle.ts'
import { createUserStore, personalFields, type StoredUser, type UserFilter } from './user-store.ts'

export interface UserServiceDependencies extends IdentityContext {
  readonly lifecycle: Pick<UserLifecycle, 'transact' | 'deactivate' | 'reactivate' | 'erase' | 'unlink'>
}

/** As other users of the company see a user. */
export function toUser(stored: StoredUser): User {
  const { theme: _theme, timezone: _timezone, favourites: _favourites, hasPassword: _, ...shown } = stored
  return withIsoDates(shown)
}

const explainUnlinking = explainLastAdministrator(
  'No administrator would be able to sign in: first let another one sign in through the identity provider or set a password',
)

export type UserService = ReturnType<typeof createUserService>

/** Users of a company, as its administrators see and change them. */
export function createUserService(dependencies: UserServiceDependencies) {
  const { relational, lifecycle } = dependencies
  const record = recorderOf('user', dependencies.recordAudit)

  async function get(queries: Queries, principal: Principal, id: string): Promise<StoredUser> {
    return found(
      await createUserStore(queries).find(principal.companyId, normalizeId(id)),
      'userIdNotFound',
      id,
    )
  }

  /** A user whom the caller may change; users and teams of the company are locked meanwhile. */
  async function getForUpdate(tx: Queries, principal: Principal, id: string): Promise<StoredUser> {
    await createPeopleStore(tx).lockCompany(principal.companyId)
    await createUserStore(tx).lock(principal.companyId, normalizeId(id))
    const user = await get(tx, principal, id)
    await requireNotAbove(tx, principal, user)
    return user
  }

  const sourceOf = ({ principal, address }: Caller): AuditSource => ({ actor: actorOf(principal), address })

  /** Changes one user inside a transaction, which refuses to leave the company without an administrator. */
  async function change(
    caller: Caller,
    id: string,
    work: (tx: Queries, user: StoredUser) => Promise<void>,
  ): Promise<void> {
    await lifecycle.transact(async (tx) => work(tx, await getForUpdate(tx, caller.principal, id)))
  }

  return {
    async list(
      { companyId }: Pick<Principal, 'companyId'>,
      filter: UserFilter,
      page: Page,
    ): Promise<Listed<User>> {
      const wanted = {
        ...filter,
        roleId: filter.roleId === undefined ? undefined : normalizeId(filter.roleId),
        teamId: filter.teamId === undefined ? undefined : normalizeId(filter.teamId),
      }
      return mapListed(await createUserStore(relational.db).list(companyId, wanted, page), toUser)
    },

    listColleagues(
      { companyId }: Pick<Principal, 'companyId'>,
      { q, ids }: { readonly q?: string | undefined; readonly ids?: readonly string[] | undefined },
      page: Page,
    ): Promise<Listed<Colleague>> {
      return createUserStore(relational.db).listColleagues(companyId, { q, ids: ids?.map(normalizeId) }, page)
    },

    /** @throws DomainError `userIdNotFound` */
    async read(principal: Principal, id: string): Promise<User> {
      return toUser(await get(relational.db, principal, id))
    },

    /**
     * @throws DomainError `userIdNotFound`, `userAboveOwn`, `unknownRole`, `roleAboveOwn`, `unknownTeam`, `notInTeam`
     *   or `lastAdministrator`
     */
    async update(caller: Caller, id: string, wanted: UserUpdate): Promise<User> {
      const { principal } = caller
      await change(caller, id, async (tx, user) => {
        const store = createUserStore(tx)
        const { firstName, lastName, jobTitle, phone, language } = wanted
        const isNewRole = wanted.roleId !== undefined && normalizeId(wanted.roleId) !== user.roleId
        const fields = {
          firstName,
          lastName,
          jobTitle,
          phone,
          language,
          roleId: isNewRole ? await requireGrantableRole(tx, principal, wanted.roleId ?? '') : undefined,
        }
        const resourceGroupIds =
          wanted.resourceGroupIds &&
          (await requireGrantableTeams(tx, principal, wanted.resourceGroupIds, user.resourceGroupIds))
        if (resourceGroupIds) {
          const [before, after] = [new Set(user.resourceGroupIds), new Set(resourceGroupIds)]
          const moved = [...before, ...after].filter((each) => before.has(each) !== after.has(each))
          await requireUnprovisioned(tx, principal.companyId, moved)
        }
        const changes = changesOf(user, { ...fields, resourceGroupIds }, personalFields)
        if (changes.changed.length === 0) return
        await store.update(user.id, definedOf(fields))
        if (resourceGroupIds && changes.changed.includes('resourceGroupIds'))
          await store.replaceTeams(user, resourceGroupIds)
        await record(tx, caller, 'user-update', { id: user.id, name: user.email }, { ...changes })
      })
      return toUser(await get(relational.db, principal, id))
    },

    /** @throws DomainError `userIdNotFound`, `userAboveOwn` or `lastAdministrator` */
    async deactivate(caller: Caller, id: string): Promise<User> {
      await change(caller, id, async (tx, user) => {
        await lifecycle.deactivate(tx, user, sourceOf(caller))
      })
      return toUser(await get(relational.db, caller.principal, id))
    },

    /** @throws DomainError `userIdNotFound`, `userAboveOwn`, or `userNotActive` for an invited user */
    async reactivate(caller: Caller, id: string): Promise<User> {
      await change(caller, id, async (tx, user) => {
        if (user.status === 'invited') {
          const message = 'This user has not signed in yet: there is nothing to reactivate'
          throw new DomainError('userNotActive', { email: user.email }, { message })
        }
        await lifecycle.reactivate(tx, user, sourceOf(caller))
      })
      return toUser(await get(relational.db, caller.principal, id))
    },

    /** @throws DomainError `userIdNotFound`, `userAboveOwn`, `singleSignOnLinkNotFound` or `lastAdministrator` */
    async unlink(caller: Caller, id: string): Promise<void> {
      const { permissions } = caller.principal
      await change(caller, id, async (tx, user) => {
        if (!(await lifecycle.unlink(tx, user, sourceOf(caller), permissions)))
          throw new DomainError('singleSignOnLinkNotFound', { id: user.id })
      }).catch(explainUnlinking)
    },

    /** @throws DomainError `userIdNotFound`, `userAboveOwn` or `lastAdministrator` */
    async delete(caller: Caller, id: string): Promise<void> {
      await change(caller, id, async (tx, user) => {
        await lifecycle.erase(tx, user, sourceOf(caller))
      })
    },
  }
}
