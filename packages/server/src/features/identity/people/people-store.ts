import { companies } from '../../../database/tables/company.ts'
import { teamMembers, teams } from '../../../database/tables/team.ts'
import { users } from '../../../database/tables/user.ts'
import type { Language } from '../../../platform/i18n/language.ts'
import { companyRows } from '../../../platform/resources/company-rows.ts'
import { and, asc, columnsOf, eq, ne, type Row, sql } from '../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../platform/stores/relational.ts'
import { addressOrder } from '../sessions/tokens/token-store.ts'

export type UserStatus = (typeof users.$inferSelect)['status']

const userColumns = columnsOf(users, ['id', 'companyId', 'email', 'status', 'roleId'])

export type User = Row<typeof userColumns>

/** Look-ups and locks that several rooms share; given a transaction it works inside it. */
export function createPeopleStore(db: Queries) {
  const execute = sqlOn(db)

  return {
    /**
     * Locks the company's row until the transaction ends: changes of its settings, memberships, team hierarchy, single
     * sign-on and provisioning run one after the other. Locked before any other row, so that none of them deadlocks.
     */
    async lockCompany(id: string): Promise<void> {
      await db.select({ id: companies.id }).from(companies).where(eq(companies.id, id)).for('no key update')
    },

    /** Excludes `lockCompany` until the transaction ends; any number may hold this lock at once. */
    async shareCompany(id: string): Promise<void> {
      await db.select({ id: companies.id }).from(companies).where(eq(companies.id, id)).for('share')
    },

    companyExists: async (id: string): Promise<boolean> =>
      (await db.$count(companies, eq(companies.id, id))) > 0,

    /** The role that the company gives to users who come without one; undefined where it is not set. */
    async findCompanyDefaultRole(companyId: string): Promise<string | undefined> {
      const [row] = await db
        .select({ id: companies.defaultRoleId })
        .from(companies)
        .where(eq(companies.id, companyId))
      return row?.id ?? undefined
    },

    /** The team of users who are put into none by name. Each company is created with one, and it cannot be deleted. */
    async getDefaultTeam(companyId: string): Promise<string> {
      const [row] = await db
        .select({ id: teams.id })
        .from(teams)
        .where(and(eq(teams.companyId, companyId), teams.isDefault))
      if (!row) throw new Error(`company ${companyId} has no default team`)
      return row.id
    },

    /** Adds those of these users who are in no team to the company's default team. */
    async addToDefaultTeam(companyId: string, userIds: Iterable<string>): Promise<void> {
      const ids = sql`${sql.param([...userIds])}::text[]`
      await execute`
        insert into ${teamMembers} (company_id, team_id, user_id)
        select person.company_id, team.id, person.id from ${users} as person
          join ${teams} as team on team.company_id = person.company_id and team.is_default
        where person.company_id = ${companyId} and person.id = any(${ids})
          and not exists (select 1 from ${teamMembers} as member where member.user_id = person.id)
        on conflict do nothing`
    },

    /** Those of the ids that are teams of the company. */
    listTeams: companyRows(db, teams).known,

    async findUser(companyId: string, id: string): Promise<User | undefined> {
      const [row] = await db
        .select(userColumns)
        .from(users)
        .where(and(eq(users.companyId, companyId), eq(users.id, id), ne(users.status, 'deleted')))
      return row
    },

    /** The user of any company whom the address signs in; otherwise one who has it too, the invited last. */
    async findUserByEmail(email: string): Promise<User | undefined> {
      const rows = await execute<User>`
        select id, company_id as "companyId", email, status, role_id as "roleId" from ${users} as owner
        where email = ${email} and status <> 'deleted' order by ${addressOrder} limit 1`
      return rows[0]
    },

    /** Whether the address signs in to an account of another company, or would have to. */
    async isHeldElsewhere(companyId: string, email: string): Promise<boolean> {
      const rows = await execute<{
        held: boolean
      }>`
        select is_email_held_elsewhere(${companyId}, ${email}) as held`
      return rows[0]?.held === true
    },

    /** Active users, without service accounts, whose role may change the company's users, roles and settings. */
    async listAdministrators(companyId: string): Promise<{ email: string; language: Language }[]> {
      return db
        .select({
          email: users.email,
          language: sql<Language>`coalesce(${users.language}, ${companies.language})`,
        })
        .from(users)
        .innerJoin(companies, eq(companies.id, users.companyId))
        .where(
          and(
            eq(users.companyId, companyId),
            eq(users.status, 'active'),
            ne(users.serviceAccount, true),
            sql`is_administrator_role(${users.roleId})`,
          ),
        )
        .orderBy(asc(users.email))
    },

    /** Violates `companies_keep_administrator` unless an administrator of the company can sign in. */
    async requireAdministrator(companyId: string): Promise<void> {
      await execute`select require_administrator(${companyId})`
    },
  }
}
