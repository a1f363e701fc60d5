import {
  savedQueryMessages,
  savedQueryResults,
  savedQueryRuns,
} from '../../../database/tables/saved-query.ts'
import type { Range } from '../../../platform/paging.ts'
import { and, count, desc, eq, inArray, lte, sql } from '../../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../../platform/stores/relational.ts'
import { createLedger, type Held } from '../../../platform/work/ledger.ts'

export type StoredRun = typeof savedQueryRuns.$inferSelect
export type StoredMessage = typeof savedQueryMessages.$inferSelect

export type NewRun = Pick<
  StoredRun,
  'id' | 'companyId' | 'savedQueryId' | 'trigger' | 'plannedFor' | 'state'
> &
  Partial<Pick<StoredRun, 'askedBy' | 'dueAt' | 'endedAt' | 'reason'>>

/** Rows of one statement. */
const sweptAtOnce = 200
const ledgerDays = 365

/** The ledger of runs, which is also the queue that they are taken from; given a transaction it works inside it. */
export function createRunStore(db: Queries) {
  const ledger = createLedger(db, savedQueryRuns, 'saved_query_runs')

  /** @returns of how many runs, at most a few hundred */
  async function sweepResults(): Promise<number> {
    const runs = await db
      .select({ id: savedQueryRuns.id })
      .from(savedQueryRuns)
      .where(lte(savedQueryRuns.resultsUntil, sql`now()`))
      .limit(sweptAtOnce)
    if (runs.length === 0) return 0
    const ids = runs.map(({ id }) => id)
    await db.delete(savedQueryResults).where(inArray(savedQueryResults.runId, ids))
    await db.update(savedQueryRuns).set({ resultsUntil: null }).where(inArray(savedQueryRuns.id, ids))
    return runs.length
  }

  async function sweepRuns(): Promise<number> {
    const { rowCount } = await db.execute(
      sql`delete from ${savedQueryRuns} where id in (
        select id from ${savedQueryRuns} where created_at < now() - make_interval(days => ${ledgerDays})
          and state not in ('queued', 'running') limit ${sweptAtOnce})`,
    )
    return rowCount ?? 0
  }

  return {
    ...ledger,

    /** @returns the rows that are new: one planned time of a saved query has one row, and one run is under way */
    async insert(runs: readonly NewRun[]): Promise<StoredRun[]> {
      if (runs.length === 0) return []
      return db
        .insert(savedQueryRuns)
        .values([...runs])
        .onConflictDoNothing()
        .returning()
    },

    async count(savedQueryId: string): Promise<number> {
      const [row] = await db
        .select({ count: count() })
        .from(savedQueryRuns)
        .where(eq(savedQueryRuns.savedQueryId, savedQueryId))
      return row?.count ?? 0
    },

    /** The latest planned time first. */
    async list(savedQueryId: string, { limit, offset }: Range): Promise<StoredRun[]> {
      return db
        .select()
        .from(savedQueryRuns)
        .where(eq(savedQueryRuns.savedQueryId, savedQueryId))
        .orderBy(desc(savedQueryRuns.plannedFor), desc(savedQueryRuns.id))
        .limit(limit)
        .offset(offset)
    },

    async find(savedQueryId: string, id: string): Promise<StoredRun | undefined> {
      const [row] = await db
        .select()
        .from(savedQueryRuns)
        .where(and(eq(savedQueryRuns.savedQueryId, savedQueryId), eq(savedQueryRuns.id, id)))
      return row
    },

    async listMessages(runIds: readonly string[]): Promise<StoredMessage[]> {
      if (runIds.length === 0) return []
      return db
        .select()
        .from(savedQueryMessages)
        .where(inArray(savedQueryMessages.runId, [...runIds]))
        .orderBy(savedQueryMessages.linkedAccountId)
    },

    async finish(
      run: Held,
      outcome: Pick<StoredRun, 'recipients' | 'results' | 'reason'> & { readonly resultDays: number },
    ): Promise<void> {
      const { resultDays, ...columns } = outcome
      await ledger.set(run, {
        ...columns,
        state: 'delivered',
        endedAt: sql`now()`,
        resultsUntil: sql`now() + make_interval(days => ${resultDays})`,
      })
    },

    /** False when the process no longer has the run. */
    fail: (run: Held, reason: string): Promise<boolean> =>
      ledger.set(run, { state: 'failed', endedAt: sql`now()`, reason }),

    /** Of this attempt and those before it. */
    async deletePieces({ id, attempts }: Held): Promise<void> {
      await db
        .delete(savedQueryResults)
        .where(and(eq(savedQueryResults.runId, id), lte(savedQueryResults.attempt, attempts)))
    },

    /** Of every other attempt. */
    async deleteOtherPieces({ id, attempts }: Held): Promise<void> {
      await db
        .delete(savedQueryResults)
        .where(and(eq(savedQueryResults.runId, id), sql`${savedQueryResults.attempt} <> ${attempts}`))
    },

    async insertPiece(
      { id, attempts }: Held,
      queryIndex: number,
      piece: number,
      content: Buffer,
    ): Promise<void> {
      await db.insert(savedQueryResults).values({ runId: id, attempt: attempts, queryIndex, piece, content })
    },

    /**
     * The CSV of one query as an attempt has stored it, piece by piece.
     * @throws when it is deleted after the first piece: what was read is no whole result
     */
    async *readPieces({ id, attempts }: Held, queryIndex: number): AsyncGenerator<Buffer> {
      const find = async (piece: number): Promise<Buffer | undefined> => {
        const [row] = await db
          .select({ content: savedQueryResults.content })
          .from(savedQueryResults)
          .where(
            and(
              eq(savedQueryResults.runId, id),
              eq(savedQueryResults.attempt, attempts),
              eq(savedQueryResults.queryIndex, queryIndex),
              eq(savedQueryResults.piece, piece),
            ),
          )
        return row?.content
      }
      for (let piece = 0; ; piece++) {
        const content = await find(piece)
        if (content) yield content
        else if (piece === 0 || (await find(0))) return
        else throw new Error('the result was deleted while it was read')
      }
    },

    async insertMessages(runId: string, linkedAccountIds: readonly string[]): Promise<void> {
      if (linkedAccountIds.length === 0) return
      await db
        .insert(savedQueryMessages)
        .values(
          linkedAccountIds.map((linkedAccountId) => ({ runId, linkedAccountId, state: 'queued' as const })),
        )
    },

    /** When the next message can be taken. */
    messageDueAt: sql`(select min(due_at) from ${savedQueryMessages} where state = 'queued')`,

    /** Takes the message that is due longest; no other process gets it until `leaseSeconds` have passed. */
    async takeMessage(leaseSeconds: number): Promise<{ message: StoredMessage; run: StoredRun } | undefined> {
      const rows = await sqlOn(db)<{ run_id: string; linked_account_id: string }>`
        update ${savedQueryMessages} set attempts = attempts + 1,
          due_at = now() + make_interval(secs => ${leaseSeconds})
        where (run_id, linked_account_id) = (
          select run_id, linked_account_id from ${savedQueryMessages}
          where state = 'queued' and due_at <= now() order by due_at limit 1 for update skip locked
        ) returning run_id, linked_account_id`
      const [taken] = rows
      if (!taken) return undefined
      const [found] = await db
        .select({ message: savedQueryMessages, run: savedQueryRuns })
        .from(savedQueryMessages)
        .innerJoin(savedQueryRuns, eq(savedQueryRuns.id, savedQueryMessages.runId))
        .where(
          and(
            eq(savedQueryMessages.runId, taken.run_id),
            eq(savedQueryMessages.linkedAccountId, taken.linked_account_id),
          ),
        )
      return found
    },

    async noteMessage(
      { runId, linkedAccountId }: Pick<StoredMessage, 'runId' | 'linkedAccountId'>,
      change: { state: StoredMessage['state']; reason: string | null; seconds?: number },
    ): Promise<void> {
      const { state, reason, seconds = 0 } = change
      await db
        .update(savedQueryMessages)
        .set({ state, reason, dueAt: sql`now() + make_interval(secs => ${seconds})` })
        .where(
          and(eq(savedQueryMessages.runId, runId), eq(savedQueryMessages.linkedAccountId, linkedAccountId)),
        )
    },

    /** Deletes results whose 7 days have passed, and entries of the ledger after a year. */
    async sweep(signal?: AbortSignal): Promise<void> {
      while (!signal?.aborted && (await sweepResults()) > 0);
      while (!signal?.aborted && (await sweepRuns()) > 0);
    },
  }
}
