import { savedQueryRuns } from '../../database/tables/saved-query.ts'
import { statisticsExportFiles, statisticsExports } from '../../database/tables/statistics-export.ts'
import { storageHolds } from '../../database/tables/storage-hold.ts'
import { datasourceVersions, workerDatasources } from '../../database/tables/worker-datasource.ts'
import { and, eq, sql } from '../../platform/stores/postgres/drizzle.ts'
import { type Queries, sqlOn } from '../../platform/stores/relational.ts'

/** What is stored and will be, by company: a deletion takes its rows out with its own transaction. */
const stored = sql`(
  select company_id, (content->>'bytes')::bigint as bytes from ${workerDatasources} where content is not null
  union all select company_id, row_bytes from ${datasourceVersions}
  union all select company_id, (result->>'bytes')::bigint
    from ${savedQueryRuns}, json_array_elements(results) as result where results_until is not null
  union all select asked.company_id, written.bytes
    from ${statisticsExportFiles} as written join ${statisticsExports} as asked on asked.id = written.export_id
  union all select company_id, bytes from ${storageHolds} where lease_until > now()
) as stored`

/** Bytes of companies and room that is held for more; given a transaction it works inside it. */
export function createStorageStore(db: Queries) {
  const execute = sqlOn(db)

  const hold = (id: string) => eq(storageHolds.id, id)
  const until = (seconds: number) => sql`now() + make_interval(secs => ${seconds})`

  return {
    /** Nobody else of the company adds or settles a hold until the transaction ends. */
    async lock(companyId: string): Promise<void> {
      await execute`select pg_advisory_xact_lock(hashtextextended(${`storage of ${companyId}`}, 0))`
    },

    /** What a company stores, with the room that is held. */
    async countBytes(companyId: string): Promise<number> {
      const rows = await execute<{ bytes: string }>`
        select coalesce(sum(bytes), 0) as bytes from ${stored} where company_id = ${companyId}`
      return Number(rows[0]?.bytes)
    },

    /** What all companies store, and the one that stores most. */
    async measure(): Promise<{ readonly total: number; readonly max: number }> {
      const rows = await execute<{ total: string; max: string }>`
        select coalesce(sum(bytes), 0) as total, coalesce(max(bytes), 0) as max
        from (select sum(bytes) as bytes from ${stored} group by company_id) as companies`
      return { total: Number(rows[0]?.total), max: Number(rows[0]?.max) }
    },

    /** Makes a hold, or changes what it holds. */
    async put(id: string, companyId: string, bytes: number, leaseSeconds: number): Promise<void> {
      const leaseUntil = until(leaseSeconds)
      await db
        .insert(storageHolds)
        .values({ id, companyId, bytes, leaseUntil })
        .onConflictDoUpdate({ target: storageHolds.id, set: { bytes, leaseUntil } })
    },

    /** False when it has ended. */
    async keep(id: string, leaseSeconds: number): Promise<boolean> {
      const kept = await db
        .update(storageHolds)
        .set({ leaseUntil: until(leaseSeconds) })
        .where(hold(id))
        .returning({ id: storageHolds.id })
      return kept.length > 0
    },

    /** Of a company those of processes that have ended go too. */
    async remove(id: string, companyId: string): Promise<void> {
      await db
        .delete(storageHolds)
        .where(
          and(
            eq(storageHolds.companyId, companyId),
            sql`(${hold(id)} or ${storageHolds.leaseUntil} < now() - interval '1 hour')`,
          ),
        )
    },
  }
}
