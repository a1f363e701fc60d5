import { assertMayChange } from '../../platform/statistics-rights.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { Principal } from '../identity/sessions/principal.ts'
import { createReportSettingsStore } from './automatic/report-settings-store.ts'
import { failureOf } from './generations/generation-failure.ts'
import { createGenerationStore } from './generations/generation-store.ts'
import { createReportStore, type StoredReport } from './report-store.ts'

/**
 * A report that leaves the list leaves it for everyone. An automatic one is of who has turned its analysis on.
 * @throws {DomainError} `forbidden`
 */
export async function requireOwnReport(
  tx: Queries,
  principal: Principal,
  { companyId, createdBy, slug }: StoredReport,
): Promise<void> {
  const settings = slug === null ? undefined : await createReportSettingsStore(tx).find(companyId, slug)
  assertMayChange(principal, [createdBy, settings?.ownerId ?? null])
}

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
