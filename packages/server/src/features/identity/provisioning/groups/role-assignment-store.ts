import { companies } from '../../../../database/tables/company.ts'
import { scimConfigs, scimRoleMappings } from '../../../../database/tables/provisioning.ts'
import { roles } from '../../../../database/tables/role.ts'
import { teamMembers, teams } from '../../../../database/tables/team.ts'
import { users } from '../../../../database/tables/user.ts'
import { and, eq, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'

/** A user whose role may have to change. */
export interface RoleHolder {
  readonly id: string
  readonly email: string
  readonly roleId: string
  /** What the mapping gives; null when none of the user's groups is in it. */
  readonly mappedRoleId: string | null
  /** Groups of the user, a few of them, where the mapping gives nothing. */
  readonly groups: readonly string[]
}

/** A user and the role to give. */
export interface GivenRole {
  readonly id: string
  readonly nextRoleId: string
}

/** Roles that users have, and roles that provisioned groups give; works inside a transaction. */
export function createRoleAssignmentStore(db: Queries) {
  const execute = sqlOn(db)

  return {
    /** The source of roles, and the role of users to whom no group gives one. */
    async findRules(companyId: string): Promise<{ source: 'groups' | null; defaultRoleId: string }> {
      const [row] = await db
        .select({
          source: scimConfigs.roleSource,
          defaultRoleId: sql<string>`coalesce(${scimConfigs.defaultRoleId}, ${companies.defaultRoleId}, ${roles.id})`,
        })
        .from(companies)
        .innerJoin(roles, and(eq(roles.companyId, companies.id), roles.builtIn, eq(roles.name, 'viewer')))
        .leftJoin(scimConfigs, eq(scimConfigs.companyId, companies.id))
        .where(eq(companies.id, companyId))
      if (!row) throw new Error(`company ${companyId} lacks its role viewer`)
      return row
    },

    /**
     * Of these users, or of all provisioned ones, those whose role is not the one that the mapping gives. Only
     * provisioned members of provisioned teams count: the right to create teams or to add members gives no role.
     */
    async listHolders(companyId: string, userIds: readonly string[] | undefined): Promise<RoleHolder[]> {
      const named = userIds && sql.param([...userIds])
      const among = named === undefined ? sql`true` : sql`member.user_id = any(${named}::text[])`
      const kept = sql`person.provisioned or exists (
        select 1 from ${teamMembers} as member join ${teams} as team on team.id = member.team_id
        where member.user_id = person.id and member.provisioned and team.provisioned)`
      const wanted = named === undefined ? kept : sql`person.id = any(${named}::text[])`
      const rows = await execute<RoleHolder>`
        with matched as (
          select distinct on (member.user_id) member.user_id, mapping.role_id
          from ${scimRoleMappings} as mapping
            join ${teams} as team on team.company_id = mapping.company_id and team.provisioned
              and lower(team.name) = lower(mapping.group_name)
            join ${teamMembers} as member on member.team_id = team.id and member.provisioned
          where mapping.company_id = ${companyId} and ${among}
          order by member.user_id, mapping.position
        )
        select person.id, person.email, person.role_id as "roleId", matched.role_id as "mappedRoleId",
          case when matched.role_id is not null then '{}' else array(
            select team.name from ${teamMembers} as member join ${teams} as team on team.id = member.team_id
            where member.user_id = person.id and member.provisioned and team.provisioned
            order by team.name limit 5) end as groups
        from ${users} as person left join matched on matched.user_id = person.id
        where person.company_id = ${companyId} and person.status <> 'deleted' and not person.service_account
          and (${wanted}) and matched.role_id is distinct from person.role_id
        order by person.id`
      return rows
    },

    /** One statement for all of them: their sign-ins wait from here to the end of the transaction. */
    async giveRoles(companyId: string, given: readonly GivenRole[]): Promise<void> {
      const ids = sql.param(given.map(({ id }) => id))
      const roleIds = sql.param(given.map(({ nextRoleId }) => nextRoleId))
      await execute`
        update ${users} as person set role_id = given.role_id, updated_at = now()
        from unnest(${ids}::text[], ${roleIds}::text[]) as given(id, role_id)
        where person.company_id = ${companyId} and person.id = given.id`
    },
  }
}
