import type { RecordAudit } from '../../platform/audit.ts'
import { parseEmailAddress } from '../../platform/email-address.ts'
import { isId, normalizeId } from '../../platform/ids.ts'
import type { UserLifecycle } from '../accounts/user-lifecycle.ts'
import type { Listed, Projection, Range } from './protocol/listing.ts'
import type { EqualityFilter } from './protocol/path.ts'
import { ScimRefusal, takenUser } from './protocol/refusal.ts'
import { type ScimResource, toUserResource } from './protocol/resources.ts'
import type { UserChange, UserFields } from './protocol/user-attributes.ts'
import type { RoleAssignment } from './role-assignment.ts'
import type { ScimCall, ScimRequests, Work } from './scim-request-service.ts'
import { createScimUserStore, type StoredPerson, type UserMatch } from './scim-user-store.ts'

export interface ScimUserDependencies {
  readonly requests: Pick<ScimRequests, 'read' | 'write'>
  readonly lifecycle: Pick<
    UserLifecycle,
    'create' | 'admit' | 'deactivate' | 'reactivate' | 'reset' | 'erase'
  >
  readonly roleAssignment: Pick<RoleAssignment, 'findDefaultRole'>
  readonly recordAudit: RecordAudit
  /** Address of the SCIM service. */
  readonly baseUrl: () => string
}

const unknown = (id: string) =>
  new ScimRefusal('notFound', `There is no user ${JSON.stringify(id.slice(0, 60))}`)
const targetOf = ({ id, email }: { id: string; email: string }) => ({ kind: 'user', id, name: email })

/** Undefined when nobody can match, because of the form of the value. */
function matchOf({ name, where, sub, value }: EqualityFilter): UserMatch | undefined {
  const isWorkMail =
    name === 'emails' &&
    sub === 'value' &&
    where?.name === 'type' &&
    String(where.value).toLowerCase() === 'work'
  if (where !== undefined && !isWorkMail)
    throw new ScimRefusal(
      'invalidFilter',
      'The only filter with brackets is emails[type eq "work"].value eq "value"',
    )
  switch (isWorkMail ? 'emails.value' : name) {
    case 'username':
    case 'emails':
    case 'emails.value': {
      const email = parseEmailAddress(value)
      return email === undefined ? undefined : { email }
    }
    case 'externalid':
      return { externalId: value }
    case 'id':
      return isId(value) ? { id: normalizeId(value) } : undefined
    default:
      throw new ScimRefusal('invalidFilter', 'Users are found by userName, externalId, id or emails.value')
  }
}

/** Whether the identity provider has deleted the user, whom no administrator has reactivated since. */
const isDeleted = ({ unprovisionedAt, status, serviceAccount }: StoredPerson) =>
  unprovisionedAt !== null && status === 'disabled' && !serviceAccount

/**
 * Whether the identity provider has deleted a user of this account and means another one now (RFC 7643 3.1: its
 * identifier is what it tells users apart by). What a request leaves out says nothing.
 */
const isAnother = (
  { unprovisionedAt, formerExternalId }: StoredPerson,
  externalId: string | null | undefined,
) => unprovisionedAt !== null && externalId !== undefined && externalId !== formerExternalId

export type ScimUsers = ReturnType<typeof createScimUserService>

/** `/Users` of the SCIM service: people of the company whose token it is. */
export function createScimUserService(dependencies: ScimUserDependencies) {
  const { requests, lifecycle, roleAssignment, recordAudit, baseUrl } = dependencies

  async function present({ tx, companyId, settings }: Work, id: string): Promise<ScimResource> {
    const person = await createScimUserStore(tx).find(companyId, id, settings.groupSync)
    if (!person) throw unknown(id)
    return toUserResource(person, baseUrl())
  }

  async function lock({ tx, companyId }: Work, id: string): Promise<StoredPerson> {
    const person = isId(id) ? await createScimUserStore(tx).lock(companyId, normalizeId(id)) : undefined
    if (!person) throw unknown(id)
    return person
  }

  /** Somebody whom the identity provider says something about has come in and needs an invitation no more. */
  async function setActive({ tx, origin }: Work, person: StoredPerson, active: boolean | undefined) {
    if (active === false) await lifecycle.deactivate(tx, person, origin)
    else if (person.status === 'invited') await lifecycle.admit(tx, person)
    else if (active && person.status === 'disabled') await lifecycle.reactivate(tx, person, origin)
  }

  /** A repeated request changes nothing and is no change in the audit log. */
  async function apply(work: Work, person: StoredPerson, { active, fields }: UserChange): Promise<void> {
    const { tx, companyId, origin } = work
    if (!person.provisioned && isAnother(person, fields.externalId)) throw takenUser()
    const changed = (Object.keys(fields) as (keyof UserFields)[]).filter(
      (name) => fields[name] !== person[name],
    )
    if (changed.length > 0 || !person.provisioned) {
      await createScimUserStore(tx).update(person.id, fields)
      const details = { fields: changed, ...(!person.provisioned && { provisioned: true }) }
      const target = targetOf(person)
      await recordAudit(tx, { companyId, action: 'user-update', target, details, ...origin })
    }
    await setActive(work, person, active)
  }

  /**
   * An address outlives its holder. One whom the identity provider deleted comes back as a new user under the old id
   * when it gives the same identifier; otherwise the address is another user's now, and the former account ends.
   */
  async function keepsAddress(work: Work, person: StoredPerson, externalId: string | null = null) {
    const { tx, companyId, origin } = work
    if (person.companyId !== companyId || !isDeleted(person)) return true
    if (isAnother(person, externalId)) {
      await lifecycle.erase(tx, person, origin)
      return false
    }
    await lifecycle.reset(tx, person, await roleAssignment.findDefaultRole(tx, companyId), origin)
    return true
  }

  async function create(work: Work, userName: string, change: UserChange): Promise<{ id: string }> {
    const { tx, companyId, origin } = work
    const { active = true, fields } = change
    const store = createScimUserStore(tx)
    const found = await store.lockByAddress(companyId, userName)
    const existing = found && (await keepsAddress(work, found, fields.externalId)) ? found : undefined
    if (existing) {
      const isFree = !existing.serviceAccount && !existing.provisioned
      if (!isFree) throw takenUser()
      await apply(work, existing, { active, fields })
      return existing
    }
    const person = {
      ...fields,
      companyId,
      email: userName,
      // People of other companies are not told of: who signs in with the address stays who it was.
      sharesEmail: true,
      status: active ? ('active' as const) : ('disabled' as const),
      roleId: await roleAssignment.findDefaultRole(tx, companyId),
      passwordHash: null,
      teamIds: [await store.findDefaultTeam(companyId)],
      provisioned: true,
    }
    const created = await lifecycle.create(tx, person, origin)
    if (!created) throw takenUser()
    return created
  }

  return {
    /** @throws ScimRefusal `invalidFilter` */
    list: (
      call: ScimCall,
      filter: EqualityFilter | undefined,
      range: Range,
      projection: Projection,
    ): Promise<Listed> =>
      requests.read(call, async ({ tx, companyId, settings }) => {
        const match = filter === undefined ? {} : matchOf(filter)
        if (match === undefined) return { reply: { resources: [], total: 0 } }
        const store = createScimUserStore(tx)
        const withGroups = settings.groupSync && projection.has('groups')
        const people = await store.list(companyId, { match, ...range, withGroups })
        const resources = people.map((person) => projection.apply(toUserResource(person, baseUrl())))
        return { reply: { resources, total: await store.count(companyId, match) } }
      }),

    /** @throws ScimRefusal `notFound` */
    read: (call: ScimCall, id: string): Promise<ScimResource> =>
      requests.read(call, async (work) => {
        if (!isId(id)) throw unknown(id)
        return { reply: await present(work, normalizeId(id)) }
      }),

    /**
     * Somebody new; or somebody of the company whom the identity provider does not keep yet, under the id they
     * have, with the role and the teams they have; or the same user whom it deleted, under the same id alone.
     * @throws ScimRefusal `uniqueness`
     */
    create: (call: ScimCall, change: UserChange & { readonly userName: string }): Promise<ScimResource> =>
      requests.write(call, async (work) => {
        const { id } = await create(work, change.userName, change)
        return { reply: await present(work, id), target: targetOf({ id, email: change.userName }) }
      }),

    /** @throws ScimRefusal `notFound` or `mutability`; DomainError `lastAdministrator` */
    change: (call: ScimCall, id: string, change: UserChange): Promise<ScimResource> =>
      requests.write(call, async (work) => {
        const person = await lock(work, id)
        if (change.userName !== undefined && change.userName !== person.email)
          throw new ScimRefusal('mutability', 'userName is the address of the account and cannot be changed')
        await apply(work, person, change)
        return { reply: await present(work, person.id), target: targetOf(person) }
      }),

    /**
     * Deactivates the person, who is gone for the identity provider then and has nothing left but the id, to which
     * the same userName with the same externalId comes back.
     * @throws ScimRefusal `notFound`; DomainError `lastAdministrator`
     */
    delete: (call: ScimCall, id: string): Promise<void> =>
      requests.write(call, async (work) => {
        const { tx, companyId, origin } = work
        const person = await lock(work, id)
        await lifecycle.reset(tx, person, await roleAssignment.findDefaultRole(tx, companyId), origin)
        await createScimUserStore(tx).release(person.id)
        return { reply: undefined, target: targetOf(person) }
      }),
  }
}
