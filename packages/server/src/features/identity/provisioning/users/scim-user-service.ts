import { isDeepStrictEqual } from 'node:util'
import { isId, normalizeId } from '../../../../platform/ids.ts'
import { parseEmailAddress } from '../../../../platform/mail/email-address.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import type { UserLifecycle } from '../../people/users/user-lifecycle.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { RoleAssignment } from '../groups/role-assignment.ts'
import { type Listed, type ListQuery, type Projection, totalOf } from '../protocol/listing.ts'
import { notOwnedName, ScimRefusal, takenUser } from '../protocol/refusal.ts'
import { impliedOf, type ScimResource, toUserResource } from '../protocol/resources.ts'
import { notAnAddress, type UserChange } from '../protocol/users/user-attributes.ts'
import type { UserDocument } from '../protocol/users/user-document.ts'
import { documentOf, fieldsOf, type UserFields } from '../protocol/users/user-fields.ts'
import type { ScimCall, ScimRequests, Work } from '../scim-request-service.ts'
import { createScimUserStore, type StoredScimUser } from './scim-user-store.ts'

export interface ScimUserDependencies extends Pick<IdentityContext, 'recordAudit'> {
  readonly requests: Pick<ScimRequests, 'read' | 'write'>
  readonly lifecycle: Pick<
    UserLifecycle,
    'create' | 'rename' | 'activateInvited' | 'endUnproven' | 'deactivate' | 'reactivate' | 'reset' | 'erase'
  >
  readonly roleAssignment: Pick<RoleAssignment, 'getRoleOfNewUsers'>
  /** Address of the SCIM service. */
  readonly baseUrl: () => string
}

const unknown = (id: string) =>
  new ScimRefusal('notFound', `There is no user ${JSON.stringify(id.slice(0, 60))}`)
const targetOf = ({ id, email }: { id: string; email: string }) => ({ kind: 'user', id, name: email })

/** Names of what differs between two documents: fields of the account by their names there, others by their own. */
function changesOf(before: UserDocument, after: UserDocument): string[] {
  const [had, has] = [fieldsOf(before), fieldsOf(after)]
  const fields = (Object.keys(has) as (keyof UserFields)[]).filter((name) => has[name] !== had[name])
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const others = [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]))
  return [...new Set([...fields, ...others])]
}

/** Whether the identity provider has deleted the user, whom no administrator has reactivated since. */
const isDeleted = ({ unprovisionedAt, status, serviceAccount }: StoredScimUser) =>
  unprovisionedAt !== null && status === 'disabled' && !serviceAccount

/**
 * Whether the identity provider has deleted a user of this account and means another one now (RFC 7643 3.1: its
 * identifier is what it distinguishes users by). An absent identifier means nothing.
 */
const isAnother = (
  { unprovisionedAt, formerExternalId }: StoredScimUser,
  externalId: string | null | undefined,
) => unprovisionedAt !== null && externalId !== undefined && externalId !== formerExternalId

export type ScimUsers = ReturnType<typeof createScimUserService>

/** `/Users` of the SCIM service: users of the company whose token it is. */
export function createScimUserService(dependencies: ScimUserDependencies) {
  const { requests, lifecycle, roleAssignment, recordAudit, baseUrl } = dependencies

  async function present({ tx, companyId, settings }: Work, id: string): Promise<ScimResource> {
    const user = await createScimUserStore(tx).find(companyId, id, settings.groupSync)
    if (!user) throw unknown(id)
    return toUserResource(user, baseUrl())
  }

  async function lock({ tx, companyId }: Work, id: string): Promise<StoredScimUser> {
    const user = isId(id) ? await createScimUserStore(tx).lock(companyId, normalizeId(id)) : undefined
    if (!user) throw unknown(id)
    return user
  }

  /** An invited user whom the identity provider provisions becomes active and needs no invitation. */
  async function setActive({ tx, source }: Work, user: StoredScimUser, active: boolean | undefined) {
    if (active === false) await lifecycle.deactivate(tx, user, source)
    else if (user.status === 'invited') await lifecycle.activateInvited(tx, user)
    else if (active && user.status === 'disabled') await lifecycle.reactivate(tx, user, source)
  }

  /** A repeated request changes nothing and adds no change to the audit log. */
  async function apply(work: Work, user: StoredScimUser, { active, revise }: UserChange): Promise<void> {
    const { tx, companyId, source } = work
    const before = documentOf(user.sent, user)
    const after = revise(before, impliedOf(user))
    const { externalId } = fieldsOf(after)
    if (!user.provisioned && externalId !== null && isAnother(user, externalId)) throw takenUser()
    if (!user.provisioned) await lifecycle.endUnproven(tx, companyId, [user.id], source)
    const changed = changesOf(before, after)
    if (changed.length > 0 || !user.provisioned) {
      const store = createScimUserStore(tx)
      await store.update(user.id, fieldsOf(after))
      await store.keep(user.id, after)
      const details = { fields: changed, ...(!user.provisioned && { provisioned: true }) }
      const target = targetOf(user)
      await recordAudit(tx, { companyId, action: 'user-update', target, details, ...source })
    }
    await setActive(work, user, active)
  }

  /**
   * An address outlives its holder. One whom the identity provider deleted comes back as a new user under the old id
   * when it gives the same identifier; otherwise the address is another user's now, and the former account ends.
   */
  async function keepsAddress(work: Work, user: StoredScimUser, externalId: string | null) {
    const { tx, companyId, source } = work
    if (!isDeleted(user)) return true
    if (isAnother(user, externalId)) {
      await lifecycle.erase(tx, user, source)
      return false
    }
    await lifecycle.reset(tx, user, await roleAssignment.getRoleOfNewUsers(tx, companyId), source)
    return true
  }

  /** True when the address was still that of a user whom the identity provider deleted, and is free now. */
  async function freeAddress({ tx, companyId, source }: Work, email: string): Promise<boolean> {
    const holder = await createScimUserStore(tx).lockByAddress(companyId, email)
    return holder !== undefined && isDeleted(holder) && lifecycle.erase(tx, holder, source)
  }

  /** Undefined when the name is set or stays, otherwise the reason why it cannot be set. */
  async function rename(
    work: Work,
    user: StoredScimUser,
    userName: string | undefined,
  ): Promise<ScimRefusal | undefined> {
    const { tx, companyId, source } = work
    if (userName === undefined) return undefined
    const email = parseEmailAddress(userName)
    if (email === undefined) return notAnAddress(userName)
    if (email === user.email) return undefined
    const newUserRoleId = await roleAssignment.getRoleOfNewUsers(tx, companyId)
    const result = await lifecycle.rename(tx, user, email, newUserRoleId, source)
    if (result === 'renamed') return undefined
    if (result === 'taken' && (await freeAddress(work, email))) return rename(work, user, userName)
    return result === 'taken' ? takenUser() : notOwnedName()
  }

  async function create(work: Work, userName: string, change: UserChange): Promise<{ id: string }> {
    const { tx, companyId, source } = work
    const email = parseEmailAddress(userName)
    if (email === undefined) throw notAnAddress(userName)
    const { active = true, revise } = change
    const store = createScimUserStore(tx)
    const document = revise({}, {})
    const { externalId } = fieldsOf(document)
    const found = await store.lockByAddress(companyId, email)
    const existing = found && (await keepsAddress(work, found, externalId)) ? found : undefined
    if (existing) {
      const isFree = !existing.serviceAccount && !existing.provisioned && !isAnother(existing, externalId)
      if (!isFree) throw takenUser()
      await apply(work, existing, { active, revise })
      return existing
    }
    const user = {
      ...fieldsOf(document),
      companyId,
      email,
      // Users of other companies stay hidden: the address signs in to the account that it did before.
      sharesEmail: true,
      status: active ? ('active' as const) : ('disabled' as const),
      roleId: await roleAssignment.getRoleOfNewUsers(tx, companyId),
      passwordHash: null,
      teamIds: [await createPeopleStore(tx).getDefaultTeam(companyId)],
      provisioned: true,
    }
    const created = await lifecycle.create(tx, user, source)
    if (!created) throw takenUser()
    await store.keep(created.id, document)
    return created
  }

  return {
    /** @throws ScimRefusal `invalidFilter` or `invalidValue` */
    list: (call: ScimCall, query: ListQuery, projection: Projection): Promise<Listed> =>
      requests.read(call, async ({ tx, companyId, settings }) => {
        const store = createScimUserStore(tx)
        const hasGroups = settings.groupSync
        const found = await store.list(companyId, query, {
          hasGroups,
          showsGroups: projection.has('groups'),
        })
        const resources = found.map((user) => projection.apply(toUserResource(user, baseUrl())))
        const count = () => store.count(companyId, query, hasGroups)
        return { reply: { resources, total: await totalOf(query, found.length, count) } }
      }),

    /** @throws ScimRefusal `notFound` */
    read: (call: ScimCall, id: string): Promise<ScimResource> =>
      requests.read(call, async (work) => {
        if (!isId(id)) throw unknown(id)
        return { reply: await present(work, normalizeId(id)) }
      }),

    /**
     * A new user; or one of the company who is not provisioned yet, with id, role and teams as they are; or the user
     * whom it deleted before, with the same id alone.
     * @throws ScimRefusal `uniqueness`
     */
    create: (call: ScimCall, change: UserChange & { readonly userName: string }): Promise<ScimResource> =>
      requests.write(call, async (work) => {
        const { id } = await create(work, change.userName, change)
        return {
          reply: await present(work, id),
          target: targetOf({ id, email: change.userName.toLowerCase() }),
        }
      }),

    /**
     * A new userName is a new address of the account. One that cannot be set refuses the request, unless the request
     * deactivates the user: then the rest is done, and the reply shows the userName that stays.
     * @throws ScimRefusal `notFound`, `uniqueness`, `mutability` or `invalidValue`; DomainError `lastAdministrator`
     */
    change: (call: ScimCall, id: string, change: UserChange): Promise<ScimResource> =>
      requests.write(call, async (work) => {
        const user = await lock(work, id)
        const refusal = await rename(work, user, change.userName)
        if (refusal && change.active !== false) throw refusal
        // Read again: the user may have another address now.
        await apply(work, await lock(work, id), change)
        const omitted = refusal && { notRenamed: refusal.scimType }
        const reply = await present(work, user.id)
        return { reply, target: targetOf(user), ...(omitted && { omitted }) }
      }),

    /**
     * Deactivates and hides the user, who keeps nothing but the id; the same userName with the same externalId brings
     * that id back.
     * @throws ScimRefusal `notFound`; DomainError `lastAdministrator`
     */
    delete: (call: ScimCall, id: string): Promise<void> =>
      requests.write(call, async (work) => {
        const { tx, companyId, source } = work
        const user = await lock(work, id)
        await lifecycle.reset(tx, user, await roleAssignment.getRoleOfNewUsers(tx, companyId), source)
        await createScimUserStore(tx).release(user.id)
        return { reply: undefined, target: targetOf(user) }
      }),
  }
}
