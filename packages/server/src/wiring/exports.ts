import type { Query } from '@millrace/contract/resources/query.ts'
import { sessionsWithin } from '../features/analytics/bulk-rows.ts'
import type { StatisticsService } from '../features/analytics/statistics-service.ts'
import { createExportFiles, wholePart } from '../features/exports/export-files.ts'
import { createExportService } from '../features/exports/export-service.ts'
import type { StoredExport } from '../features/exports/export-store.ts'
import { createExportWorker } from '../features/exports/export-worker.ts'
import { createExportedRowsStore, type ExportedRows } from '../features/exports/exported-rows-store.ts'
import { RightsLost, requireRights } from '../features/saved-queries/runs/require-rights.ts'
import { createSavedQueryStore } from '../features/saved-queries/saved-query-store.ts'
import { newId } from '../platform/ids.ts'
import type { Shared } from './shared.ts'

export function wireExports(shared: Shared, statistics: Pick<StatisticsService, 'openRows' | 'validate'>) {
  const { relational, readVisibleWorkflows } = shared
  const files = createExportFiles(shared.exports)
  const seesAllWorkflows = async (companyId: string, readerId: string) =>
    (await readVisibleWorkflows({ companyId, readerId })) === 'all'

  async function whyRefused({ companyId, requestedBy, table }: StoredExport): Promise<string | undefined> {
    try {
      await requireRights(createSavedQueryStore(relational.db), companyId, requestedBy, 'who asked for it')
    } catch (error) {
      if (error instanceof RightsLost) return error.message
      throw error
    }
    // A query is answered with what its user sees.
    return table === 'query' || (await seesAllWorkflows(companyId, requestedBy))
      ? undefined
      : 'who asked for it no longer sees the workflows of all teams'
  }

  const rowsOfTable = createExportedRowsStore({
    ...shared,
    sessionsWithin,
    threads: shared.queryLimits.threads ?? (() => undefined),
  })

  /** A query is asked again at every run: nothing says sooner whether its rows have changed. */
  function rowsOfQuery(query: Query, asked: StoredExport, instant: number): ExportedRows {
    const { companyId, requestedBy: readerId, format } = asked
    return {
      listParts: async () => [{ part: wholePart, fingerprint: newId() }],
      stream: (_part, signal) =>
        statistics.openRows({ companyId, readerId, query, format, at: instant, signal }),
    }
  }

  return {
    exportFiles: files,
    exports: createExportService({
      ...{ ...shared, files, seesAllWorkflows },
      validateQuery: (query, reader) => statistics.validate(query, reader, true),
    }),
    exportWorks: createExportWorker({
      ...shared,
      files,
      whyRefused,
      rowsOf: (asked, instant) =>
        asked.query ? rowsOfQuery(asked.query, asked, instant) : rowsOfTable(asked, instant),
    }),
  }
}
