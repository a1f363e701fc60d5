import { and, eq, type PgColumn, type PgTable, type SQL, sql } from '../stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../stores/relational.ts'

/** The attempt that a process holds; once another process has begun the next one, nothing of it counts. */
export interface Held {
  readonly id: string
  /** Which attempt. */
  readonly attempts: number
}

/** Its rows are `queued` or `running` until they have ended. */
export type LedgerTable = PgTable &
  Readonly<Record<'id' | 'companyId' | 'state' | 'attempts' | 'dueAt' | 'leaseUntil' | 'startedAt', PgColumn>>

export type Ledger<Row extends Held> = ReturnType<typeof createLedger<PgTable & { $inferSelect: Row }>>

/**
 * A table that is a ledger and a queue at once. All processes share the database's time.
 * @param name of the table
 * @param isReady a condition on the columns of the table, without which a row waits
 * @param isOfQueue which rows are taken, where the table has several queues; those of the others count for nothing
 */
export function createLedger<Table extends PgTable>(
  db: Queries,
  table: Table,
  name: string,
  isReady: SQL = sql`true`,
  isOfQueue: SQL = sql`true`,
) {
  const execute = sqlOn(db)

  type Row = Table['$inferSelect']
  const { id, attempts, state } = table as Table & LedgerTable
  const held = (row: Held) => and(eq(id, row.id), eq(attempts, row.attempts), eq(state, 'running'))

  /** Changes columns of the row. @returns false when the process no longer has it */
  async function set(row: Held, columns: { readonly [Column in keyof Row]?: Row[Column] | SQL }) {
    const { rowCount } = await db
      .update(table as PgTable)
      .set(columns as object)
      .where(held(row))
    return (rowCount ?? 0) > 0
  }

  const inSeconds = (seconds: number) => sql`now() + make_interval(secs => ${seconds})`

  return {
    set,

    /**
     * Takes a queued row, or one whose process has ended, of a company that runs fewer than `perCompany`: of the
     * companies that run the fewest the row that is due longest, so that none waits for all that another one has
     * queued. No other process gets it until `leaseSeconds` have passed. Inside a transaction: two that take at once
     * would count without each other's.
     */
    async take(leaseSeconds: number, perCompany: number): Promise<Row | undefined> {
      await execute`select pg_advisory_xact_lock(hashtextextended(${`${name}.take`}, 0))`
      const rows = await execute<{ id: string }>`
        update ${table} set state = 'running', attempts = attempts + 1, started_at = now(),
          lease_until = ${inSeconds(leaseSeconds)}
        where id = (
          with busy as (
            select company_id, count(*) as running from ${table}
            where state = 'running' and lease_until > now() and ${isOfQueue} group by company_id)
          select due.id from ${table} as due left join busy on busy.company_id = due.company_id
          where (due.state = 'queued' and due.due_at <= now() or due.state = 'running' and due.lease_until <= now())
            and coalesce(busy.running, 0) < ${perCompany} and ${isReady} and ${isOfQueue}
          order by coalesce(busy.running, 0), due.due_at, due.id limit 1 for update of due skip locked
        ) returning id`
      if (!rows[0]) return undefined
      const [row] = await db
        .select()
        .from(table as PgTable)
        .where(eq(id, rows[0].id))
      return row as Row
    },

    /** When the next row can be taken, those that a company has too many of at once aside. */
    dueAt: sql`least((select min(due_at) from ${table} where state = 'queued' and ${isReady} and ${isOfQueue}),
      (select min(lease_until) from ${table} where state = 'running' and ${isOfQueue}))`,

    /** Seconds that the row which is ready longest is late; 0 when none is. */
    async findDelay(): Promise<number> {
      const rows = await execute<{ seconds: number }>`
        select coalesce(extract(epoch from greatest(now() - min(due_at), '0')), 0)::float8 as seconds
        from ${table} where state = 'queued' and ${isReady} and ${isOfQueue}`
      return rows[0]?.seconds ?? 0
    },

    /** False when the process no longer has the row. */
    keep: (row: Held, leaseSeconds: number) => set(row, { leaseUntil: inSeconds(leaseSeconds) } as never),

    /** Locks the row until the transaction ends; false when the process no longer has it. */
    async lockHeld(row: Held): Promise<boolean> {
      const rows = await db
        .select({ id })
        .from(table as PgTable)
        .where(held(row))
        .for('update')
      return rows.length > 0
    },

    /** Queues it again. @param columns that change with it: `attempts` where this one does not count */
    requeue: (row: Held, seconds: number, columns: Partial<Row> = {}) =>
      set(row, { ...columns, state: 'queued', dueAt: inSeconds(seconds) } as never),
  }
}
