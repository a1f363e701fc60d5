import { and, eq, inArray, isNull, ne, notInArray, sql } from 'drizzle-orm'
import { linkedAccounts } from '../../database/tables/linked-account.ts'
import {
  authorizationCodes,
  clientConsents,
  pendingSignIns,
  recoveryCodes,
  userAuthenticators,
  userLinks,
} from '../../database/tables/sign-in.ts'
import { ssoIdentities, ssoUnlinkedNames } from '../../database/tables/single-sign-on.ts'
import { teamMembers } from '../../database/tables/team.ts'
import { accessTokens, refreshTokens } from '../../database/tables/token.ts'
import { users } from '../../database/tables/user.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { UserStatus } from './account-store.ts'

interface Reference {
  readonly id: string
  readonly companyId: string
}

/** Changes of a person's state; works inside the transaction it is given. */
export function createLifecycleStore(db: Queries) {
  const here = ({ id, companyId }: Reference) => and(eq(users.id, id), eq(users.companyId, companyId))

  /** Those of one method alone, or all but that of an access token. */
  async function endSessions(
    userId: string,
    { keptTokenId, method }: { keptTokenId?: string | undefined; method?: 'sso' } = {},
  ): Promise<number> {
    // A sign-in under way holds the person's row shared until its session stands; this waits for it.
    await db.execute(sql`select 1 from ${users} where id = ${userId} for update`)
    for (const table of [authorizationCodes, pendingSignIns])
      await db.delete(table).where(and(eq(table.userId, userId), method && eq(table.method, method)))
    const kept = db
      .select({ id: accessTokens.refreshTokenId })
      .from(accessTokens)
      .where(eq(accessTokens.id, keptTokenId ?? ''))
    const { rowCount } = await db
      .delete(refreshTokens)
      .where(
        and(
          eq(refreshTokens.userId, userId),
          method && eq(refreshTokens.method, method),
          notInArray(refreshTokens.id, kept),
        ),
      )
    return rowCount ?? 0
  }

  async function endLinks(userId: string): Promise<void> {
    await db
      .update(userLinks)
      .set({ endedAt: sql`now()` })
      .where(and(eq(userLinks.userId, userId), isNull(userLinks.endedAt)))
  }

  return {
    endSessions,
    endLinks,

    /** False when the person is in none of the states `from`. */
    async changeStatus(user: Reference, from: UserStatus[], to: UserStatus): Promise<boolean> {
      const changed = await db
        .update(users)
        .set({ status: to, updatedAt: sql`now()` })
        .where(and(here(user), inArray(users.status, from)))
        .returning({ id: users.id })
      return changed.length > 0
    },

    /**
     * Somebody deactivated is as before: active, or invited for whoever has never been in by any way.
     * False when the person is not deactivated.
     */
    async reactivate(user: Reference): Promise<boolean> {
      const isLinked = sql`exists (select 1 from ${ssoIdentities} where ${ssoIdentities.userId} = ${user.id})`
      const wasIn = sql`${users.passwordHash} is not null or ${users.lastSignInAt} is not null
        or ${users.provisioned} or ${isLinked}`
      const changed = await db
        .update(users)
        .set({ status: sql`case when ${wasIn} then 'active' else 'invited' end`, updatedAt: sql`now()` })
        .where(and(here(user), eq(users.status, 'disabled')))
        .returning({ id: users.id })
      return changed.length > 0
    },

    /**
     * Takes a user's names at identity providers away, and ends the sessions that came of them. Each name
     * is kept, as a hash, with what the user may do who takes it: a later one who may do more replaces that.
     * @returns undefined when there is nothing to take away
     */
    async unlink(
      user: Reference,
      permissions: readonly string[],
    ): Promise<{ names: number; sessions: number } | undefined> {
      const allowed = sql`${sql.param([...permissions].sort())}::text[]`
      const { rows } = await db.execute<{ names: number; kept: number }>(
        sql`with taken as (
            delete from ${ssoIdentities}
            where company_id = ${user.companyId} and user_id = ${user.id}
            returning company_id, idp_entity_id, name_id, name_format, user_id
          ), names as (
            select company_id, idp_entity_id, name_id, user_id from taken
            union
            select company_id, idp_entity_id, lower(name_id collate "C"), user_id from taken
              where name_format is distinct from 'other'
          ), added as (
            insert into ${ssoUnlinkedNames} (company_id, idp_entity_id, name_hash, user_id, permissions)
              select company_id, idp_entity_id, sha256(convert_to(name_id, 'UTF8')), user_id, ${allowed} from names
              on conflict (company_id, idp_entity_id, name_hash)
                do update set user_id = excluded.user_id, permissions = excluded.permissions, unlinked_at = now()
          ), raised as (
            update ${ssoUnlinkedNames} set permissions = ${allowed}, unlinked_at = now()
            where company_id = ${user.companyId} and user_id = ${user.id}
              and permissions <@ ${allowed} and permissions <> ${allowed}
            returning 1
          )
          select (select count(*)::int from taken) as names, (select count(*)::int from raised) as kept`,
      )
      const { names = 0, kept = 0 } = rows[0] ?? {}
      return names + kept === 0
        ? undefined
        : { names, sessions: await endSessions(user.id, { method: 'sso' }) }
    },

    /** Ends sessions, voids links in mails and takes linked accounts away; says how many there were. */
    async endAccess(userId: string): Promise<{ sessions: number; linkedAccounts: number }> {
      const sessions = await endSessions(userId)
      await endLinks(userId)
      const { rowCount } = await db.delete(linkedAccounts).where(eq(linkedAccounts.userId, userId))
      return { sessions, linkedAccounts: rowCount ?? 0 }
    },

    /** Violates `companies_keep_administrator` unless an administrator of the company has a way in. */
    async requireAdministrator({ id, companyId }: Reference): Promise<void> {
      await db.execute(
        sql`select require_administrator(${companyId}) from ${users}
          where id = ${id} and status = 'active' and is_administrator_role(role_id)`,
      )
    },

    /** False when there is no such person, or none any more. */
    async erase(user: Reference): Promise<boolean> {
      const erased = await db
        .update(users)
        .set({
          status: 'deleted',
          email: sql`${users.id} || '@deleted.invalid'`,
          passwordHash: null,
          firstName: '',
          lastName: '',
          jobTitle: '',
          phone: '',
          externalId: null,
          updatedAt: sql`now()`,
        })
        .where(and(here(user), ne(users.status, 'deleted')))
        .returning({ id: users.id })
      if (erased.length === 0) return false
      await db.delete(teamMembers).where(eq(teamMembers.userId, user.id))
      for (const table of [userAuthenticators, recoveryCodes, userLinks, clientConsents])
        await db.delete(table).where(eq(table.userId, user.id))
      return true
    },
  }
}
