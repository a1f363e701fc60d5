import { datasources, datasourceTeams } from '../../../../database/tables/datasource.ts'
import { teamMembers, teamParents, teams } from '../../../../database/tables/team.ts'
import { users } from '../../../../database/tables/user.ts'
import { workflowTeams } from '../../../../database/tables/workflow.ts'
import { jsonTemplateTeams } from '../../../../database/tables/workflow-settings.ts'
import type { Range } from '../../../../platform/paging.ts'
import { and, asc, eq, inArray, ne, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

export interface StoredTeam {
  readonly id: string
  readonly companyId: string
  readonly name: string
  readonly description: string
  readonly isDefault: boolean
  readonly reachesAncestors: boolean
  readonly provisioned: boolean
  readonly parentIds: string[]
  readonly childIds: string[]
  readonly memberCount: number
  readonly totalMemberCount: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type TeamFields = Pick<StoredTeam, 'name' | 'description' | 'reachesAncestors'>

const columns = {
  id: teams.id,
  companyId: teams.companyId,
  name: teams.name,
  description: teams.description,
  isDefault: teams.isDefault,
  reachesAncestors: teams.reachesAncestors,
  provisioned: teams.provisioned,
  parentIds: sql<string[]>`array(
    select p.parent_id from team_parents p where p.child_id = "teams"."id" order by 1)`,
  childIds: sql<string[]>`array(
    select p.child_id from team_parents p where p.parent_id = "teams"."id" order by 1)`,
  memberCount: sql<number>`(select count(*)::int from team_members m where m.team_id = "teams"."id")`,
  totalMemberCount: sql<number>`(
    with recursive below as (
      select "teams"."id" as team_id
      union
      select p.child_id from below join team_parents p on p.parent_id = below.team_id
    ) select count(distinct m.user_id)::int from below join team_members m on m.team_id = below.team_id)`,
  createdAt: teams.createdAt,
  updatedAt: teams.updatedAt,
}

/** Teams, their hierarchy and their members; given a transaction it works inside it. */
export function createTeamStore(db: Queries) {
  const matching = (companyId: string, search: string | undefined) =>
    and(
      eq(teams.companyId, companyId),
      search ? sql`position(lower(${search}) in lower(${teams.name})) > 0` : undefined,
    )

  return {
    /** By name. */
    async list(
      companyId: string,
      search: string | undefined,
      { limit, offset }: Range,
    ): Promise<StoredTeam[]> {
      return db
        .select(columns)
        .from(teams)
        .where(matching(companyId, search))
        .orderBy(sql`lower(${teams.name})`, asc(teams.id))
        .limit(limit)
        .offset(offset)
    },

    async count(companyId: string, search: string | undefined): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(teams)
        .where(matching(companyId, search))
      return row?.count ?? 0
    },

    async find(companyId: string, id: string): Promise<StoredTeam | undefined> {
      const [row] = await db
        .select(columns)
        .from(teams)
        .where(and(eq(teams.companyId, companyId), eq(teams.id, id)))
      return row
    },

    /** Names are equal whatever their case, as the unique index says. */
    async findByName(companyId: string, name: string): Promise<{ id: string } | undefined> {
      const [row] = await db
        .select({ id: teams.id })
        .from(teams)
        .where(and(eq(teams.companyId, companyId), sql`lower(${teams.name}) = lower(${name})`))
      return row
    },

    /** Those of the ids that are provisioned teams of the company. */
    async listProvisioned(companyId: string, ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return []
      const rows = await db
        .select({ id: teams.id })
        .from(teams)
        .where(and(eq(teams.companyId, companyId), inArray(teams.id, [...ids]), teams.provisioned))
      return rows.map(({ id }) => id)
    },

    async insert(
      team: Partial<TeamFields> & Pick<StoredTeam, 'id' | 'companyId' | 'name'> & { isDefault?: boolean },
    ): Promise<void> {
      await db.insert(teams).values(team)
    },

    async update(id: string, fields: Partial<TeamFields>): Promise<void> {
      await db
        .update(teams)
        .set({ ...fields, updatedAt: sql`now()` })
        .where(eq(teams.id, id))
    },

    /** Those of the ids that are the team itself or stand below it. */
    async listBelow(id: string, ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return []
      const { rows } = await db.execute<{ id: string }>(
        sql`with recursive below as (
            select ${id}::text as id
            union
            select relation.child_id from below join ${teamParents} as relation on relation.parent_id = below.id
          ) select id from below where id in ${[...ids]} order by id`,
      )
      return rows.map((row) => row.id)
    },

    async replaceParents(
      team: { id: string; companyId: string },
      parentIds: readonly string[],
    ): Promise<void> {
      await db.delete(teamParents).where(eq(teamParents.childId, team.id))
      if (parentIds.length === 0) return
      const { id: childId, companyId } = team
      await db.insert(teamParents).values(parentIds.map((parentId) => ({ companyId, parentId, childId })))
    },

    /** Those of the ids that are users of the company. */
    async listUsers(companyId: string, ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return []
      const rows = await db
        .select({ id: users.id })
        .from(users)
        .where(and(eq(users.companyId, companyId), inArray(users.id, [...ids]), ne(users.status, 'deleted')))
      return rows.map(({ id }) => id)
    },

    /** @returns those who were not in the team */
    async addMembers(team: { id: string; companyId: string }, userIds: readonly string[]): Promise<string[]> {
      if (userIds.length === 0) return []
      const { id: teamId, companyId } = team
      const added = await db
        .insert(teamMembers)
        .values(userIds.map((userId) => ({ companyId, teamId, userId })))
        .onConflictDoNothing()
        .returning({ id: teamMembers.userId })
      return added.map(({ id }) => id).sort()
    },

    /** @returns those who were in the team */
    async removeMembers(teamId: string, userIds: readonly string[]): Promise<string[]> {
      if (userIds.length === 0) return []
      const removed = await db
        .delete(teamMembers)
        .where(and(eq(teamMembers.teamId, teamId), inArray(teamMembers.userId, [...userIds])))
        .returning({ id: teamMembers.userId })
      return removed.map(({ id }) => id).sort()
    },

    /** Members of the team who are in no other one; of `userIds` alone where they are given. */
    async listOnlyMembers(teamId: string, userIds?: readonly string[]): Promise<string[]> {
      if (userIds?.length === 0) return []
      const among = userIds ? sql`member.user_id in ${[...userIds]}` : sql`true`
      const { rows } = await db.execute<{ id: string }>(
        sql`select member.user_id as id from ${teamMembers} as member where member.team_id = ${teamId} and ${among}
          and not exists (
            select 1 from ${teamMembers} as other where other.user_id = member.user_id and other.team_id <> ${teamId}
          ) order by 1 limit 100`,
      )
      return rows.map(({ id }) => id)
    },

    /** Datasources, workflows and JSON templates. */
    async countResources(teamId: string): Promise<number> {
      const [sources] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(datasourceTeams)
        .innerJoin(datasources, eq(datasources.id, datasourceTeams.datasourceId))
        .where(and(eq(datasourceTeams.teamId, teamId), ne(datasources.status, 'deleted')))
      const [flows] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(workflowTeams)
        .where(eq(workflowTeams.teamId, teamId))
      const [templates] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(jsonTemplateTeams)
        .where(eq(jsonTemplateTeams.teamId, teamId))
      return (sources?.count ?? 0) + (flows?.count ?? 0) + (templates?.count ?? 0)
    },

    /** With its memberships, its place below others and its links to deleted datasources. */
    async delete(companyId: string, id: string): Promise<void> {
      await db.execute(
        sql`delete from ${datasourceTeams} as link using ${datasources} as source
          where link.team_id = ${id} and source.id = link.datasource_id and source.status = 'deleted'`,
      )
      await db.delete(teamParents).where(eq(teamParents.childId, id))
      await db.delete(teams).where(and(eq(teams.companyId, companyId), eq(teams.id, id)))
    },
  }
}
