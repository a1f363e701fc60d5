import { dashboardTeams } from '../../../../database/tables/dashboard.ts'
import { datasources, datasourceTeams } from '../../../../database/tables/datasource.ts'
import { teamMembers, teamParents, teams } from '../../../../database/tables/team.ts'
import { users } from '../../../../database/tables/user.ts'
import { workflowTeams } from '../../../../database/tables/workflow.ts'
import { jsonTemplateTeams } from '../../../../database/tables/workflow-settings.ts'
import type { Listed, Page } from '../../../../platform/paging.ts'
import { companyRows, type Key, type RowOf } from '../../../../platform/resources/company-rows.ts'
import { and, eq, inArray, ne, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'

const extras = {
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
}

export type StoredTeam = RowOf<typeof teams, typeof extras>

/** Teams, their hierarchy and their members; given a transaction it works inside it. */
export function createTeamStore(db: Queries) {
  const execute = sqlOn(db)

  const rows = companyRows(db, teams, extras)

  return {
    ...rows,

    /** By name. */
    list(companyId: string, search: string | undefined, page: Page): Promise<Listed<StoredTeam>> {
      const named = search ? sql`position(lower(${search}) in lower(${teams.name})) > 0` : undefined
      const order = [sql`lower(${teams.name})`, teams.id]
      return rows.page(and(eq(teams.companyId, companyId), named), order, page)
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
    listProvisioned: (companyId: string, ids: readonly string[]): Promise<string[]> =>
      rows.known(companyId, ids, { also: eq(teams.provisioned, true) }),

    /** Those of the ids that are the team itself or stand below it. */
    async listBelow(id: string, ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return []
      const rows = await execute<{ id: string }>`
        with recursive below as (
          select ${id}::text as id
          union
          select relation.child_id from below join ${teamParents} as relation on relation.parent_id = below.id
        ) select id from below where id in ${[...ids]} order by id`
      return rows.map((row) => row.id)
    },

    async replaceParents({ companyId, id: childId }: Key, parentIds: readonly string[]): Promise<void> {
      await db.delete(teamParents).where(eq(teamParents.childId, childId))
      if (parentIds.length === 0) return
      await db.insert(teamParents).values(parentIds.map((parentId) => ({ companyId, parentId, childId })))
    },

    /** Those of the ids that are users of the company. */
    listUsers: (companyId: string, ids: readonly string[]): Promise<string[]> =>
      companyRows(db, users).known(companyId, ids, { also: ne(users.status, 'deleted') }),

    /** @returns those who were not in the team */
    async addMembers({ companyId, id: teamId }: Key, userIds: readonly string[]): Promise<string[]> {
      if (userIds.length === 0) return []
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
      const rows = await execute<{
        id: string
      }>`
        select member.user_id as id from ${teamMembers} as member where member.team_id = ${teamId} and ${among}
        and not exists (
          select 1 from ${teamMembers} as other where other.user_id = member.user_id and other.team_id <> ${teamId}
        ) order by 1 limit 100`
      return rows.map(({ id }) => id)
    },

    /** Datasources, workflows and JSON templates. */
    async countResources(teamId: string): Promise<number> {
      const [sources] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(datasourceTeams)
        .innerJoin(datasources, eq(datasources.id, datasourceTeams.datasourceId))
        .where(and(eq(datasourceTeams.teamId, teamId), ne(datasources.status, 'deleted')))
      const flows = await db.$count(workflowTeams, eq(workflowTeams.teamId, teamId))
      const templates = await db.$count(jsonTemplateTeams, eq(jsonTemplateTeams.teamId, teamId))
      const dashboards = await db.$count(dashboardTeams, eq(dashboardTeams.teamId, teamId))
      return (sources?.count ?? 0) + flows + templates + dashboards
    },

    /** With its memberships, its place below others and its links to deleted datasources. */
    async delete(key: Key): Promise<void> {
      const { id } = key
      await execute`
        delete from ${datasourceTeams} as link using ${datasources} as source
        where link.team_id = ${id} and source.id = link.datasource_id and source.status = 'deleted'`
      await db.delete(teamParents).where(eq(teamParents.childId, id))
      await rows.delete(key)
    },
  }
}
