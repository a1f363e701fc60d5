import { samlAssertions, samlRequests, samlResults } from '../../../../database/tables/single-sign-on.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { and, eq, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../../platform/stores/relational.ts'
import type { AuthorizationRequest } from '../../sign-in/authorization-request.ts'

/** A sign-in without an application: it only shows which user was matched. */
export interface TrialRequest {
  readonly trial: true
  readonly language: Language
}

/** Where a sign-in began. */
interface StartingPoint {
  /** As `networkOf` names it. */
  readonly network: string
  readonly browserNameHash: Buffer
  /** Whether the browser had its name before. */
  readonly browserKnown: boolean
}

/** A sign-in that began at the identity provider, and where it leads. */
export interface InitiatedRequest {
  readonly initiated: true
  readonly language: Language
  readonly clientId: string
  readonly url: string
}

/** A sign-in that was sent to the identity provider, or that came from there. */
export interface StoredRequest {
  readonly id: string
  readonly companyId: string
  readonly configVersion: string
  readonly browserHash: Buffer
  readonly request: AuthorizationRequest | TrialRequest | InitiatedRequest
}

/** The content of a verified response. */
export type StoredResult = Omit<typeof samlResults.$inferSelect, 'expiresAt'>

/** How many rows of a table one sign-in deletes at most. */
const sweepSize = 50

/** Sign-ins under way; given a transaction it works inside it. */
export function createSamlSignInStore(db: Queries) {
  const execute = sqlOn(db)

  return {
    /**
     * Removes the oldest sign-ins of this browser, and of this network, that have neither come back nor ended, so
     * that one more keeps within the bounds. Browsers that had no name count apart from those that had.
     */
    async makeRoom(
      { network, browserNameHash, browserKnown }: StartingPoint,
      max: { readonly ofBrowser: number; readonly ofNetwork: number },
    ): Promise<void> {
      const bounds = [
        [sql`browser_name_hash = ${browserNameHash}`, max.ofBrowser],
        [sql`network = ${network} and browser_known = ${browserKnown}`, max.ofNetwork],
      ] as const
      for (const [counted, bound] of bounds) {
        await execute`
          delete from ${samlRequests} where id in (
          select id from ${samlRequests}
          where ${counted} and used_at is null and expires_at > now()
          order by created_at desc, id offset ${bound - 1})`
      }
    },

    /** The language that a sign-in began in. */
    async findLanguage(companyId: string, id: string): Promise<Language | undefined> {
      const [row] = await db
        .select({ request: samlRequests.authorizationRequest })
        .from(samlRequests)
        .where(and(eq(samlRequests.id, id), eq(samlRequests.companyId, companyId)))
      return (row?.request as StoredRequest['request'] | undefined)?.language
    },

    async insertRequest(
      { request, ...stored }: StoredRequest & StartingPoint,
      seconds: number,
    ): Promise<void> {
      await db.insert(samlRequests).values({
        ...stored,
        authorizationRequest: request,
        createdAt: sql`now()`,
        expiresAt: sql`now() + make_interval(secs => ${seconds})`,
      })
    },

    /** Takes a request for its one use, or gives the reason why it cannot be taken. */
    async takeRequest(
      companyId: string,
      id: string,
    ): Promise<{ configVersion: string } | 'unknown' | 'used' | 'expired'> {
      const here = and(eq(samlRequests.id, id), eq(samlRequests.companyId, companyId))
      const rows = await execute<{ config_version: string }>`
        update ${samlRequests} set used_at = now()
        where ${here} and used_at is null and expires_at > now() returning config_version`
      if (rows[0]) return { configVersion: rows[0].config_version }
      const [found] = await db.select({ usedAt: samlRequests.usedAt }).from(samlRequests).where(here)
      if (!found) return 'unknown'
      return found.usedAt ? 'used' : 'expired'
    },

    /** False when the assertion was taken before. */
    async insertAssertion(assertion: {
      companyId: string
      idpEntityId: string
      assertionId: string
      expiresAt: Date
    }): Promise<boolean> {
      const inserted = await db
        .insert(samlAssertions)
        .values(assertion)
        .onConflictDoNothing()
        .returning({ id: samlAssertions.assertionId })
      return inserted.length > 0
    },

    async insertResult(result: StoredResult, seconds: number): Promise<void> {
      await db
        .insert(samlResults)
        .values({ ...result, expiresAt: sql`now() + make_interval(secs => ${seconds})` })
    },

    /** Takes a result for its one use, with the request that it answers. */
    async takeResult(
      companyId: string,
      secretHash: Buffer,
    ): Promise<{ result: Omit<StoredResult, 'secretHash'>; request: StoredRequest } | undefined> {
      const [result] = await db
        .delete(samlResults)
        .where(
          and(
            eq(samlResults.secretHash, secretHash),
            eq(samlResults.companyId, companyId),
            sql`${samlResults.expiresAt} > now()`,
          ),
        )
        .returning({
          companyId: samlResults.companyId,
          requestId: samlResults.requestId,
          idpEntityId: samlResults.idpEntityId,
          nameId: samlResults.nameId,
          nameFormat: samlResults.nameFormat,
          attributes: samlResults.attributes,
        })
      if (!result) return undefined
      const [row] = await db.select().from(samlRequests).where(eq(samlRequests.id, result.requestId))
      if (!row) return undefined
      const { id, configVersion, browserHash } = row
      const request = row.authorizationRequest as StoredRequest['request']
      return { result, request: { id, companyId, configVersion, browserHash, request } }
    },

    /** Deletes some of what has ended; a request not before the last result that may belong to it. */
    async sweep(): Promise<void> {
      const ended = [
        [samlResults, '1 minute'],
        [samlRequests, '3 minutes'],
        [samlAssertions, '5 minutes'],
      ] as const
      for (const [table, after] of ended) {
        await execute`
          delete from ${table} where ctid in (
          select ctid from ${table} where expires_at < now() - ${after}::interval
          order by expires_at limit ${sweepSize} for update skip locked)`
      }
    },
  }
}

export type SamlSignInStore = ReturnType<typeof createSamlSignInStore>
