import { isId, newId, normalizeId } from '../../../../platform/ids.ts'
import { mapConstraintViolation } from '../../../../platform/stores/relational.ts'
import { createPeopleStore } from '../../people/people-store.ts'
import type { UserLifecycle } from '../../people/users/user-lifecycle.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { type GroupChange, type MemberChange, maxMembers } from '../protocol/group-attributes.ts'
import { type Listed, type ListQuery, type Projection, totalOf } from '../protocol/listing.ts'
import { ScimRefusal, takenGroup } from '../protocol/refusal.ts'
import { type ScimResource, toGroupResource } from '../protocol/resources.ts'
import type { Outcome, ScimCall, ScimRequests, Work } from '../scim-request-service.ts'
import { maxNamed, type RoleAssignment } from './role-assignment.ts'
import { createScimGroupStore, type FormerMember, type StoredTeam } from './scim-group-store.ts'

export interface ScimGroupDependencies extends Pick<IdentityContext, 'recordAudit'> {
  readonly requests: Pick<ScimRequests, 'read' | 'write'>
  readonly lifecycle: Pick<UserLifecycle, 'endUnproven'>
  readonly roleAssignment: Pick<RoleAssignment, 'assignTo'>
  /** Address of the SCIM service. */
  readonly baseUrl: () => string
}

const unknown = (id: string) =>
  new ScimRefusal('notFound', `There is no group ${JSON.stringify(id.slice(0, 60))}`)
const idsOf = (users: readonly { id: string }[]) => users.map(({ id }) => id)
const targetOf = ({ id, name }: { id: string; name: string }) => ({ kind: 'team', id, name })

function requireGroupSync({ settings }: Work): void {
  if (!settings.groupSync)
    throw new ScimRefusal('groupSyncOff', 'Groups are not synchronised: the company has turned groupSync off')
}

/** As many teams as together have at most the members that one may have; at least one team. */
function withinBounds(teams: readonly StoredTeam[]): StoredTeam[] {
  let members = 0
  const end = teams.findIndex(({ memberCount }, i) => {
    members += memberCount
    return i > 0 && members > maxMembers
  })
  return end < 0 ? [...teams] : teams.slice(0, end)
}

/**
 * The first change by the identity provider makes a team provisioned: from then on its members are those whom the
 * identity provider has named, because a membership may give a role.
 */
const takenOver = ({ add, remove }: MemberChange = nothingSaid): MemberChange => ({
  replace: true,
  add,
  remove,
})
const nothingSaid: MemberChange = { replace: false, add: new Set(), remove: new Set() }

export type ScimGroups = ReturnType<typeof createScimGroupService>

/** `/Groups` of the SCIM service: teams of the company whose token it is. Their hierarchy is never touched. */
export function createScimGroupService(dependencies: ScimGroupDependencies) {
  const { requests, lifecycle, roleAssignment, recordAudit, baseUrl } = dependencies

  async function present({ tx }: Work, teams: readonly StoredTeam[], projection: Projection) {
    const members = projection.has('members')
      ? await createScimGroupStore(tx).listMembers(teams.map(({ id }) => id))
      : undefined
    return teams.map((team) => {
      const known = members && (members.get(team.id) ?? [])
      return projection.apply(toGroupResource({ ...team, members: known }, baseUrl()))
    })
  }

  async function get({ tx, companyId }: Work, id: string): Promise<StoredTeam> {
    const team = isId(id) ? await createScimGroupStore(tx).find(companyId, normalizeId(id)) : undefined
    if (!team) throw unknown(id)
    return team
  }

  async function presentOne(work: Work, id: string, projection: Projection): Promise<ScimResource> {
    const [resource] = await present(work, [await get(work, id)], projection)
    if (!resource) throw unknown(id)
    return resource
  }

  /**
   * Provisioned members who left or came may have another role now; memberships of other origin give none. Users who
   * are no longer in any team join the default one.
   */
  async function reassignTeamsAndRoles(
    work: Work,
    { left, changed }: { left: readonly FormerMember[]; changed: readonly string[] },
  ) {
    const { tx, companyId, source } = work
    if (left.length > 0) await createPeopleStore(tx).addToDefaultTeam(companyId, idsOf(left))
    const provisioned = idsOf(left.filter((member) => member.provisioned))
    await roleAssignment.assignTo(tx, companyId, [...new Set([...provisioned, ...changed])], source)
  }

  async function requirePeople(work: Work, ids: ReadonlySet<string>, ever: boolean): Promise<void> {
    if (ids.size === 0) return
    const found = await createScimGroupStore(work.tx).findPeople(work.companyId, ids, ever)
    for (const id of ids) if (!found.has(id)) throw new ScimRefusal('noTarget', `There is no user "${id}"`)
  }

  /** Removing a user who is not in the team, or adding one who is, changes nothing: a repeated request converges. */
  async function changeMembers(work: Work, teamId: string, { replace, add, remove }: MemberChange) {
    const store = createScimGroupStore(work.tx)
    await requirePeople(work, add, false)
    await requirePeople(work, remove, true)
    const left = replace
      ? await store.removeMembersExcept(teamId, add)
      : await store.removeMembers(teamId, remove)
    const came = add.size > 0 ? await store.addMembers(work.companyId, teamId, add) : []
    await lifecycle.endUnproven(work.tx, work.companyId, came, work.source)
    return { left, came }
  }

  async function apply(work: Work, team: StoredTeam, change: GroupChange): Promise<void> {
    const { tx, companyId, source } = work
    const { displayName = team.name, externalId = team.externalId } = change
    if (!team.provisioned && team.isDefault)
      throw new ScimRefusal(
        'mutability',
        'This is the default team of the company, which new users join by themselves: an administrator must choose another one before it can be synchronised',
      )
    const members = team.provisioned ? change.members : takenOver(change.members)
    const { left, came } = members ? await changeMembers(work, team.id, members) : { left: [], came: [] }
    const isRenamed = displayName !== team.name
    const isChanged = isRenamed || externalId !== team.externalId || !team.provisioned
    if (!isChanged && left.length + came.length === 0) return
    const store = createScimGroupStore(tx)
    await store.update(team.id, { name: displayName, externalId })
    const now = await get(work, team.id)
    if (now.memberCount > maxMembers)
      throw new ScimRefusal('invalidValue', `A group may have at most ${maxMembers} members`)
    const details = {
      ...(isRenamed && { previousName: team.name }),
      ...(!team.provisioned && { provisioned: true }),
      ...(came.length > 0 && { added: came.length, addedIds: came.slice(0, maxNamed) }),
      ...(left.length > 0 && { removed: left.length, removedIds: idsOf(left.slice(0, maxNamed)) }),
    }
    const target = targetOf(now)
    await recordAudit(tx, { companyId, action: 'team-update', target, details, ...source })
    // Another name may give every member another role.
    await reassignTeamsAndRoles(work, {
      left,
      changed: isRenamed ? await store.listProvisionedMembers(team.id) : came,
    })
  }

  const write = <T>(call: ScimCall, work: (work: Work) => Promise<Outcome<T>>): Promise<T> =>
    requests.write(call, async (inside) => {
      requireGroupSync(inside)
      return work(inside)
    })

  return {
    /** A page may hold fewer groups than asked for, so that it never has too many members. @throws ScimRefusal */
    list: (call: ScimCall, query: ListQuery, projection: Projection): Promise<Listed> =>
      requests.read(call, async (work) => {
        requireGroupSync(work)
        const store = createScimGroupStore(work.tx)
        const found = await store.list(work.companyId, query)
        const teams = projection.has('members') ? withinBounds(found) : found
        const resources = await present(work, teams, projection)
        const count = () => store.count(work.companyId, query)
        return { reply: { resources, total: await totalOf(query, found.length, count) } }
      }),

    /** @throws ScimRefusal `notFound` or `groupSyncOff` */
    read: (call: ScimCall, id: string, projection: Projection): Promise<ScimResource> =>
      requests.read(call, async (work) => {
        requireGroupSync(work)
        return { reply: await presentOne(work, id, projection) }
      }),

    /** A team without relations to others. @throws ScimRefusal `uniqueness` or `noTarget` */
    create: (
      call: ScimCall,
      { displayName, externalId, members }: Required<GroupChange>,
      projection: Projection,
    ): Promise<ScimResource> =>
      write(call, async (work) => {
        const { tx, companyId, source } = work
        const team = { id: newId(), companyId, name: displayName, externalId }
        if (!(await createScimGroupStore(tx).insert(team))) throw takenGroup()
        const { came } = await changeMembers(work, team.id, members)
        const target = targetOf(team)
        const details = { added: came.length, addedIds: came.slice(0, maxNamed) }
        await recordAudit(tx, { companyId, action: 'team-create', target, details, ...source })
        await reassignTeamsAndRoles(work, { left: [], changed: came })
        return { reply: await presentOne(work, team.id, projection), target }
      }),

    /** @throws ScimRefusal `notFound`, `uniqueness` or `noTarget`; DomainError `lastAdministrator` */
    replace: (
      call: ScimCall,
      id: string,
      change: Required<GroupChange>,
      projection: Projection,
    ): Promise<ScimResource> =>
      write(call, async (work) => {
        const team = await get(work, id)
        await apply(work, team, change)
        return { reply: await presentOne(work, id, projection), target: targetOf(team) }
      }),

    /** @throws as `replace` */
    change: (call: ScimCall, id: string, change: GroupChange): Promise<void> =>
      write(call, async (work) => {
        const team = await get(work, id)
        await apply(work, team, change)
        return { reply: undefined, target: targetOf(team) }
      }),

    /** @throws ScimRefusal `notFound` or `mutability`; DomainError `lastAdministrator` */
    delete: (call: ScimCall, id: string): Promise<void> =>
      write(call, async (work) => {
        const { tx, companyId, source } = work
        const team = await get(work, id)
        const store = createScimGroupStore(tx)
        if (team.isDefault)
          throw new ScimRefusal(
            'mutability',
            'This is the default team of the company: an administrator must choose another one first',
          )
        if (await store.hasRelations(team.id))
          throw new ScimRefusal('mutability', 'The team has parents or children: detach it from them first')
        const left = await store.removeAllMembers(team.id)
        await unlessInUse(store.delete(team.id))
        const target = targetOf(team)
        const details = { removed: left.length, removedIds: idsOf(left.slice(0, maxNamed)) }
        await recordAudit(tx, { companyId, action: 'team-delete', target, details, ...source })
        await reassignTeamsAndRoles(work, { left, changed: [] })
        return { reply: undefined, target }
      }),
  }
}

/** What belongs to a team refers to it, so that the store refuses to delete it. */
const unlessInUse = (deletion: Promise<void>): Promise<void> =>
  mapConstraintViolation(
    () => deletion,
    (_, cause) =>
      new ScimRefusal('mutability', 'Something belongs to the team: give it to another team first', {
        cause,
      }),
  )
