import { sealedColumns } from '../../../../database/sealed-columns.ts'
import { recoveryCodes, userAuthenticators } from '../../../../database/tables/sign-in.ts'
import { and, eq, isNotNull, lt, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

/** The context that the secret of a user's authenticator is sealed for. */
export const authenticatorContext = sealedColumns.authenticatorSecret.contextOf

export interface StoredAuthenticator {
  readonly sealedSecret: Buffer
  readonly isConfirmed: boolean
}

/** Authenticators and recovery codes; given a transaction it works inside it. */
export function createAuthenticatorStore(db: Queries) {
  return {
    async find(userId: string): Promise<StoredAuthenticator | undefined> {
      const [row] = await db
        .select({
          sealedSecret: userAuthenticators.sealedSecret,
          isConfirmed: sql<boolean>`${userAuthenticators.confirmedAt} is not null`,
        })
        .from(userAuthenticators)
        .where(eq(userAuthenticators.userId, userId))
      return row
    },

    /** A secret that waits for its first code; false when there is one that is in use. */
    async offer(userId: string, sealedSecret: Buffer): Promise<boolean> {
      const { rowCount } = await db.execute(
        sql`insert into ${userAuthenticators} (user_id, sealed_secret) values (${userId}, ${sealedSecret}::bytea)
          on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, created_at = now(), last_step = 0
          where user_authenticators.confirmed_at is null`,
      )
      return (rowCount ?? 0) > 0
    },

    /** False when it is in use already, or the step was used. */
    async confirm(userId: string, step: number): Promise<boolean> {
      const { rowCount } = await db.execute(
        sql`update ${userAuthenticators} set confirmed_at = now(), last_step = ${step}
          where user_id = ${userId} and confirmed_at is null and last_step < ${step}`,
      )
      return (rowCount ?? 0) > 0
    },

    /** Takes a step once: false when it, or a later one, was taken before. */
    async takeStep(userId: string, step: number): Promise<boolean> {
      const taken = await db
        .update(userAuthenticators)
        .set({ lastStep: step })
        .where(
          and(
            eq(userAuthenticators.userId, userId),
            isNotNull(userAuthenticators.confirmedAt),
            lt(userAuthenticators.lastStep, step),
          ),
        )
        .returning({ userId: userAuthenticators.userId })
      return taken.length > 0
    },

    /** Takes a recovery code once. */
    async takeRecoveryCode(userId: string, codeHash: Buffer): Promise<boolean> {
      const { rowCount } = await db
        .delete(recoveryCodes)
        .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, codeHash)))
      return (rowCount ?? 0) > 0
    },

    countRecoveryCodes: (userId: string): Promise<number> =>
      db.$count(recoveryCodes, eq(recoveryCodes.userId, userId)),

    async replaceRecoveryCodes(userId: string, hashes: readonly Buffer[]): Promise<void> {
      await db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
      if (hashes.length > 0)
        await db.insert(recoveryCodes).values(hashes.map((codeHash) => ({ userId, codeHash })))
    },

    async delete(userId: string): Promise<boolean> {
      await db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
      const { rowCount } = await db.delete(userAuthenticators).where(eq(userAuthenticators.userId, userId))
      return (rowCount ?? 0) > 0
    },
  }
}
