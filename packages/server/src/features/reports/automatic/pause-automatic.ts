import type { ServiceContext } from '../../../platform/service-context.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { Readers } from '../readers.ts'
import { pauseMail } from './report-mails.ts'
import { createReportSettingsStore, type StoredSettings } from './report-settings-store.ts'

/** Stops an automatic report until it is enabled again, says so in its settings, and notifies its owner. */
export type PauseAutomatic = (tx: Queries, settings: StoredSettings, reason: string) => Promise<void>

export interface PauseAutomaticDependencies
  extends Pick<ServiceContext, 'recordAudit' | 'enqueueMail' | 'publicUrl'> {
  readonly findReader: Readers['findReader']
}

export function createPauseAutomatic({
  recordAudit,
  enqueueMail,
  findReader,
  publicUrl,
}: PauseAutomaticDependencies): PauseAutomatic {
  return async (tx, { companyId, slug, id, ownerId }, reason) => {
    await createReportSettingsStore(tx).update(companyId, slug, { nextAt: null, pausedReason: reason })
    await recordAudit(tx, {
      companyId,
      action: 'schedule-pause',
      actor: { kind: 'platform' },
      target: { kind: 'report-settings', id, name: slug },
      details: { reason, ownerId },
    })
    const owner = ownerId === null ? undefined : await findReader(tx, companyId, ownerId)
    if (owner?.isActive)
      await enqueueMail(tx, companyId, pauseMail(owner, { slug, reason, publicUrl: publicUrl() }))
  }
}
