import { datasources } from '../../../../database/tables/datasource.ts'
import { eventPurges } from '../../../../database/tables/event-purge.ts'
import {
  and,
  asc,
  eq,
  inArray,
  isNotNull,
  isNull,
  or,
  sql,
} from '../../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

/** A datasource whose events leave the statistics. */
export interface Purge {
  readonly companyId: string
  readonly datasourceId: string
}

/** Of which something may be stored. */
export interface OpenPurge extends Purge {
  readonly isDue: boolean
  readonly isUncounted: boolean
  readonly isRestored: boolean
}

/** What a batch has to know. */
export interface LeavingDatasources {
  /** Their events are not stored any more. */
  readonly purged: string[]
  /** Orders are computed without their events: those, and others that may come back. */
  readonly uncounted: string[]
}

const { companyId, datasourceId, requestedAt, purgeAfter, uncountedSince, restoredAt, finishedAt } =
  eventPurges

const isDue = sql<boolean>`(${purgeAfter} <= now() and ${restoredAt} is null)`

/**
 * Asks in the caller's transaction for the events of a datasource to leave the statistics: once it commits no query
 * reads them, and after so many days what lies on disk is removed.
 * @param undoDays in which there is a way back
 * @param wasPaused for that
 */
export async function requestPurge(
  tx: Queries,
  purge: Purge,
  { undoDays = 0, wasPaused = false }: { readonly undoDays?: number; readonly wasPaused?: boolean } = {},
): Promise<void> {
  const asked = {
    wasPaused,
    requestedAt: sql`now()`,
    purgeAfter: sql`now() + make_interval(days => ${undoDays})`,
    uncountedSince: null,
    restoredAt: null,
  }
  await tx
    .insert(eventPurges)
    .values({ companyId: purge.companyId, datasourceId: purge.datasourceId, ...asked })
    .onConflictDoUpdate({ target: datasourceId, set: asked, setWhere: isNull(finishedAt) })
}

/**
 * Takes it back in the caller's transaction: the events come back once their orders are computed.
 * @returns undefined where it is too late
 */
export async function undoPurge(tx: Queries, id: string): Promise<{ wasPaused: boolean } | undefined> {
  const [undone] = await tx
    .update(eventPurges)
    .set({ restoredAt: sql`now()` })
    .where(and(eq(datasourceId, id), isNull(finishedAt), sql`not ${isDue}`))
    .returning({ wasPaused: eventPurges.wasPaused })
  return undone
}

/** Asks for the events of all datasources of a company to be removed as soon as it commits, where that was not asked for. */
export async function requestPurges(tx: Queries, company: string): Promise<void> {
  await tx.execute(sql`
    insert into ${eventPurges} (company_id, datasource_id)
    select company_id, id from ${datasources} where company_id = ${company} and kind <> 'worker'
    on conflict (datasource_id) do update set purge_after = now(), restored_at = null
    where event_purges.finished_at is null
      and (event_purges.purge_after > now() or event_purges.restored_at is not null)`)
}

export type PurgeLedger = ReturnType<typeof createPurgeLedger>

/** Which purges were asked for, and which are done. */
export function createPurgeLedger(db: Queries) {
  return {
    /** Those of which something may be stored, the oldest first. */
    async listOpen(): Promise<OpenPurge[]> {
      return await db
        .select({
          ...{ companyId, datasourceId, isDue },
          isUncounted: sql<boolean>`${uncountedSince} is not null`,
          isRestored: sql<boolean>`${restoredAt} is not null`,
        })
        .from(eventPurges)
        .where(isNull(finishedAt))
        .orderBy(asc(requestedAt), asc(datasourceId))
    },

    /** Whether events of the company may still be stored that were asked to be removed. */
    hasOpen: async (company: string): Promise<boolean> =>
      (await db.$count(eventPurges, and(eq(companyId, company), isNull(finishedAt)))) > 0,

    /** What matters of these datasources, and of all that are open. */
    async listLeaving(of: readonly string[]): Promise<LeavingDatasources> {
      const rows = await db
        .select({ datasourceId, isPurged: sql<boolean>`(${finishedAt} is not null or ${isDue})` })
        .from(eventPurges)
        .where(and(or(inArray(datasourceId, [...of]), isNull(finishedAt)), isNull(restoredAt)))
      return {
        purged: rows.flatMap((row) => (row.isPurged ? [row.datasourceId] : [])),
        uncounted: rows.map((row) => row.datasourceId),
      }
    },

    /** Orders are computed without its events. */
    async noteUncounted(purge: Purge): Promise<void> {
      await db
        .update(eventPurges)
        .set({ uncountedSince: sql`now()` })
        .where(and(eq(datasourceId, purge.datasourceId), isNull(finishedAt), isNull(restoredAt)))
    },

    /** It is undone, unless it was asked for again. */
    async forget(purge: Purge): Promise<void> {
      await db
        .delete(eventPurges)
        .where(and(eq(datasourceId, purge.datasourceId), isNull(finishedAt), isNotNull(restoredAt)))
    },

    async finish(purge: Purge): Promise<void> {
      await db
        .update(eventPurges)
        .set({ finishedAt: sql`now()` })
        .where(and(eq(datasourceId, purge.datasourceId), isNull(finishedAt), isDue))
    },
  }
}
