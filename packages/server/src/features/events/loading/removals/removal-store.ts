import { setTimeout as sleep } from 'node:timers/promises'
import { type TableOfEvents, tablesOfEvents } from '../../../../database/event-tables.ts'
import type { Columnar, ColumnarParam } from '../../../../platform/stores/columnar.ts'
import { ordersOf } from '../order-store.ts'

/** Between two looks whether the engine has done what it was told to: the first pause, doubled up to the maximum. */
const [firstPollMs, maxPollMs] = [10, 100]

/** After a rewriting that took longer, queries have the processor for themselves before the next one. */
const longMs = 1_000

/** Rows of a table, as SQL with bound parameters. */
export interface RowCondition {
  readonly sql: string
  readonly params: Readonly<Record<string, ColumnarParam>>
}

/** Tables of which rows are removed: those that datasources tell, and lists of cohorts. */
const removableTables = [...tablesOfEvents, 'cohort_persons'] as const
export type RemovableTable = (typeof removableTables)[number]

/** What is done while no batch is being stored. */
export type BetweenBatches = <T>(work: () => Promise<T>) => Promise<T>

export type RemovalStore = ReturnType<typeof createRemovalStore>

/** Statements that remove rows. Each can be repeated, and goes on where an earlier one ended. */
export function createRemovalStore({ columnar }: { readonly columnar: Pick<Columnar, 'query' | 'command'> }) {
  /** The partition that was rewritten last. */
  let rewritten = ''

  /** Waits until the engine has changed all parts of a table that it was told to, with its background threads alone. */
  async function settled(table: string, signal: AbortSignal): Promise<void> {
    for (let pollMs = firstPollMs; ; pollMs = Math.min(2 * pollMs, maxPollMs)) {
      const [row] = await columnar.query<{ open: number; failure: string }>({
        sql: `SELECT count() AS open, anyIf(latest_fail_reason, latest_fail_reason != '') AS failure
              FROM system.mutations WHERE database = currentDatabase() AND table = {table: String} AND NOT is_done`,
        params: { table },
        signal,
      })
      if (!row || row.open === 0) return
      if (row.failure !== '') throw new Error(`The engine removes nothing from ${table}: ${row.failure}`)
      await sleep(pollMs, undefined, { signal })
    }
  }

  async function count(table: string, { sql, params }: RowCondition, signal: AbortSignal): Promise<number> {
    const [row] = await columnar.query<{ rows: number }>({
      sql: `SELECT count() AS rows FROM ${table} WHERE ${sql}`,
      params,
      settings: { max_execution_time: 600, max_threads: 1 },
      signal,
    })
    return row?.rows ?? 0
  }

  /** Removes rows from all answers at once; `rewrite` removes their bytes. @returns how many */
  async function remove(table: RemovableTable, where: RowCondition, signal: AbortSignal): Promise<number> {
    await settled(table, signal)
    const removed = await count(table, where, signal)
    if (removed === 0) return 0
    await columnar.command({
      sql: `DELETE FROM ${table} WHERE ${where.sql}`,
      params: where.params,
      // Only a mark of each row is written, nothing of its columns.
      settings: { lightweight_delete_mode: 'alter_update', lightweight_deletes_sync: 0 },
      signal,
    })
    await settled(table, signal)
    return removed
  }

  return {
    count,
    remove,

    /** Rewrites one partition of a table without the rows that were removed from it. @returns whether the next may follow at once */
    async rewrite(signal: AbortSignal): Promise<boolean> {
      const [part] = await columnar.query<{ table: string; partition: string }>({
        sql: `SELECT table, partition_id AS partition FROM system.parts
              WHERE active AND has_lightweight_delete AND database = currentDatabase() AND table IN {tables: Array(String)}
              ORDER BY table, partition LIMIT 1`,
        params: { tables: removableTables },
        signal,
      })
      if (!part) return false
      const began = performance.now()
      await settled(part.table, signal)
      await columnar.command({
        sql: `ALTER TABLE ${part.table} APPLY DELETED MASK IN PARTITION ID {partition: String}`,
        params: { partition: part.partition },
        settings: { mutations_sync: 0 },
        signal,
      })
      await settled(part.table, signal)
      // One that is named again at once is not tried again at once, whatever the reason.
      const isAnother = rewritten !== `${part.table} ${part.partition}`
      rewritten = `${part.table} ${part.partition}`
      return isAnother && performance.now() - began < longMs
    },

    /** Removes rows from every table whose rows a datasource has told. */
    async removeFromAll(where: RowCondition, signal: AbortSignal): Promise<void> {
      for (const table of tablesOfEvents) await remove(table, where, signal)
    },

    /** How many such rows of `events` there are of each datasource. */
    async countEvents({ sql, params }: RowCondition, signal: AbortSignal) {
      return await columnar.query<{ company: string; datasource: string; events: number }>({
        sql: `SELECT company, datasource, count() AS events FROM events WHERE ${sql}
              GROUP BY company, datasource ORDER BY company, datasource`,
        params,
        settings: { max_execution_time: 600, max_threads: 1 },
        signal,
      })
    },

    /** Months of such rows as year * 100 + month, in their order. */
    async monthsOf(
      table: TableOfEvents,
      { sql, params }: RowCondition,
      signal: AbortSignal,
    ): Promise<number[]> {
      const rows = await columnar.query<{ month: number }>({
        sql: `SELECT DISTINCT toYYYYMM(time) AS month FROM ${table} WHERE ${sql} ORDER BY month`,
        params,
        settings: { max_execution_time: 600, max_threads: 1 },
        signal,
      })
      return rows.map(({ month }) => month)
    },

    /**
     * Drops the partitions of a table all of whose rows are such, which rewrites nothing. No batch may be stored
     * meanwhile: it could bring other rows to one of them.
     */
    async dropWhole(table: TableOfEvents, where: RowCondition, signal: AbortSignal): Promise<number> {
      let removed = 0
      const partitions = await columnar.query<{ partition: string; rows: number }>({
        sql: `SELECT _partition_id AS partition, count() AS rows FROM ${table} WHERE ${where.sql}
              GROUP BY partition ORDER BY partition`,
        params: where.params,
        settings: { max_execution_time: 600, max_threads: 1 },
        signal,
      })
      for (const { partition, rows } of partitions) {
        const [all] = await columnar.query<{ rows: number }>({
          sql: `SELECT count() AS rows FROM ${table} WHERE _partition_id = {partition: String}`,
          params: { partition },
          signal,
        })
        if (all?.rows !== rows) continue
        await columnar.command({
          sql: `ALTER TABLE ${table} DROP PARTITION ID {partition: String}`,
          params: { partition },
          signal,
        })
        removed += rows
      }
      return removed
    },

    /**
     * Computes orders again of which purchases that go have told a part, from the others. These purchases are the list
     * of the orders, so they are removed later.
     * @param going purchases that go
     * @param uncounted purchases that do not count: those, and maybe others
     */
    async recomputeOrders(going: RowCondition, uncounted: RowCondition, signal: AbortSignal): Promise<void> {
      const { params } = going
      const told = `FROM purchases WHERE ${going.sql}`
      const orders = `company IN (SELECT DISTINCT company ${told}) AND purchase IN (SELECT purchase ${told})`
      await remove('orders', { sql: orders, params }, signal)
      await columnar.command({
        sql: ordersOf({ purchases: `${orders} AND NOT (${uncounted.sql})`, orders }),
        params: { ...params, ...uncounted.params },
        settings: { max_threads: 1 },
        signal,
      })
    },
  }
}
