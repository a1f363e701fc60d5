import { oauthClients } from '../../../../database/tables/oauth-client.ts'
import { accessTokens, refreshTokens } from '../../../../database/tables/token.ts'
import { alias, and, desc, eq, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { sessionHasToken } from '../tokens/token-store.ts'

/** Sessions of one user; given a transaction it works inside it. */
export function createOwnSessionStore(db: Queries) {
  return {
    /** What was used last first. @param tokenId an access token, whose session is the current one */
    async listOf(userId: string, tokenId: string) {
      const session = alias(refreshTokens, 'session')
      return db
        .select({
          id: session.id,
          clientId: session.clientId,
          clientName: oauthClients.name,
          createdAt: session.createdAt,
          lastUsedAt: session.usedAt,
          network: session.address,
          userAgent: session.userAgent,
          current: sql<boolean>`exists (select 1 from ${accessTokens} as own
            where own.refresh_token_id = session.id and own.id = ${tokenId})`,
        })
        .from(session)
        .innerJoin(oauthClients, eq(oauthClients.id, session.clientId))
        .where(and(eq(session.userId, userId), sessionHasToken))
        .orderBy(desc(session.usedAt), desc(session.id))
    },

    /** Ends a session with all its tokens. @returns its client; undefined when the user has no such session */
    async end(userId: string, id: string): Promise<{ clientId: string } | undefined> {
      const [ended] = await db
        .delete(refreshTokens)
        .where(and(eq(refreshTokens.userId, userId), eq(refreshTokens.id, id)))
        .returning({ clientId: refreshTokens.clientId })
      return ended
    },
  }
}
