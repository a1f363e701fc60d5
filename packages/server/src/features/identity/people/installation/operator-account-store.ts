import { and, desc, eq, ne, sql } from 'drizzle-orm'
import { companies } from '../../../../database/tables/company.ts'
import { rolePermissions, roles } from '../../../../database/tables/role.ts'
import { teamMembers, teams } from '../../../../database/tables/team.ts'
import { users } from '../../../../database/tables/user.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { PermissionPair } from '../roles/built-in-roles.ts'

export type UserStatus = (typeof users.$inferSelect)['status']

export interface User {
  readonly id: string
  readonly companyId: string
  readonly email: string
  readonly status: UserStatus
  readonly roleId: string
}

/** What is known of a person beside the account; absent is empty. */
export interface Profile {
  readonly firstName?: string
  readonly lastName?: string
  readonly jobTitle?: string
  readonly phone?: string
  /** Null follows the company. */
  readonly language?: Language | null
}

export interface NewUser extends User, Profile {
  readonly passwordHash: string | null
  readonly teamIds: readonly string[]
  /** Whether the identity provider keeps this person (SCIM), under which identifier of its own. */
  readonly provisioned?: boolean
  readonly externalId?: string | null
  /** A program that signs in with a password. */
  readonly serviceAccount?: boolean
  /** Whether the address signs in to this account; otherwise another one may have it too. */
  readonly holdsEmail?: boolean
}

/** What a company has set about itself. */
export interface CompanySettings {
  /** IANA name; dates without a zone are read in it. */
  readonly timezone: string
  readonly language: Language
  readonly exactCounts: boolean
  readonly attributionModel: 'last-touch' | 'linear' | 'decay'
  readonly clickWindowHours: number
  readonly displayWindowHours: number
}

const settingsColumns = {
  timezone: companies.timezone,
  language: companies.language,
  exactCounts: companies.exactCounts,
  attributionModel: companies.attributionModel,
  clickWindowHours: companies.clickWindowHours,
  displayWindowHours: companies.displayWindowHours,
}

const userColumns = {
  id: users.id,
  companyId: users.companyId,
  email: users.email,
  status: users.status,
  roleId: users.roleId,
}

/** Role and team names are equal whatever their case, as their unique indexes say. */
const named = (column: typeof roles.name | typeof teams.name, name: string) =>
  sql`lower(${column}) = lower(${name})`

/** Companies, roles, teams and users; given a transaction it works inside it. */
export function createAccountStore(db: Queries) {
  return {
    async insertCompany(company: { id: string; name: string }): Promise<void> {
      await db.insert(companies).values(company)
    },

    async findSettings(companyId: string): Promise<CompanySettings | undefined> {
      const [row] = await db.select(settingsColumns).from(companies).where(eq(companies.id, companyId))
      return row
    },

    async listCompanies(): Promise<{ id: string; name: string }[]> {
      return db.select({ id: companies.id, name: companies.name }).from(companies).orderBy(companies.id)
    },

    async insertRole(role: { id: string; companyId: string; name: string; builtIn: boolean }): Promise<void> {
      await db.insert(roles).values(role)
    },

    /** Pairs that the role has already stay as they are. */
    async addPermissions(roleId: string, pairs: readonly PermissionPair[]): Promise<void> {
      if (pairs.length === 0) return
      const rows = pairs.map((pair) => ({ roleId, ...pair }))
      await db.insert(rolePermissions).values(rows).onConflictDoNothing()
    },

    async listBuiltInRoles(): Promise<{ id: string; name: string }[]> {
      return db.select({ id: roles.id, name: roles.name }).from(roles).where(eq(roles.builtIn, true))
    },

    async findRoleByName(companyId: string, name: string): Promise<{ id: string } | undefined> {
      const [row] = await db
        .select({ id: roles.id })
        .from(roles)
        .where(and(eq(roles.companyId, companyId), named(roles.name, name)))
      return row
    },

    async listRoleNames(companyId: string): Promise<string[]> {
      const rows = await db
        .select({ name: roles.name })
        .from(roles)
        .where(eq(roles.companyId, companyId))
        .orderBy(roles.name)
      return rows.map(({ name }) => name)
    },

    async insertTeam(team: {
      id: string
      companyId: string
      name: string
      isDefault: boolean
    }): Promise<void> {
      await db.insert(teams).values(team)
    },

    async findDefaultTeam(companyId: string): Promise<{ id: string } | undefined> {
      const [row] = await db
        .select({ id: teams.id })
        .from(teams)
        .where(and(eq(teams.companyId, companyId), teams.isDefault))
      return row
    },

    async findTeamByName(companyId: string, name: string): Promise<{ id: string } | undefined> {
      const [row] = await db
        .select({ id: teams.id })
        .from(teams)
        .where(and(eq(teams.companyId, companyId), named(teams.name, name)))
      return row
    },

    /** Whether the address signs in to an account of another company, or would have to. */
    async isHeldElsewhere(companyId: string, email: string): Promise<boolean> {
      const { rows } = await db.execute<{ held: boolean }>(
        sql`select is_email_held_elsewhere(${companyId}, ${email}) as held`,
      )
      return rows[0]?.held === true
    },

    /** False when another user of the company has the address already, or of the service when it is to be held. */
    async insertUser({ teamIds, ...user }: NewUser): Promise<boolean> {
      const inserted = await db.insert(users).values(user).onConflictDoNothing().returning({ id: users.id })
      if (inserted.length === 0) return false
      const memberships = teamIds.map((teamId) => ({ companyId: user.companyId, teamId, userId: user.id }))
      if (memberships.length > 0) await db.insert(teamMembers).values(memberships)
      return true
    },

    async findUserByEmail(email: string): Promise<User | undefined> {
      const [row] = await db
        .select(userColumns)
        .from(users)
        .where(and(eq(users.email, email), ne(users.status, 'deleted')))
        .orderBy(desc(users.holdsEmail), sql`${users.status} = 'invited'`, users.createdAt)
        .limit(1)
      return row
    },

    /**
     * A user who was invited becomes active with a password of their own, to which the address signs in.
     * @param isHandedOver whether others than the owner of the mailbox have seen the link behind which it was chosen
     */
    async updatePassword(userId: string, passwordHash: string, isHandedOver = false): Promise<void> {
      await db
        .update(users)
        .set({
          passwordHash,
          passwordHandedOver: isHandedOver,
          holdsEmail: true,
          status: sql`case when ${users.status} = 'invited' then 'active' else ${users.status} end`,
          updatedAt: sql`now()`,
        })
        .where(eq(users.id, userId))
    },
  }
}
