import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { requestBudgets } from '../../../../database/tables/request-budget.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'

/** How many requests are free at once, and after how many seconds one more is. */
export interface Budget {
  /** SHA-256 of what is counted and for whom. */
  readonly key: Buffer
  readonly free: number
  readonly drainSeconds: number
}

/** @param kind what is counted @param whom for whom, such as an address: it is not readable in the key */
export const budgetKey = (kind: string, whom: string): Buffer =>
  createHash('sha256').update(`${kind}\0${whom}`).digest()

const sweepSize = 50

/** Requests that are bounded for everybody together, on all processes and across restarts. */
export function createRequestBudgetStore(db: Queries) {
  return {
    /** Counts one request. @returns seconds until the next one is free; 0 when this one was */
    async take({ key, free, drainSeconds }: Budget): Promise<number> {
      const one = sql`make_interval(secs => ${drainSeconds})`
      const full = sql`now() + make_interval(secs => ${free * drainSeconds})`
      const { rowCount } = await db.execute(
        sql`insert into ${requestBudgets} as known (key, drained_at) values (${key}::bytea, now() + ${one})
          on conflict (key) do update set drained_at = greatest(known.drained_at, now()) + ${one}
          where greatest(known.drained_at, now()) + ${one} <= ${full}`,
      )
      if ((rowCount ?? 0) > 0) {
        await db.execute(
          sql`delete from ${requestBudgets} where key in (
            select key from ${requestBudgets} where drained_at < now() - interval '1 minute'
            limit ${sweepSize} for update skip locked)`,
        )
        return 0
      }
      const { rows } = await db.execute<{ wait: number }>(
        sql`select extract(epoch from drained_at + ${one} - (${full}))::float8 as wait
          from ${requestBudgets} where key = ${key}`,
      )
      return Math.max(1, Math.ceil(rows[0]?.wait ?? 1))
    },

    /** The bucket is empty again. */
    async forget(key: Buffer): Promise<void> {
      await db.execute(sql`delete from ${requestBudgets} where key = ${key}`)
    },
  }
}
