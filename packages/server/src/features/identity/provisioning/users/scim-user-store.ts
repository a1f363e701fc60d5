import { scimUserAttributes } from '../../../../database/tables/provisioning.ts'
import { teamMembers, teams } from '../../../../database/tables/team.ts'
import { users } from '../../../../database/tables/user.ts'
import {
  and,
  asc,
  eq,
  ne,
  not,
  type Row,
  type SQL,
  sql,
} from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { conditionOf, orderOf } from '../filter-sql.ts'
import type { ListQuery } from '../protocol/listing.ts'
import type { ScimUser } from '../protocol/resources.ts'
import type { UserDocument } from '../protocol/users/user-document.ts'
import type { UserFields } from '../protocol/users/user-fields.ts'
import { userSqlAttributes } from './scim-user-filter-store.ts'

/**
 * Condition on the table `users`: whom an identity provider sees. Service accounts and deleted users are hidden, and
 * users whom it deleted while they are disabled.
 */
export const visibleUsers = and(
  ne(users.status, 'deleted'),
  not(users.serviceAccount),
  sql`not (${users.unprovisionedAt} is not null and ${users.status} = 'disabled')`,
)

const columns = {
  id: users.id,
  companyId: users.companyId,
  email: users.email,
  status: users.status,
  active: sql<boolean>`${users.status} <> 'disabled'`,
  /** Whether the identity provider provisions this user. */
  provisioned: users.provisioned,
  serviceAccount: users.serviceAccount,
  externalId: users.externalId,
  /** When the identity provider deleted this user, whom an administrator may have reactivated since. */
  unprovisionedAt: users.unprovisionedAt,
  /** The identifier that it had for the user then. */
  formerExternalId: users.formerExternalId,
  firstName: users.firstName,
  lastName: users.lastName,
  jobTitle: users.jobTitle,
  phone: users.phone,
  language: users.language,
  sent: sql<UserDocument>`coalesce((
    select sent.attributes from ${scimUserAttributes} as sent where sent.user_id = "users"."id"), '{}')`,
  createdAt: users.createdAt,
  updatedAt: users.updatedAt,
}

export type StoredScimUser = Row<typeof columns> & Pick<ScimUser, 'groups'>

const teamsOf = sql<{ id: string; name: string }[]>`coalesce((
  select json_agg(json_build_object('id', team.id, 'name', team.name) order by team.name)
  from ${teamMembers} as member join ${teams} as team on team.id = member.team_id
  where member.user_id = "users"."id"), '[]')`

/** Users as an identity provider sees them; given a transaction it works inside it. */
export function createScimUserStore(db: Queries) {
  const select = (withGroups: boolean) =>
    db.select({ ...columns, groups: withGroups ? teamsOf : sql<[]>`'[]'::json` }).from(users)

  const among = (companyId: string, id?: string): SQL | undefined =>
    and(eq(users.companyId, companyId), visibleUsers, id === undefined ? undefined : eq(users.id, id))

  const matching = (companyId: string, { filter }: Pick<ListQuery, 'filter'>, hasGroups: boolean) =>
    and(among(companyId), filter && conditionOf(filter, userSqlAttributes(hasGroups)))

  return {
    async find(companyId: string, id: string, withGroups: boolean): Promise<StoredScimUser | undefined> {
      const [row] = await select(withGroups).where(among(companyId, id))
      return row
    },

    /** Held until the transaction ends. */
    async lock(companyId: string, id: string): Promise<StoredScimUser | undefined> {
      const [row] = await select(false).where(among(companyId, id)).for('update')
      return row
    },

    /** The company's user with the address, locked until the transaction ends. */
    async lockByAddress(companyId: string, email: string): Promise<StoredScimUser | undefined> {
      const [row] = await select(false)
        .where(and(eq(users.companyId, companyId), eq(users.email, email), ne(users.status, 'deleted')))
        .for('update')
      return row
    },

    /**
     * In the order wanted, or the oldest first.
     * @param hasGroups whether users have groups for the identity provider
     * @param showsGroups whether they are wanted
     * @throws ScimRefusal `invalidFilter` or `invalidValue`
     */
    async list(
      companyId: string,
      query: ListQuery,
      { hasGroups, showsGroups }: { hasGroups: boolean; showsGroups: boolean },
    ): Promise<StoredScimUser[]> {
      const order = query.sort ? orderOf(query.sort, userSqlAttributes(hasGroups)) : asc(users.createdAt)
      const where = matching(companyId, query, hasGroups)
      if (query.limit === 0) return []
      return select(hasGroups && showsGroups)
        .leftJoin(scimUserAttributes, eq(scimUserAttributes.userId, users.id))
        .where(where)
        .orderBy(order, asc(users.id))
        .limit(query.limit)
        .offset(query.offset)
    },

    /** @throws ScimRefusal `invalidFilter` */
    async count(companyId: string, query: ListQuery, hasGroups: boolean): Promise<number> {
      const [row] = await db
        .select({ count: sql`count(*)`.mapWith(Number) })
        .from(users)
        .leftJoin(scimUserAttributes, eq(scimUserAttributes.userId, users.id))
        .where(matching(companyId, query, hasGroups))
      return row?.count ?? 0
    },

    /** Keeps what the identity provider has sent, to be returned. */
    async keep(id: string, attributes: UserDocument): Promise<void> {
      await db
        .insert(scimUserAttributes)
        .values({ userId: id, attributes })
        .onConflictDoUpdate({ target: scimUserAttributes.userId, set: { attributes } })
    },

    /** The user is provisioned from now on. */
    async update(id: string, fields: Partial<UserFields>): Promise<void> {
      await db
        .update(users)
        .set({
          ...fields,
          provisioned: true,
          unprovisionedAt: null,
          formerExternalId: null,
          updatedAt: sql`now()`,
        })
        .where(eq(users.id, id))
    },

    /** The user is no longer provisioned and the identifier is free; it is kept to recognise who comes back. */
    async release(id: string): Promise<void> {
      await db
        .update(users)
        .set({
          provisioned: false,
          externalId: null,
          formerExternalId: sql`case when ${users.provisioned} then ${users.externalId} else ${users.formerExternalId} end`,
          unprovisionedAt: sql`now()`,
          updatedAt: sql`now()`,
        })
        .where(eq(users.id, id))
    },
  }
}
