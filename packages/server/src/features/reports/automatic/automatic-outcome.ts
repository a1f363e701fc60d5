import type { ServiceContext } from '../../../platform/service-context.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import { archiveReport } from '../archive-report.ts'
import type { AutomaticOutcome } from '../generations/generation-worker.ts'
import { lackOf, type Reader, type Readers, sendingRights } from '../readers.ts'
import type { StoredReport } from '../report-store.ts'
import type { PauseAutomatic } from './pause-automatic.ts'
import { failureMail, reportMail } from './report-mails.ts'
import { createReportSettingsStore, type StoredSettings } from './report-settings-store.ts'

export interface AutomaticOutcomeDependencies
  extends Readers,
    Pick<ServiceContext, 'enqueueMail' | 'publicUrl' | 'log'> {
  readonly pause: PauseAutomatic
}

/** Sends automatic reports once they are complete, with the rights and recipients of that moment. */
export function createAutomaticOutcome(dependencies: AutomaticOutcomeDependencies): AutomaticOutcome {
  const { enqueueMail, pause, publicUrl, findReader, listReaders, log } = dependencies

  async function ownerOf(
    db: Queries,
    { companyId, slug }: StoredReport,
  ): Promise<{ settings: StoredSettings | undefined; owner: Reader | undefined; lack: string | undefined }> {
    const settings = slug === null ? undefined : await createReportSettingsStore(db).find(companyId, slug)
    const ownerId = settings?.ownerId ?? null
    const owner = ownerId === null ? undefined : await findReader(db, companyId, ownerId)
    const lack = lackOf(owner, sendingRights)
    return { settings, owner, lack: lack && `its owner ${lack}` }
  }

  return {
    async refusal(db, report) {
      return (await ownerOf(db, report)).lack
    },

    async onPublished(tx, report, { sections }) {
      const { companyId, supersedesId } = report
      if (supersedesId !== null) await archiveReport(tx, companyId, supersedesId)
      const { settings, owner, lack } = await ownerOf(tx, report)
      if (!settings?.enabled || settings.recipients.length === 0) return
      if (!owner || lack !== undefined) return pause(tx, settings, lack ?? '')
      const readers = await listReaders(tx, companyId, settings.recipients)
      for (const reader of readers) {
        await enqueueMail(
          tx,
          companyId,
          reportMail(reader, report, { sections, owner: owner.email, publicUrl: publicUrl() }),
        )
      }
      const left = settings.recipients.length - readers.length
      if (left > 0) log.warn({ reportId: report.id, left }, 'recipients of a report may no longer get it')
    },

    async onFailed(tx, report, { code, message }) {
      const { settings, owner, lack } = await ownerOf(tx, report)
      if (!settings) return
      if (code === 'rights-lost' && lack !== undefined && settings.nextAt !== null) {
        return pause(tx, settings, lack)
      }
      if (!settings.enabled || !owner?.isActive) return
      await enqueueMail(
        tx,
        report.companyId,
        failureMail(owner, report, { reason: message, publicUrl: publicUrl() }),
      )
    },
  }
}
