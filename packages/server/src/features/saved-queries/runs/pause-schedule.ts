import type { ServiceContext } from '../../../platform/service-context.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import { createSavedQueryStore, type StoredSavedQuery } from '../saved-query-store.ts'
import { pauseMail } from './run-mails.ts'

/** Stops a schedule until an enabled one is sent, says so on the saved query, and notifies its owner. */
export type PauseSchedule = (tx: Queries, savedQuery: StoredSavedQuery, reason: string) => Promise<void>

export type PauseDependencies = Pick<ServiceContext, 'recordAudit' | 'enqueueMail' | 'publicUrl'>

/** The saved query is locked by the caller's transaction. */
export function createPauseSchedule({
  recordAudit,
  enqueueMail,
  publicUrl,
}: PauseDependencies): PauseSchedule {
  return async (tx, { id, companyId, ownerId, name }, reason) => {
    const store = createSavedQueryStore(tx)
    await store.note(companyId, id, { nextRunAt: null, pausedReason: reason, failures: 0 })
    await recordAudit(tx, {
      companyId,
      action: 'schedule-pause',
      actor: { kind: 'platform' },
      target: { kind: 'saved-query', id, name },
      details: { reason, ownerId },
    })
    const owner = ownerId === null ? undefined : await store.findRunner(companyId, ownerId)
    if (!owner?.isActive) return
    await enqueueMail(tx, companyId, pauseMail(owner, { id, name, reason, publicUrl: publicUrl() }))
  }
}
