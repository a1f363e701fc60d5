import type { Queries } from '../../platform/stores/relational.ts'
import { createReportStore } from './report-store.ts'

/** Of one company, archived ones included. */
export const maxReports = 10_000

/**
 * Makes room for one more report: where the company has the most that are possible, the one that was archived first is
 * deleted. @returns false where none is archived
 */
export async function makeRoom(tx: Queries, companyId: string): Promise<boolean> {
  const store = createReportStore(tx)
  await store.lockRoom(companyId)
  if ((await store.count(companyId, { includeArchived: true })) < maxReports) return true
  return store.deleteOldestArchived(companyId)
}
