import { userLinks } from '../../../../database/tables/sign-in.ts'
import { users } from '../../../../database/tables/user.ts'
import { type Page, pageOf } from '../../../../platform/paging.ts'
import { and, asc, columnsOf, eq, type SQL, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

const columns = {
  ...columnsOf(users, ['id', 'email', 'firstName', 'lastName', 'roleId']),
  resourceGroupIds: sql<string[]>`array(
    select m.team_id from team_members m where m.user_id = "users"."id" order by 1)`,
  createdAt: users.createdAt,
  /** Of the link that works; null without one. */
  expiresAt: sql<Date | null>`(
    select max(expires_at) from ${userLinks} where user_id = "users"."id" and kind = 'invitation'
      and ended_at is null and holds_role(created_by, "users"."role_id"))`.mapWith(
    userLinks.expiresAt,
  ) as SQL<Date | null>,
}

/** Users who were invited and have not signed in yet. */
export function createInvitationStore(db: Queries) {
  return {
    /** The oldest first. */
    list(companyId: string, page: Page) {
      const where = and(eq(users.companyId, companyId), eq(users.status, 'invited'))
      const query = db.select(columns).from(users).where(where).orderBy(asc(users.createdAt), asc(users.id))
      return pageOf(query, db.$count(users, where), page)
    },
  }
}
