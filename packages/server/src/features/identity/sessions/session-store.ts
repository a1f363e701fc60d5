import { familiarOrigins } from '../../../database/tables/familiar-origin.ts'
import { authorizationCodes, pendingSignIns } from '../../../database/tables/sign-in.ts'
import { accessTokens, refreshTokens } from '../../../database/tables/token.ts'
import { users } from '../../../database/tables/user.ts'
import { and, asc, eq, inArray, notInArray, type SQL } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { SignInMethod } from './tokens/code-store.ts'

export interface EndedSessions {
  /** An access token whose session stays. */
  readonly keptTokenId?: string | undefined
  /** Only sessions that began in this way; all when absent. */
  readonly method?: SignInMethod
}

/** Ends sessions, and the codes and sign-ins under way that would become one; works inside a transaction. */
export function createSessionStore(db: Queries) {
  /** @param condition on the table `users` @returns how many sessions there were */
  async function endWhere(
    condition: SQL | undefined,
    { keptTokenId = '', method }: EndedSessions = {},
  ): Promise<number> {
    const owners = db.select({ id: users.id }).from(users).where(condition)
    // A sign-in under way holds the user's row until its session stands; this waits for it.
    await db.select({ id: users.id }).from(users).where(condition).orderBy(asc(users.id)).for('update')
    for (const table of [authorizationCodes, pendingSignIns])
      await db.delete(table).where(and(inArray(table.userId, owners), method && eq(table.method, method)))
    // Networks and browsers are familiar by passwords; ending one method alone forgets none.
    if (method === undefined) await db.delete(familiarOrigins).where(inArray(familiarOrigins.userId, owners))
    const kept = db
      .select({ id: accessTokens.refreshTokenId })
      .from(accessTokens)
      .where(eq(accessTokens.id, keptTokenId))
    const { rowCount } = await db
      .delete(refreshTokens)
      .where(
        and(
          inArray(refreshTokens.userId, owners),
          method && eq(refreshTokens.method, method),
          notInArray(refreshTokens.id, kept),
        ),
      )
    return rowCount ?? 0
  }

  return {
    endWhere,

    /** The same of one user. */
    endOfUser: (userId: string, options?: EndedSessions): Promise<number> =>
      endWhere(eq(users.id, userId), options),
  }
}
