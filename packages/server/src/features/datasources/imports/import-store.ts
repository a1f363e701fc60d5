import { datasourceImportLog, datasourceImports } from '../../../database/tables/worker-datasource.ts'
import type { Range } from '../../../platform/paging.ts'
import { and, count, desc, eq, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import { createLedger, type Held } from '../../../platform/work/ledger.ts'
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

const columnsOf = ({ read, stored, refused, bytes }: ReadCounts) => ({
  rowsRead: read,
  rowsStored: stored,
  rowsRefused: refused,
  bytes,
  bytesTotal: bytes,
})

/** The ledger of imports, which is also the queue that they are taken from; given a transaction it works inside it. */
export function createImportStore(db: Queries) {
  const ledger = createLedger(db, datasourceImports, 'datasource_imports', isReady)

  return {
    ...ledger,

    /** Undefined where one of the datasource is under way. */
    async insert(wanted: NewImport): Promise<StoredImport | undefined> {
      const [row] = await db.insert(datasourceImports).values(wanted).onConflictDoNothing().returning()
      return row
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

    async note(run: Held, counts: ReadCounts, bytesTotal: number): Promise<void> {
      await ledger.set(run, { ...columnsOf(counts), bytesTotal })
    },

    async finish(run: Held, state: 'done' | 'unchanged', counts?: ReadCounts): Promise<void> {
      // The transaction began before the first row.
      const endedAt = sql`clock_timestamp()`
      await ledger.set(run, { state, endedAt, ...(counts && columnsOf(counts)) })
    },

    /** False when the process no longer has the import. */
    fail: (run: Held, fault: NonNullable<StoredImport['fault']>): Promise<boolean> =>
      ledger.set(run, { state: 'failed', endedAt: sql`now()`, fault }),

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
