import type { DatasourceLogEntry } from '@millrace/contract/resources/datasource-log.ts'
import { datasourceImportLog } from '../../../database/tables/worker-datasource.ts'
import type { Listed, Range } from '../../../platform/paging.ts'
import { and, count, desc, eq, gte, lt } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { LogFilter } from '../datasource-log-store.ts'

/** The log of worker datasources. */
export function createImportLogStore(db: Pick<Queries, 'select'>) {
  return {
    /** The newest first. */
    async list(
      companyId: string,
      datasourceId: string,
      { kind, rule, from, to }: LogFilter,
      { limit, offset }: Range,
    ): Promise<Listed<DatasourceLogEntry>> {
      // Crawlers send events alone.
      if (kind === 'bot') return { rows: [], count: 0 }
      const where = and(
        eq(datasourceImportLog.companyId, companyId),
        eq(datasourceImportLog.datasourceId, datasourceId),
        kind && eq(datasourceImportLog.kind, kind),
        rule === undefined ? undefined : eq(datasourceImportLog.rule, rule),
        from && gte(datasourceImportLog.at, from),
        to && lt(datasourceImportLog.at, to),
      )
      const rows = await db
        .select()
        .from(datasourceImportLog)
        .where(where)
        .orderBy(desc(datasourceImportLog.at), desc(datasourceImportLog.id))
        .limit(limit)
        .offset(offset)
      const [counted] = await db.select({ count: count() }).from(datasourceImportLog).where(where)
      return {
        rows: rows.map(({ id, at, companyId: _, ...line }) => ({
          ...line,
          id: String(id),
          receivedAt: at.toISOString(),
        })),
        count: counted?.count ?? 0,
      }
    },
  }
}

export type ImportLogStore = ReturnType<typeof createImportLogStore>
