import { ssoDefaultTeams } from '../../../../database/tables/single-sign-on.ts'
import { teamMembers, teamParents, teams } from '../../../../database/tables/team.ts'
import { users } from '../../../../database/tables/user.ts'
import { companyRows, type RowOf } from '../../../../platform/resources/company-rows.ts'
import { and, asc, eq, not, or, type SQL, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { conditionOf, orderOf, type SqlAttributes } from '../filter-sql.ts'
import type { ListQuery } from '../protocol/listing.ts'
import { visibleUsers } from '../users/scim-user-store.ts'

export interface Member {
  readonly id: string
  readonly email: string
}

/** A user who was in a team until now. */
export interface FormerMember {
  readonly id: string
  /** Whether the identity provider had added the user. */
  readonly provisioned: boolean
}

const extras = {
  memberCount: sql<number>`(select count(*)::int from ${teamMembers} as member where member.team_id = "teams"."id")`,
}

export type StoredTeam = RowOf<typeof teams, typeof extras>

/** What groups are filtered and sorted by. */
const sqlAttributes: SqlAttributes = new Map([
  ['id', { type: 'lowerText', value: sql`${teams.id}` }],
  ['externalid', { type: 'exactText', value: sql`${teams.externalId}` }],
  ['displayname', { type: 'text', value: sql`${teams.name}` }],
  ['meta.created', { type: 'time', value: sql`date_trunc('milliseconds', ${teams.createdAt})` }],
  ['meta.lastmodified', { type: 'time', value: sql`date_trunc('milliseconds', ${teams.updatedAt})` }],
  [
    'members',
    {
      type: 'values',
      table: sql`${teamMembers} as member join ${users} on ${users.id} = member.user_id
        and member.team_id = ${teams.id} and ${visibleUsers}`,
      parts: new Map([
        ['value', { type: 'lowerText', value: sql`${users.id}` }],
        ['display', { type: 'lowerText', value: sql`${users.email}` }],
      ]),
    },
  ],
])

const array = (ids: Iterable<string>) => sql`${sql.param([...ids])}::text[]`

/** Teams as an identity provider sees them, and who is in them; given a transaction it works inside it. */
export function createScimGroupStore(db: Queries) {
  const rows = companyRows(db, teams, extras)

  const matching = (companyId: string, { filter }: Pick<ListQuery, 'filter'>): SQL | undefined =>
    and(eq(teams.companyId, companyId), filter && conditionOf(filter, sqlAttributes))

  async function idsOf(query: SQL): Promise<string[]> {
    const { rows } = await db.execute<{ id: string }>(query)
    return rows.map(({ id }) => id)
  }

  async function removed(query: SQL): Promise<FormerMember[]> {
    const { rows } = await db.execute<{ id: string; provisioned: boolean }>(query)
    return rows
  }

  return {
    find: (companyId: string, id: string): Promise<StoredTeam | undefined> => rows.find({ companyId, id }),

    /** In the order wanted, or the oldest first. @throws ScimRefusal `invalidFilter` or `invalidValue` */
    async list(companyId: string, query: ListQuery): Promise<StoredTeam[]> {
      const order = query.sort ? orderOf(query.sort, sqlAttributes) : asc(teams.createdAt)
      const where = matching(companyId, query)
      if (query.limit === 0) return []
      return rows.select(where, order, asc(teams.id)).limit(query.limit).offset(query.offset)
    },

    /** @throws ScimRefusal `invalidFilter` */
    count: (companyId: string, query: ListQuery): Promise<number> =>
      db.$count(teams, matching(companyId, query)),

    /** Members by the id of their team. */
    async listMembers(teamIds: readonly string[]): Promise<Map<string, Member[]>> {
      const { rows } = await db.execute<{ team: string; id: string; email: string }>(
        sql`select member.team_id as team, ${users.id} as id, ${users.email} as email
          from ${teamMembers} as member join ${users} on ${users.id} = member.user_id
          where member.team_id = any(${array(teamIds)}) and ${visibleUsers} order by ${users.id}`,
      )
      return Map.groupBy(rows, ({ team }) => team)
    },

    /** False when the name or the external id is taken. */
    async insert(team: { id: string; companyId: string; name: string; externalId: string | null }) {
      const inserted = await db
        .insert(teams)
        .values({ ...team, provisioned: true })
        .onConflictDoNothing()
        .returning({ id: teams.id })
      return inserted.length > 0
    },

    /** The team is provisioned from now on: single sign-on adds no new users to it. */
    async update(id: string, fields: { name?: string; externalId?: string | null }): Promise<void> {
      await db
        .update(teams)
        .set({ ...fields, provisioned: true, updatedAt: sql`now()` })
        .where(eq(teams.id, id))
      await db.delete(ssoDefaultTeams).where(eq(ssoDefaultTeams.teamId, id))
    },

    async delete(id: string): Promise<void> {
      await db.delete(teams).where(eq(teams.id, id))
    },

    async hasRelations(id: string): Promise<boolean> {
      return (await db.$count(teamParents, or(eq(teamParents.parentId, id), eq(teamParents.childId, id)))) > 0
    },

    /** Those of the ids that are users whom the identity provider sees, or with `ever` has seen. */
    async findPeople(companyId: string, ids: Iterable<string>, ever: boolean): Promise<Set<string>> {
      const rows = await db
        .select({ id: users.id })
        .from(users)
        .where(
          and(
            eq(users.companyId, companyId),
            sql`${users.id} = any(${array(ids)})`,
            ever ? not(users.serviceAccount) : visibleUsers,
          ),
        )
      return new Set(rows.map(({ id }) => id))
    },

    /** @returns users whom the identity provider had not added before */
    async addMembers(companyId: string, teamId: string, ids: Iterable<string>): Promise<string[]> {
      return idsOf(
        sql`insert into ${teamMembers} as member (company_id, team_id, user_id, provisioned)
          select ${companyId}, ${teamId}, id, true from unnest(${array(ids)}) as id
          on conflict (team_id, user_id) do update set provisioned = true where not member.provisioned
          returning user_id as id`,
      )
    },

    /** Members whom the identity provider has added. */
    async listProvisionedMembers(teamId: string): Promise<string[]> {
      const rows = await db
        .select({ id: teamMembers.userId })
        .from(teamMembers)
        .where(and(eq(teamMembers.teamId, teamId), teamMembers.provisioned))
      return rows.map(({ id }) => id)
    },

    /** Service accounts stay: the identity provider does not see them. @returns who was in the team */
    async removeMembers(teamId: string, ids: Iterable<string>): Promise<FormerMember[]> {
      return removed(
        sql`delete from ${teamMembers} as member using ${users} as person
          where member.team_id = ${teamId} and member.user_id = any(${array(ids)})
            and person.id = member.user_id and not person.service_account
          returning member.user_id as id, member.provisioned`,
      )
    },

    /** The same for all members but these. */
    async removeMembersExcept(teamId: string, ids: Iterable<string>): Promise<FormerMember[]> {
      return removed(
        sql`delete from ${teamMembers} as member using ${users} as person
          where member.team_id = ${teamId} and not (member.user_id = any(${array(ids)}))
            and person.id = member.user_id and not person.service_account
          returning member.user_id as id, member.provisioned`,
      )
    },

    /** Service accounts too. @returns who was in the team */
    async removeAllMembers(teamId: string): Promise<FormerMember[]> {
      return removed(
        sql`delete from ${teamMembers} where team_id = ${teamId} returning user_id as id, provisioned`,
      )
    },
  }
}
