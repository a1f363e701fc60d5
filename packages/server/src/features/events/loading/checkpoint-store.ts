import { setTimeout as sleep } from 'node:timers/promises'
import { datasourceCounters } from '../../../database/tables/datasource.ts'
import { loaderCheckpoints } from '../../../database/tables/loader-checkpoint.ts'
import type { Position } from '../../../platform/stores/event-log.ts'
import { and, eq, type PgColumn, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Relational } from '../../../platform/stores/relational.ts'

/** What a batch adds to the counters of one datasource. */
export interface CounterChange {
  readonly company: string
  readonly datasource: string
  readonly accepted: number
  readonly changed: number
  readonly dropped: number
  readonly bot: number
  readonly duplicate: number
}

/** Someone else has moved the checkpoint: this loader is not the only one, or its last commit went through after all. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved'
}

/** Held by the one process that loads, as long as its connection lives. */
export interface LoaderLock {
  /**
   * Waits while a backup takes the moment between two batches (boot/backup), and keeps it from doing so until `leave`.
   * @throws when the connection, and with it the lock, is lost
   */
  enter(signal: AbortSignal): Promise<void>
  /** @throws when the connection, and with it the lock, is lost */
  check(): Promise<void>
  leave(): Promise<void>
  release(): void
}

/** Key of the PostgreSQL advisory lock that all loaders of a database share: arbitrary, and never changed. */
const lockKey = 7_311_010

/** Of the lock that loaders share while they store a batch and note how far they are. */
export const batchLockKey = 7_311_011
const lookMs = 50

/** A statement has at most 65,535 parameters. */
const rowsPerInsert = 1_000

const added = (column: PgColumn) => sql`${column} + excluded.${sql.identifier(column.name)}`
const sums = {
  accepted: added(datasourceCounters.accepted),
  changed: added(datasourceCounters.changed),
  dropped: added(datasourceCounters.dropped),
  bot: added(datasourceCounters.bot),
  duplicate: added(datasourceCounters.duplicate),
}

/**
 * How far a log is loaded, and the counters, in the relational store.
 * @param log the name of the log: positions of another one are no checkpoints of this one
 */
export function createCheckpointStore({ relational, log }: { relational: Relational; log: string }) {
  return {
    /** Undefined while another process loads. */
    async tryLock(): Promise<LoaderLock | undefined> {
      const client = await relational.pool.connect()
      let lost: Error | undefined
      const onError = (error: Error): void => {
        lost = error
      }
      client.on('error', onError)
      // Closing the connection gives a lock back, whatever state it is in.
      const leave = (close: boolean): void => {
        client.off('error', onError)
        client.release(close)
      }
      try {
        const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS locked', [lockKey])
        if (rows[0]?.locked !== true) {
          leave(false)
          return undefined
        }
      } catch (error) {
        leave(true)
        throw error
      }
      return {
        async enter(signal) {
          for (;;) {
            if (lost) throw lost
            const { rows } = await client.query('SELECT pg_try_advisory_lock_shared($1) AS locked', [
              batchLockKey,
            ])
            if (rows[0]?.locked === true) return
            await sleep(lookMs, undefined, { signal })
          }
        },
        async leave() {
          if (lost) throw lost
          await client.query('SELECT pg_advisory_unlock_shared($1)', [batchLockKey])
        },
        async check() {
          if (lost) throw lost
          await client.query('SELECT 1')
        },
        release: () => leave(true),
      }
    },

    /** Undefined before the first batch. */
    async find(): Promise<Position | undefined> {
      const [row] = await relational.db
        .select({ segment: loaderCheckpoints.segment, offset: loaderCheckpoints.byteOffset })
        .from(loaderCheckpoints)
        .where(eq(loaderCheckpoints.log, log))
      return row
    },

    /**
     * Adds to the counters and moves the checkpoint, both or neither.
     * @param from undefined when there was no checkpoint
     * @throws {CheckpointMoved} the checkpoint is not at `from`
     */
    async commit(
      from: Position | undefined,
      to: Position,
      changes: readonly CounterChange[],
      receivedAt: Date | undefined,
    ): Promise<void> {
      // In one order, so that two transactions never wait for each other.
      const sorted = [...changes].sort((a, b) => (a.datasource < b.datasource ? -1 : 1))
      await relational.transaction(async (tx) => {
        const next = { segment: to.segment, byteOffset: to.offset, updatedAt: sql`now()` }
        const seen = receivedAt === undefined ? {} : { receivedAt }
        const moved = from
          ? await tx
              .update(loaderCheckpoints)
              .set({ ...next, ...seen })
              .where(
                and(
                  eq(loaderCheckpoints.log, log),
                  eq(loaderCheckpoints.segment, from.segment),
                  eq(loaderCheckpoints.byteOffset, from.offset),
                ),
              )
              .returning({ log: loaderCheckpoints.log })
          : await tx
              .insert(loaderCheckpoints)
              .values({ log, ...next, ...seen })
              .onConflictDoNothing()
              .returning({ log: loaderCheckpoints.log })
        if (moved.length !== 1) throw new CheckpointMoved('The checkpoint of the event log is elsewhere')
        for (let start = 0; start < sorted.length; start += rowsPerInsert) {
          await tx
            .insert(datasourceCounters)
            .values(
              sorted.slice(start, start + rowsPerInsert).map(({ company, datasource, ...counts }) => ({
                companyId: company,
                datasourceId: datasource,
                ...counts,
                updatedAt: sql`now()`,
              })),
            )
            .onConflictDoUpdate({
              target: [datasourceCounters.companyId, datasourceCounters.datasourceId],
              set: { ...sums, updatedAt: sql`now()` },
            })
        }
      })
    },
  }
}

export type CheckpointStore = ReturnType<typeof createCheckpointStore>
