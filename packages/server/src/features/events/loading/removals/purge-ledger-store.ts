import { eventPurges } from '../../../../database/tables/event-purge.ts'
import { and, asc, eq, inArray, isNull, or, sql } from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

/** A datasource whose events leave the statistics. */
export interface Purge {
  readonly companyId: string
  readonly datasourceId: string
}

/**
 * Asks in the caller's transaction for the events of a datasource to leave the statistics: once it commits no query
 * reads them, the loader stores no further ones, and what lies on disk is removed. There is no way back.
 */
export async function requestPurge(tx: Queries, { companyId, datasourceId }: Purge): Promise<void> {
  await tx.insert(eventPurges).values({ companyId, datasourceId }).onConflictDoNothing()
}

export type PurgeLedger = ReturnType<typeof createPurgeLedger>

/** Which purges were asked for, and which are done. */
export function createPurgeLedger(db: Queries) {
  const { companyId, datasourceId, requestedAt, finishedAt } = eventPurges
  return {
    /** Those of which something may be stored, the oldest first. */
    async listOpen(): Promise<Purge[]> {
      return await db
        .select({ companyId, datasourceId })
        .from(eventPurges)
        .where(isNull(finishedAt))
        .orderBy(asc(requestedAt), asc(datasourceId))
    },

    /** Of these datasources those whose events are not stored any more, and all of which something may be stored. */
    async listPurged(of: readonly string[]): Promise<string[]> {
      const rows = await db
        .select({ datasourceId })
        .from(eventPurges)
        .where(or(inArray(datasourceId, [...of]), isNull(finishedAt)))
      return rows.map((row) => row.datasourceId)
    },

    async finish(purge: Purge): Promise<void> {
      await db
        .update(eventPurges)
        .set({ finishedAt: sql`now()` })
        .where(and(eq(datasourceId, purge.datasourceId), isNull(finishedAt)))
    },
  }
}
