import type { Logger } from '../../../../platform/logger.ts'
import type { Queries, Relational } from '../../../../platform/stores/relational.ts'
import { createCompanyStore } from './company-store.ts'

export interface CompanyRemovalDependencies {
  readonly relational: Relational
  readonly logger: Pick<Logger, 'info'>
  /** Asks for the events of all its datasources to be removed for good, once. */
  readonly requestPurges: (tx: Queries, companyId: string) => Promise<void>
  /** Whether some of them may still be stored. */
  readonly hasOpenPurges: (companyId: string) => Promise<boolean>
  /** Removes files that no sweep would find. */
  readonly removeFiles: (companyId: string) => Promise<void>
}

/**
 * Removes companies that were closed 7 days ago: their events first, which another process may be doing, then their files,
 * and their rows at the end, so that whatever interrupts it the next turn takes it up.
 */
export function createCompanyRemoval({
  relational,
  logger,
  requestPurges,
  hasOpenPurges,
  removeFiles,
}: CompanyRemovalDependencies) {
  const store = createCompanyStore(relational.db)
  return {
    async removeDue(signal?: AbortSignal): Promise<void> {
      for (const companyId of await store.listToRemove()) {
        if (signal?.aborted) return
        await relational.transaction((tx) => requestPurges(tx, companyId))
        if (await hasOpenPurges(companyId)) continue
        await removeFiles(companyId)
        if (await store.removeClosed(companyId)) logger.info({ companyId }, 'a closed company is removed')
      }
    },
  }
}
