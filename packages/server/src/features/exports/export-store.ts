import type {
  StatisticsExport,
  StatisticsExportFile,
  StatisticsExportManifest,
} from '@millrace/contract/resources/statistics-export.ts'
import { statisticsExportFiles, statisticsExports } from '../../database/tables/statistics-export.ts'
import { type Listed, type Page, pageOf } from '../../platform/paging.ts'
import { and, desc, eq, inArray, sql } from '../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import { createLedger } from '../../platform/work/ledger.ts'
import { fileNameOf, wholePart } from './export-files.ts'

export type StoredExport = typeof statisticsExports.$inferSelect
export type StoredFile = typeof statisticsExportFiles.$inferSelect

export type NewExport = Pick<StoredExport, 'id' | 'companyId' | 'requestedBy'> &
  Pick<StoredExport, 'table' | 'format' | 'query' | 'from' | 'until' | 'datasources' | 'everyHours'>

/** Whose exports are wanted: those of one user, or all of the company. */
export interface ExportViewer {
  readonly companyId: string
  readonly userId: string
  readonly seesAll: boolean
}

/** Days for which an export stays that is made once. */
const keptDays = 7

type Totals = Pick<StatisticsExport, 'days' | 'rows' | 'bytes'>

const totals = {
  days: sql<number>`(select count(*) from ${statisticsExportFiles} where export_id = ${statisticsExports.id})`,
  rows: sql<number>`(select coalesce(sum(rows), 0) from ${statisticsExportFiles} where export_id = ${statisticsExports.id})`,
  bytes: sql<number>`(select coalesce(sum(bytes), 0) from ${statisticsExportFiles} where export_id = ${statisticsExports.id})`,
}

const isoOf = (time: Date | null): string | null => time?.toISOString() ?? null

function expiryOf({ everyHours, state, finishedAt, startedAt, createdAt }: StoredExport): string | null {
  if (everyHours !== null || (state !== 'done' && state !== 'failed')) return null
  const end = finishedAt ?? startedAt ?? createdAt
  return new Date(end.getTime() + keptDays * 86_400_000).toISOString()
}

/** As the interface shows it. */
function presentExport(row: StoredExport, { days, rows, bytes }: Totals): StatisticsExport {
  const { id, table, format, query, from, until, datasources, everyHours, state, reason, requestedBy } = row
  const waits = state === 'queued' && everyHours !== null && (row.finishedAt !== null || reason !== null)
  return {
    ...{ id, table, format, query, from, until, datasources, everyHours },
    state: waits ? (reason === null ? 'done' : 'failed') : state,
    ...{ reason, requestedBy },
    createdAt: row.createdAt.toISOString(),
    finishedAt: isoOf(row.finishedAt),
    nextRunAt: waits ? row.dueAt.toISOString() : null,
    expiresAt: expiryOf(row),
    days: Number(days),
    rows: Number(rows),
    bytes: Number(bytes),
  }
}

const presentFile = (format: StoredExport['format'], file: StoredFile): StatisticsExportFile => ({
  name: fileNameOf(format, file.part),
  day: file.part === wholePart ? null : file.part,
  rows: file.rows,
  bytes: file.bytes,
  sha256: file.sha256,
  writtenAt: file.writtenAt.toISOString(),
})

/** The same with its files. */
export function manifestOf(row: StoredExport, files: readonly StoredFile[]): StatisticsExportManifest {
  const sum = (of: 'rows' | 'bytes') => files.reduce((all, file) => all + file[of], 0)
  return {
    ...presentExport(row, { days: files.length, rows: sum('rows'), bytes: sum('bytes') }),
    files: files.map((file) => presentFile(row.format, file)),
  }
}

const seenBy = ({ companyId, userId, seesAll }: ExportViewer) =>
  and(
    eq(statisticsExports.companyId, companyId),
    seesAll ? undefined : eq(statisticsExports.requestedBy, userId),
  )

const isOfQuery = sql`table_name = 'query'`

/** Rows of tables may take hours, for which those of queries do not wait. */
const queues = { tables: sql`not ${isOfQuery}`, queries: isOfQuery } as const

export type ExportQueue = keyof typeof queues

/** The ledger of exports with their files, or of one of its queues; given a transaction it works inside it. */
export function createExportStore(db: Queries, queue?: ExportQueue) {
  const isOfQueue = queue && queues[queue]
  const ledger = createLedger(db, statisticsExports, 'statistics_exports', undefined, isOfQueue)

  return {
    ...ledger,

    async insert(row: NewExport): Promise<StatisticsExport> {
      const [inserted] = await db.insert(statisticsExports).values(row).returning()
      return presentExport(inserted as StoredExport, { days: 0, rows: 0, bytes: 0 })
    },

    count: (companyId: string): Promise<number> =>
      db.$count(statisticsExports, eq(statisticsExports.companyId, companyId)),

    async list(viewer: ExportViewer, page: Page): Promise<Listed<StatisticsExport>> {
      const { rows, count } = await pageOf(
        db
          .select({ row: statisticsExports, totals })
          .from(statisticsExports)
          .where(seenBy(viewer))
          .orderBy(desc(statisticsExports.createdAt), desc(statisticsExports.id)),
        db.$count(statisticsExports, seenBy(viewer)),
        page,
      )
      return { rows: rows.map((each) => presentExport(each.row, each.totals)), count }
    },

    async find(viewer: ExportViewer, id: string): Promise<StoredExport | undefined> {
      const [row] = await db
        .select()
        .from(statisticsExports)
        .where(and(seenBy(viewer), eq(statisticsExports.id, id)))
      return row
    },

    /** In the order of their days. */
    listFiles: (exportId: string): Promise<StoredFile[]> =>
      db
        .select()
        .from(statisticsExportFiles)
        .where(eq(statisticsExportFiles.exportId, exportId))
        .orderBy(statisticsExportFiles.part),

    async insertFiles(files: readonly Omit<StoredFile, 'writtenAt'>[]): Promise<void> {
      await db.insert(statisticsExportFiles).values([...files])
    },

    async removeFiles(exportId: string, parts: readonly string[]): Promise<void> {
      await db
        .delete(statisticsExportFiles)
        .where(
          and(eq(statisticsExportFiles.exportId, exportId), inArray(statisticsExportFiles.part, [...parts])),
        )
    },

    /**
     * Ends a run; one that is made again waits for the next. False when the process no longer has it.
     * @param reason why it failed
     */
    end(row: StoredExport, reason: string | null): Promise<boolean> {
      const { everyHours } = row
      return ledger.set(row, {
        reason,
        ...(reason === null && { finishedAt: sql`now()` }),
        ...(everyHours === null
          ? { state: reason === null ? 'done' : 'failed' }
          : { state: 'queued', attempts: 0, dueAt: sql`now() + make_interval(hours => ${everyHours})` }),
      })
    },

    /** Whether it was not deleted. */
    isThere: async (id: string): Promise<boolean> =>
      (await db.$count(statisticsExports, eq(statisticsExports.id, id))) > 0,

    /** Takes it from the process that has it, so that nothing further is written. */
    async stop(id: string): Promise<void> {
      await db
        .update(statisticsExports)
        .set({ state: 'failed', attempts: sql`${statisticsExports.attempts} + 1` })
        .where(eq(statisticsExports.id, id))
    },

    async delete(id: string): Promise<void> {
      await db.delete(statisticsExports).where(eq(statisticsExports.id, id))
    },

    /** Exports that are made once, and were some days ago. */
    listExpired: (): Promise<Pick<StoredExport, 'id' | 'companyId'>[]> =>
      db
        .select({ id: statisticsExports.id, companyId: statisticsExports.companyId })
        .from(statisticsExports)
        .where(
          sql`every_hours is null and state in ('done', 'failed')
            and coalesce(finished_at, started_at, created_at) < now() - make_interval(days => ${keptDays})`,
        )
        .limit(100),
  }
}
