import { createExportFiles } from '../features/exports/export-files.ts'
import { createExportService } from '../features/exports/export-service.ts'
import { createExportWorker } from '../features/exports/export-worker.ts'
import { createExportedRowsStore } from '../features/exports/exported-rows-store.ts'
import { RightsLost, requireRights } from '../features/saved-queries/runs/require-rights.ts'
import { createSavedQueryStore } from '../features/saved-queries/saved-query-store.ts'
import type { Shared } from './shared.ts'

export function wireExports(shared: Shared) {
  const { relational, readVisibleWorkflows } = shared
  const files = createExportFiles(shared.exports)
  const seesAllWorkflows = async (companyId: string, readerId: string) =>
    (await readVisibleWorkflows({ companyId, readerId })) === 'all'

  async function whyRefused(companyId: string, userId: string): Promise<string | undefined> {
    try {
      await requireRights(createSavedQueryStore(relational.db), companyId, userId, 'who asked for it')
    } catch (error) {
      if (error instanceof RightsLost) return error.message
      throw error
    }
    return (await seesAllWorkflows(companyId, userId))
      ? undefined
      : 'who asked for it no longer sees the workflows of all teams'
  }

  return {
    exportFiles: files,
    exports: createExportService({ ...shared, files, seesAllWorkflows }),
    exportWork: createExportWorker({
      ...shared,
      files,
      whyRefused,
      rows: createExportedRowsStore({ ...shared, threads: shared.queryLimits.threads ?? (() => undefined) }),
    }),
  }
}
