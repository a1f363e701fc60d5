import type { Queries } from '../../platform/stores/relational.ts'
import { failureOf } from './generations/generation-failure.ts'
import { createGenerationStore } from './generations/generation-store.ts'
import { createReportStore } from './report-store.ts'

/** Takes a report out of the list, and gives up what is under way of it: nothing more is added to it or sent. */
export async function archiveReport(tx: Queries, companyId: string, id: string): Promise<void> {
  const reports = createReportStore(tx)
  const generations = createGenerationStore(tx)
  await reports.archive(companyId, id)
  const cancelled = await generations.cancel(companyId, id, { ...failureOf('archived'), evidence: [] })
  if (cancelled === undefined) return
  await generations.deleteEvidence(cancelled)
  await reports.update(companyId, id, { failedGenerationId: cancelled })
}
