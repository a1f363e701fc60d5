import { authorizationCodes, clientConsents, pendingSignIns } from '../../../../database/tables/sign-in.ts'
import { refreshTokens } from '../../../../database/tables/token.ts'
import { users } from '../../../../database/tables/user.ts'
import { and, columnsOf, eq, lt, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'

export type SignInMethod = 'password' | 'sso'

export type NewCode = Omit<
  typeof authorizationCodes.$inferSelect,
  'createdAt' | 'expiresAt' | 'usedAt' | 'refreshTokenId'
>

export interface StoredCode extends Omit<NewCode, 'codeHash'> {
  readonly companyId: string
  readonly email: string
  readonly isUsed: boolean
  readonly isAlive: boolean
}

export type NewPendingSignIn = Omit<typeof pendingSignIns.$inferSelect, 'tries' | 'createdAt' | 'expiresAt'>

export interface PendingSignIn extends Omit<NewPendingSignIn, 'secretHash' | 'browserHash'> {
  readonly companyId: string
  readonly email: string
}

const sweepSize = 50

/** Codes, sign-ins under way and consents; given a transaction it works inside it. All times are the database's. */
export function createCodeStore(db: Queries) {
  const execute = sqlOn(db)

  return {
    /** A code lives 60 s (docs/interface.md, Token service). */
    async insertCode(code: NewCode): Promise<void> {
      await db.insert(authorizationCodes).values({
        ...code,
        createdAt: sql`now()`,
        expiresAt: sql`now() + interval '60 seconds'`,
      })
    },

    /** The code, locked until the transaction ends, also when it was used or has ended. */
    async lockCode(codeHash: Buffer): Promise<StoredCode | undefined> {
      const [row] = await db
        .select({
          userId: authorizationCodes.userId,
          companyId: users.companyId,
          email: users.email,
          clientId: authorizationCodes.clientId,
          redirectUri: authorizationCodes.redirectUri,
          codeChallenge: authorizationCodes.codeChallenge,
          method: authorizationCodes.method,
          passwordHash: authorizationCodes.passwordHash,
          isUsed: sql<boolean>`${authorizationCodes.usedAt} is not null`,
          isAlive: sql<boolean>`${authorizationCodes.expiresAt} > now()`,
        })
        .from(authorizationCodes)
        .innerJoin(users, eq(users.id, authorizationCodes.userId))
        .where(eq(authorizationCodes.codeHash, codeHash))
        .for('update', { of: authorizationCodes })
      return row
    },

    async markUsed(codeHash: Buffer, refreshTokenId: string): Promise<void> {
      await db
        .update(authorizationCodes)
        .set({ usedAt: sql`now()`, refreshTokenId })
        .where(eq(authorizationCodes.codeHash, codeHash))
    },

    /** Ends the session that the code opened. */
    async revokeGiven(codeHash: Buffer): Promise<void> {
      await execute`
        delete from ${refreshTokens} where id = (
        select refresh_token_id from ${authorizationCodes} where code_hash = ${codeHash})`
    },

    async insertPending(pending: NewPendingSignIn, seconds = 600): Promise<void> {
      await db.insert(pendingSignIns).values({
        ...pending,
        createdAt: sql`now()`,
        expiresAt: sql`now() + make_interval(secs => ${seconds})`,
      })
    },

    /** A sign-in between two steps, of the browser that took the first; the password has not changed meanwhile. */
    async findPending(secretHash: Buffer, browserHash: Buffer): Promise<PendingSignIn | undefined> {
      const [row] = await db
        .select({
          userId: pendingSignIns.userId,
          companyId: users.companyId,
          email: users.email,
          ...columnsOf(pendingSignIns, ['clientId', 'method', 'passwordHash', 'complete']),
        })
        .from(pendingSignIns)
        .innerJoin(users, eq(users.id, pendingSignIns.userId))
        .where(
          and(
            eq(pendingSignIns.secretHash, secretHash),
            eq(pendingSignIns.browserHash, browserHash),
            sql`${pendingSignIns.expiresAt} > now()`,
            eq(users.status, 'active'),
          ),
        )
      return row
    },

    /** Counts a try of a one-time code; false when there were enough, or the sign-in is gone. */
    async takeTry(secretHash: Buffer, max: number): Promise<boolean> {
      const taken = await db
        .update(pendingSignIns)
        .set({ tries: sql`${pendingSignIns.tries} + 1` })
        .where(and(eq(pendingSignIns.secretHash, secretHash), lt(pendingSignIns.tries, max)))
        .returning({ tries: pendingSignIns.tries })
      return taken.length > 0
    },

    /** False when it was deleted before: of two requests at once one continues. */
    async deletePending(secretHash: Buffer): Promise<boolean> {
      const { rowCount } = await db.delete(pendingSignIns).where(eq(pendingSignIns.secretHash, secretHash))
      return (rowCount ?? 0) > 0
    },

    /** Held until the transaction ends: a consent is not withdrawn between this and the code that follows from it. */
    async lockConsent(userId: string, clientId: string): Promise<boolean> {
      const rows = await db
        .select({ userId: clientConsents.userId })
        .from(clientConsents)
        .where(and(eq(clientConsents.userId, userId), eq(clientConsents.clientId, clientId)))
        .for('share')
      return rows.length > 0
    },

    async insertConsent(userId: string, clientId: string): Promise<void> {
      await db.insert(clientConsents).values({ userId, clientId }).onConflictDoNothing()
    },

    /** Deletes some of what has ended; a used code stays for a day, so that a second use is noticed. */
    async sweepEnded(): Promise<void> {
      await execute`
        delete from ${authorizationCodes} where code_hash in (
        select code_hash from ${authorizationCodes} where expires_at < now() - interval '1 day'
        limit ${sweepSize} for update skip locked)`
      await db.delete(pendingSignIns).where(lt(pendingSignIns.expiresAt, sql`now()`))
    },
  }
}
