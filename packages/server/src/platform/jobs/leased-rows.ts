import { type PgTable, type SQL, sql } from '../stores/postgres/drizzle.ts'
import type { Queries } from '../stores/relational.ts'

/** The attempt that a process holds; once another process has begun the next one, nothing of it counts. */
export interface Held {
  readonly id: string
  /** Which attempt. */
  readonly attempts: number
}

/**
 * A table that is a ledger and a queue at once: its rows have `id`, `company_id`, `state` (`queued` or `running` until
 * they have ended), `attempts`, `due_at`, `lease_until` and `started_at`. All processes share the database's time.
 * @param isReady a condition on the columns of the table, without which a row waits
 */
export function createLeasedRows(db: Queries, table: PgTable, name: string, isReady: SQL = sql`true`) {
  const held = ({ id, attempts }: Held) => sql`id = ${id} and attempts = ${attempts} and state = 'running'`
  const isThere = ({ rowCount }: { rowCount: number | null }) => (rowCount ?? 0) > 0

  return {
    /**
     * Takes a queued row, or one whose process has ended, of a company that runs fewer than `perCompany`: of the
     * companies that run the fewest the row that is due longest, so that none waits for all that another one has
     * queued. No other process gets it until `leaseSeconds` have passed. Inside a transaction: two that take at once
     * would count without each other's.
     * @returns its id
     */
    async take(leaseSeconds: number, perCompany: number): Promise<string | undefined> {
      await db.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`${name}.take`}, 0))`)
      const { rows } = await db.execute<{ id: string }>(
        sql`update ${table} set state = 'running', attempts = attempts + 1, started_at = now(),
            lease_until = now() + make_interval(secs => ${leaseSeconds})
          where id = (
            with busy as (
              select company_id, count(*) as running from ${table}
              where state = 'running' and lease_until > now() group by company_id)
            select due.id from ${table} as due left join busy on busy.company_id = due.company_id
            where (due.state = 'queued' and due.due_at <= now() or due.state = 'running' and due.lease_until <= now())
              and coalesce(busy.running, 0) < ${perCompany} and ${isReady}
            order by coalesce(busy.running, 0), due.due_at, due.id limit 1 for update of due skip locked
          ) returning id`,
      )
      return rows[0]?.id
    },

    /** Seconds that the row which is ready longest is late; 0 when none is. */
    async findDelay(): Promise<number> {
      const { rows } = await db.execute<{ seconds: number }>(
        sql`select coalesce(extract(epoch from greatest(now() - min(due_at), '0')), 0)::float8 as seconds
          from ${table} where state = 'queued' and ${isReady}`,
      )
      return rows[0]?.seconds ?? 0
    },

    /** False when the process no longer has the row. */
    async keep(row: Held, leaseSeconds: number): Promise<boolean> {
      return isThere(
        await db.execute(
          sql`update ${table} set lease_until = now() + make_interval(secs => ${leaseSeconds}) where ${held(row)}`,
        ),
      )
    },

    /** Locks the row until the transaction ends; false when the process no longer has it. */
    async lockHeld(row: Held): Promise<boolean> {
      return isThere(await db.execute(sql`select id from ${table} where ${held(row)} for update`))
    },

    /** Queues it again. @param attempts that count as begun */
    async requeue(row: Held, seconds: number, attempts = row.attempts): Promise<void> {
      await db.execute(
        sql`update ${table} set state = 'queued', attempts = ${attempts},
            due_at = now() + make_interval(secs => ${seconds})
          where ${held(row)}`,
      )
    },
  }
}
