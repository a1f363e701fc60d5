import { setTimeout as sleep } from 'node:timers/promises'
import { tablesOfEvents } from '../../../../database/event-tables.ts'
import type { Columnar } from '../../../../platform/stores/columnar.ts'
import { ordersOf } from '../order-store.ts'
import type { Purge } from './purge-ledger-store.ts'

/** Between two looks whether the engine has rewritten what it was told to: the first pause, doubled up to the maximum. */
const [firstPollMs, maxPollMs] = [10, 2_000]

const ofDatasource = 'company = {company: String} AND datasource = {datasource: String}'
const itsOrders = `company = {company: String}
  AND purchase IN (SELECT purchase FROM purchases WHERE ${ofDatasource})`

export type PurgeStore = ReturnType<typeof createPurgeStore>

/** Statements that remove what a datasource has told. Each can be repeated, and goes on where an earlier one ended. */
export function createPurgeStore({ columnar }: { readonly columnar: Pick<Columnar, 'query' | 'command'> }) {
  const paramsOf = ({ companyId, datasourceId }: Purge) => ({ company: companyId, datasource: datasourceId })

  /** Waits until no row is to be removed from a table any more. The engine works with its background threads alone. */
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

  /** Removes rows month by month, or whatever a table is parted by, so that each step needs little time and disk. */
  async function remove(table: string, where: string, purge: Purge, signal: AbortSignal): Promise<void> {
    const params = paramsOf(purge)
    await settled(table, signal)
    const partitions = await columnar.query<{ partition: string }>({
      sql: `SELECT DISTINCT _partition_id AS partition FROM ${table} WHERE ${where} ORDER BY partition`,
      params,
      settings: { max_execution_time: 600, max_threads: 1 },
      signal,
    })
    for (const { partition } of partitions) {
      await columnar.command({
        sql: `ALTER TABLE ${table} DELETE IN PARTITION ID {partition: String} WHERE ${where}`,
        params: { ...params, partition },
        settings: { mutations_sync: 0 },
        signal,
      })
      await settled(table, signal)
    }
  }

  return {
    /**
     * Computes orders again of which the datasource has told a part, from what others have told of them. Its
     * purchases are the list of these orders, so they are removed later.
     * @param purged all whose purchases do not count
     */
    async recomputeOrders(purge: Purge, purged: readonly string[], signal: AbortSignal): Promise<void> {
      await remove('orders', itsOrders, purge, signal)
      await columnar.command({
        sql: ordersOf({
          purchases: `${itsOrders} AND datasource NOT IN {purged: Array(String)}`,
          orders: itsOrders,
        }),
        params: { ...paramsOf(purge), purged },
        settings: { max_threads: 1 },
        signal,
      })
    },

    /** Removes all rows of the datasource. */
    async removeRows(purge: Purge, signal: AbortSignal): Promise<void> {
      for (const table of tablesOfEvents) await remove(table, ofDatasource, purge, signal)
    },
  }
}
