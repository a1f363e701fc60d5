import { datasourceImportLog, datasourceImports } from '../../../database/tables/worker-datasource.ts'
import { createLeasedRows, type Held } from '../../../platform/jobs/leased-rows.ts'
import type { Range } from '../../../platform/paging.ts'
import { and, count, desc, eq, inArray, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { ReadCounts } from './process-messages.ts'

export type StoredImport = typeof datasourceImports.$inferSelect
export type NewImport = Pick<StoredImport, 'id' | 'companyId' | 'datasourceId' | 'trigger'>
export type LogLine = Pick<
  typeof datasourceImportLog.$inferInsert,
  'companyId' | 'datasourceId' | 'kind' | 'rule' | 'path' | 'sample' | 'count'
>

/** While a datasource is paused, its import waits. */
const isReady = sql`not exists (
  select 1 from datasources where datasources.id = datasource_id and datasources.status = 'paused')`

/** Rows of one statement. */
const sweptAtOnce = 1_000

/** The ledger of imports, which is also the queue that they are taken from; given a transaction it works inside it. */
export function createImportStore(db: Queries) {
  const leased = createLeasedRows(db, datasourceImports, 'datasource_imports', isReady)
  const held = ({ id, attempts }: Held) =>
    and(
      eq(datasourceImports.id, id),
      eq(datasourceImports.attempts, attempts),
      eq(datasourceImports.state, 'running'),
    )

  return {
    keep: leased.keep,
    lockHeld: leased.lockHeld,
    findDelay: leased.findDelay,
    requeue: leased.requeue,

    /** Undefined where one of the datasource is under way. */
    async insert(wanted: NewImport): Promise<StoredImport | undefined> {
      const [row] = await db.insert(datasourceImports).values(wanted).onConflictDoNothing().returning()
      return row
    },

    async isUnderWay(datasourceId: string): Promise<boolean> {
      const rows = await db
        .select({ id: datasourceImports.id })
        .from(datasourceImports)
        .where(
          and(
            eq(datasourceImports.datasourceId, datasourceId),
            inArray(datasourceImports.state, ['queued', 'running']),
          ),
        )
      return rows.length > 0
    },

    /** The newest first. */
    async list(companyId: string, datasourceId: string, { limit, offset }: Range): Promise<StoredImport[]> {
      return db
        .select()
        .from(datasourceImports)
        .where(
          and(eq(datasourceImports.companyId, companyId), eq(datasourceImports.datasourceId, datasourceId)),
        )
        .orderBy(desc(datasourceImports.createdAt), desc(datasourceImports.id))
        .limit(limit)
        .offset(offset)
    },

    async count(companyId: string, datasourceId: string): Promise<number> {
      const [row] = await db
        .select({ count: count() })
        .from(datasourceImports)
        .where(
          and(eq(datasourceImports.companyId, companyId), eq(datasourceImports.datasourceId, datasourceId)),
        )
      return row?.count ?? 0
    },

    /** As `take` of `platform/jobs/leased-rows.ts`. */
    async take(leaseSeconds: number, perCompany: number): Promise<StoredImport | undefined> {
      const id = await leased.take(leaseSeconds, perCompany)
      if (id === undefined) return undefined
      const [row] = await db.select().from(datasourceImports).where(eq(datasourceImports.id, id))
      return row
    },

    async note(run: Held, { read, stored, refused, bytes }: ReadCounts, bytesTotal: number): Promise<void> {
      await db
        .update(datasourceImports)
        .set({ rowsRead: read, rowsStored: stored, rowsRefused: refused, bytes, bytesTotal })
        .where(held(run))
    },

    async finish(run: Held, state: 'done' | 'unchanged', counts?: ReadCounts): Promise<void> {
      await db
        .update(datasourceImports)
        .set({
          state,
          // The transaction began before the first row.
          endedAt: sql`clock_timestamp()`,
          ...(counts && {
            rowsRead: counts.read,
            rowsStored: counts.stored,
            rowsRefused: counts.refused,
            bytes: counts.bytes,
            bytesTotal: counts.bytes,
          }),
        })
        .where(held(run))
    },

    /** False when the process no longer has the import. */
    async fail(run: Held, fault: NonNullable<StoredImport['fault']>): Promise<boolean> {
      const failed = await db
        .update(datasourceImports)
        .set({ state: 'failed', endedAt: sql`now()`, fault })
        .where(held(run))
        .returning({ id: datasourceImports.id })
      return failed.length > 0
    },

    async insertLog(lines: readonly LogLine[]): Promise<void> {
      if (lines.length === 0) return
      const at = sql`clock_timestamp()`
      await db.insert(datasourceImportLog).values(lines.map((line) => ({ ...line, at })))
    },

    /** @returns how many, at most a thousand of each */
    async sweep(importDays: number, logDays: number): Promise<number> {
      const imports = await db.execute(
        sql`delete from ${datasourceImports} where id in (
          select id from ${datasourceImports} where ended_at < now() - make_interval(days => ${importDays})
          limit ${sweptAtOnce})`,
      )
      const lines = await db.execute(
        sql`delete from ${datasourceImportLog} where id in (
          select id from ${datasourceImportLog} where at < now() - make_interval(days => ${logDays})
          limit ${sweptAtOnce})`,
      )
      return (imports.rowCount ?? 0) + (lines.rowCount ?? 0)
    },
  }
}
