import type { Application } from '@millrace/contract/resources/application.ts'
import { oauthClients } from '../../../../database/tables/oauth-client.ts'
import { authorizationCodes, clientConsents, pendingSignIns } from '../../../../database/tables/sign-in.ts'
import { refreshTokens } from '../../../../database/tables/token.ts'
import { and, eq, type SQL, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'
import { sessionHasToken } from '../tokens/token-store.ts'

/** What withdrawing has ended. */
export interface WithdrawnAccess {
  readonly consents: number
  readonly sessions: number
}

/** Clients that act for a user; given a transaction it works inside it. All times are the database's. */
export function createApplicationStore(db: Queries) {
  const execute = sqlOn(db)

  const toIso = (instant: SQL): SQL =>
    sql`to_char(${instant} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

  return {
    /** By name. */
    async listOf(userId: string): Promise<Application[]> {
      const rows = await execute<Application>`
        with used as (
          select session.client_id, count(*)::int as sessions, max(session.used_at) as last_used_at
          from ${refreshTokens} as session where session.user_id = ${userId} and ${sessionHasToken}
          group by session.client_id
        )
        select client.id, client.name, ${toIso(sql`consent.granted_at`)} as "consentedAt",
          ${toIso(sql`used.last_used_at`)} as "lastUsedAt", coalesce(used.sessions, 0) as sessions
        from ${oauthClients} as client
          left join ${clientConsents} as consent on consent.client_id = client.id and consent.user_id = ${userId}
          left join used on used.client_id = client.id
        where consent.user_id is not null or used.client_id is not null
        order by client.name, client.id`
      return rows
    },

    /**
     * Ends everything that a client has of a user, in the order in which a sign-in makes it: each statement waits for
     * the step that is under way, whose rows it takes away, and the next one ends what that step has made.
     */
    async withdraw(userId: string, clientId: string): Promise<WithdrawnAccess> {
      await db
        .delete(pendingSignIns)
        .where(and(eq(pendingSignIns.userId, userId), eq(pendingSignIns.clientId, clientId)))
      const { rowCount: consents } = await db
        .delete(clientConsents)
        .where(and(eq(clientConsents.userId, userId), eq(clientConsents.clientId, clientId)))
      await db
        .delete(authorizationCodes)
        .where(and(eq(authorizationCodes.userId, userId), eq(authorizationCodes.clientId, clientId)))
      const rows = await execute<{
        living: boolean
      }>`
        select ${sessionHasToken} as living from ${refreshTokens} as session
        where session.user_id = ${userId} and session.client_id = ${clientId} for update of session`
      await db
        .delete(refreshTokens)
        .where(and(eq(refreshTokens.userId, userId), eq(refreshTokens.clientId, clientId)))
      return { consents: consents ?? 0, sessions: rows.filter((row) => row.living).length }
    },
  }
}
