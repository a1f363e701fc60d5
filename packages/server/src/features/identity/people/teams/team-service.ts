import type { Team, TeamCreation, TeamUpdate } from '@millrace/contract/resources/team.ts'
import { changesOf, definedOf } from '../../../../platform/changes.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId, normalizeId } from '../../../../platform/ids.ts'
import { invalid } from '../../../../platform/invalid.ts'
import { type Listed, mapListed, type Page } from '../../../../platform/paging.ts'
import type { Key } from '../../../../platform/resources/company-rows.ts'
import { found, recorderOf, refusing, withIsoDates } from '../../../../platform/resources/resource.ts'
import { mapConstraintViolation, type Queries } from '../../../../platform/stores/relational.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Caller, Principal } from '../../sessions/principal.ts'
import { createPeopleStore } from '../people-store.ts'
import { requireTeams, requireUnprovisioned } from '../roles/grants.ts'
import { createTeamStore, type StoredTeam } from './team-store.ts'

const toTeam = ({ externalId: _, ...stored }: StoredTeam): Team => withIsoDates(stored)

const normalized = (ids: readonly string[] | undefined): string[] =>
  [...new Set(ids?.map(normalizeId))].sort()

export type TeamService = ReturnType<typeof createTeamService>

/** Teams of a company: their hierarchy and their members. */
export function createTeamService({ relational, recordAudit }: IdentityContext) {
  const record = recorderOf('team', recordAudit)

  async function get(queries: Queries, { companyId }: Principal, id: string): Promise<StoredTeam> {
    return found(await createTeamStore(queries).find({ companyId, id: normalizeId(id) }), 'teamNotFound', id)
  }

  /** Locks the company's teams until the transaction ends. */
  async function getForUpdate(tx: Queries, principal: Principal, id: string): Promise<StoredTeam> {
    await createPeopleStore(tx).lockCompany(principal.companyId)
    return get(tx, principal, id)
  }

  /** @throws DomainError `unknownTeam`, or `teamCycle` where a team would stand below itself */
  async function requireParents(tx: Queries, team: Key, parentIds: readonly string[]): Promise<void> {
    await requireTeams(tx, team.companyId, parentIds)
    const below = await createTeamStore(tx).listBelow(team.id, parentIds)
    if (below.length > 0) throw new DomainError('teamCycle', { teamIds: below })
  }

  /** @throws DomainError `unknownUser` */
  async function requireUsers(tx: Queries, companyId: string, ids: readonly string[]): Promise<void> {
    const known = new Set(await createTeamStore(tx).listUsers(companyId, ids))
    const unknown = ids.filter((id) => !known.has(id))
    if (unknown.length > 0) throw new DomainError('unknownUser', { userIds: unknown })
  }

  /** @throws DomainError `validation`, `unknownUser` or `memberWithoutTeam` */
  async function changeMembers(
    tx: Queries,
    team: StoredTeam,
    wanted: NonNullable<TeamUpdate['members']>,
  ): Promise<{ added: string[]; removed: string[] }> {
    const store = createTeamStore(tx)
    const add = normalized(wanted.add)
    const remove = normalized(wanted.remove)
    const both = add.filter((id) => remove.includes(id))
    if (both.length > 0)
      throw invalid('members', `must not list a user in both add and remove; ${both[0]} is in both`)
    await requireUsers(tx, team.companyId, [...add, ...remove])
    const lost = await store.listOnlyMembers(team.id, remove)
    if (lost.length > 0) throw new DomainError('memberWithoutTeam', { userIds: lost })
    return { added: await store.addMembers(team, add), removed: await store.removeMembers(team.id, remove) }
  }

  /** A team that rows of other features refer to stays. */
  const deleteUnlessReferenced = (id: string, work: (tx: Queries) => Promise<void>): Promise<void> =>
    mapConstraintViolation(
      () => relational.transaction(work),
      (_, cause) => new DomainError('teamInUse', { id, children: 0, resources: 1 }, { cause }),
    )

  return {
    async list(
      { companyId }: Pick<Principal, 'companyId'>,
      search: string | undefined,
      page: Page,
    ): Promise<Listed<Team>> {
      return mapListed(await createTeamStore(relational.db).list(companyId, search, page), toTeam)
    },

    /** @throws DomainError `teamNotFound` */
    async read(principal: Principal, id: string): Promise<Team> {
      return toTeam(await get(relational.db, principal, id))
    },

    /**
     * Members and a place in the hierarchy reach what other teams have: they need the right to change teams.
     * @throws DomainError `forbidden`, `unknownTeam`, `unknownUser` or `teamNameTaken`
     */
    async create(caller: Caller, wanted: TeamCreation): Promise<Team> {
      const { companyId } = caller.principal
      const { name, description = '', reachesAncestors = false } = wanted
      const id = newId()
      const parentIds = normalized(wanted.parentIds)
      const memberIds = normalized(wanted.memberIds)
      if (parentIds.length + memberIds.length > 0 && !caller.principal.can('team', 'update'))
        throw new DomainError('forbidden', { resource: 'team', action: 'update' })
      await refusing({ teams_name: ['teamNameTaken', { name }] }, () =>
        relational.transaction(async (tx) => {
          const store = createTeamStore(tx)
          await createPeopleStore(tx).lockCompany(companyId)
          await requireParents(tx, { id, companyId }, parentIds)
          await requireUsers(tx, companyId, memberIds)
          await store.insert({ id, companyId, name, description, reachesAncestors })
          await store.replaceParents({ id, companyId }, parentIds)
          await store.addMembers({ id, companyId }, memberIds)
          const details = { description, reachesAncestors, parentIds, memberIds }
          await record(tx, caller, 'team-create', { id, name }, details)
        }),
      )
      return toTeam(await get(relational.db, caller.principal, id))
    },

    /**
     * @throws DomainError `teamNotFound`, `validation`, `unknownTeam`, `unknownUser`, `teamNameTaken`, `teamCycle` or
     *   `memberWithoutTeam`
     */
    async update(caller: Caller, id: string, wanted: TeamUpdate): Promise<Team> {
      await refusing({ teams_name: ['teamNameTaken', { name: wanted.name ?? '' }] }, () =>
        relational.transaction(async (tx) => {
          const store = createTeamStore(tx)
          const team = await getForUpdate(tx, caller.principal, id)
          const { name, description, reachesAncestors } = wanted
          const parentIds = wanted.parentIds && normalized(wanted.parentIds)
          if (parentIds) await requireParents(tx, team, parentIds)
          if (wanted.members || (name !== undefined && name !== team.name))
            await requireUnprovisioned(tx, team.companyId, [team.id])
          const members = await changeMembers(tx, team, wanted.members ?? {})
          const fields = { name, description, reachesAncestors }
          const changes = changesOf(team, { ...fields, parentIds })
          if (changes.changed.length + members.added.length + members.removed.length === 0) return
          await store.update(team, definedOf(fields))
          if (parentIds && changes.changed.includes('parentIds')) await store.replaceParents(team, parentIds)
          await record(tx, caller, 'team-update', team, { ...changes, members })
        }),
      )
      return toTeam(await get(relational.db, caller.principal, id))
    },

    /** @throws DomainError `teamNotFound`, `defaultTeam`, `teamInUse` or `memberWithoutTeam` */
    async delete(caller: Caller, idText: string): Promise<void> {
      const id = normalizeId(idText)
      await deleteUnlessReferenced(id, async (tx) => {
        const store = createTeamStore(tx)
        const team = await getForUpdate(tx, caller.principal, id)
        await requireUnprovisioned(tx, team.companyId, [team.id])
        if (team.isDefault) throw new DomainError('defaultTeam', { id })
        const resources = await store.countResources(id)
        const children = team.childIds.length
        if (children + resources > 0) {
          const message = `This team has ${children} teams below it and ${resources} resources; move or delete them first`
          throw new DomainError('teamInUse', { id, children, resources }, { message })
        }
        const lost = await store.listOnlyMembers(id)
        if (lost.length > 0) throw new DomainError('memberWithoutTeam', { userIds: lost })
        await store.delete(team)
        const { parentIds, memberCount: members } = team
        await record(tx, caller, 'team-delete', team, { parentIds, members })
      })
    },
  }
}
