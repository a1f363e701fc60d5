import type { PermissionName } from '@millrace/contract/permissions.ts'
import { companies } from '../../../../database/tables/company.ts'
import { rolePermissions, roles } from '../../../../database/tables/role.ts'
import { users } from '../../../../database/tables/user.ts'
import { type Listed, type Page, pageOf } from '../../../../platform/paging.ts'
import { and, asc, eq, inArray, type Row, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'

/** `resource:action`, in order. */
const permissions = sql<PermissionName[]>`array(
  select p.resource || ':' || p.action from role_permissions p where p.role_id = "roles"."id" order by 1)`

const columns = {
  id: roles.id,
  companyId: roles.companyId,
  name: roles.name,
  builtIn: roles.builtIn,
  permissions,
  /** Users of any state but deleted. */
  userCount: sql<number>`coalesce(held.users, 0)`,
  createdAt: roles.createdAt,
  updatedAt: roles.updatedAt,
}

export type StoredRole = Row<typeof columns>

/** What a role allows. */
export type RolePermissions = Pick<StoredRole, 'id' | 'permissions'>

/** How many users of a company hold which role, counted once for all roles: no index has the roles of users. */
const heldIn = (companyId: string) =>
  sql`(select role_id, count(*)::int as users from users
    where company_id = ${companyId} and status <> 'deleted' group by role_id) as held`

const pairOf = (roleId: string, permission: string) => {
  const [resource = '', action = ''] = permission.split(':')
  return { roleId, resource, action }
}

/** Roles with what they allow; given a transaction it works inside it. */
export function createRoleStore(db: Queries) {
  const here = (companyId: string, id: string) => and(eq(roles.companyId, companyId), eq(roles.id, id))
  const select = (companyId: string) =>
    db.select(columns).from(roles).leftJoin(heldIn(companyId), sql`held.role_id = ${roles.id}`)

  return {
    /** By name. */
    list(companyId: string, page: Page): Promise<Listed<StoredRole>> {
      const where = eq(roles.companyId, companyId)
      const query = select(companyId).where(where).orderBy(sql`lower(${roles.name})`, asc(roles.id))
      return pageOf(query, db.$count(roles, where), page)
    },

    /** Those of the ids that are roles of the company. */
    async listExisting(companyId: string, ids: readonly string[]): Promise<RolePermissions[]> {
      if (ids.length === 0) return []
      return db
        .select({ id: roles.id, permissions })
        .from(roles)
        .where(and(eq(roles.companyId, companyId), inArray(roles.id, [...ids])))
        .orderBy(asc(roles.id))
    },

    /** Roles of the company's users that allow something beyond these permissions. */
    async listAbove(companyId: string, own: Iterable<string>): Promise<string[]> {
      const rows = await sqlOn(db)<{ role_id: string }>`
        select held.role_id from (
          select distinct role_id from ${users}
          where company_id = ${companyId} and status <> 'deleted' and not service_account
        ) as held
        where exists (
          select 1 from ${rolePermissions} as given where given.role_id = held.role_id
            and given.resource || ':' || given.action <> all (${sql.param([...own])}::text[]))
        order by 1`
      return rows.map(({ role_id }) => role_id)
    },

    async find(companyId: string, id: string): Promise<StoredRole | undefined> {
      const [row] = await select(companyId).where(here(companyId, id))
      return row
    },

    /** Names are equal whatever their case, as the unique index says. */
    async findByName(companyId: string, name: string): Promise<{ id: string } | undefined> {
      const [row] = await db
        .select({ id: roles.id })
        .from(roles)
        .where(and(eq(roles.companyId, companyId), sql`lower(${roles.name}) = lower(${name})`))
      return row
    },

    async listNames(companyId: string): Promise<string[]> {
      const rows = await db
        .select({ name: roles.name })
        .from(roles)
        .where(eq(roles.companyId, companyId))
        .orderBy(roles.name)
      return rows.map(({ name }) => name)
    },

    /** Of every company. */
    async listBuiltIn(): Promise<{ id: string; name: string }[]> {
      return db.select({ id: roles.id, name: roles.name }).from(roles).where(eq(roles.builtIn, true))
    },

    /** Locks the role's row until the transaction ends; meanwhile it is given to no one. */
    async lock(companyId: string, id: string): Promise<void> {
      await db.select({ id: roles.id }).from(roles).where(here(companyId, id)).for('update')
    },

    async insert(role: { id: string; companyId: string; name: string; builtIn?: boolean }): Promise<void> {
      await db.insert(roles).values(role)
    },

    async rename(id: string, name: string | undefined): Promise<void> {
      await db
        .update(roles)
        .set({ ...(name === undefined ? {} : { name }), updatedAt: sql`now()` })
        .where(eq(roles.id, id))
    },

    /** Those that the role has already stay as they are. */
    async addPermissions(id: string, permissions: readonly string[]): Promise<void> {
      if (permissions.length === 0) return
      const rows = permissions.map((each) => pairOf(id, each))
      await db.insert(rolePermissions).values(rows).onConflictDoNothing()
    },

    async removePermissions(id: string, permissions: readonly string[]): Promise<void> {
      if (permissions.length === 0) return
      const name = sql`${rolePermissions.resource} || ':' || ${rolePermissions.action}`
      await db
        .delete(rolePermissions)
        .where(and(eq(rolePermissions.roleId, id), inArray(name, [...permissions])))
    },

    async isDefault(companyId: string, id: string): Promise<boolean> {
      return (
        (await db.$count(companies, and(eq(companies.id, companyId), eq(companies.defaultRoleId, id)))) > 0
      )
    },

    /** The rows that stay of deleted users point at a built-in role from now on. */
    async releaseFromDeleted(companyId: string, id: string): Promise<void> {
      await db
        .update(users)
        .set({
          roleId: sql`(select r.id from roles r where r.company_id = ${companyId} and r.built_in and r.name = 'viewer')`,
        })
        .where(and(eq(users.companyId, companyId), eq(users.roleId, id), eq(users.status, 'deleted')))
    },

    async delete(companyId: string, id: string): Promise<void> {
      await db.delete(roles).where(here(companyId, id))
    },
  }
}
