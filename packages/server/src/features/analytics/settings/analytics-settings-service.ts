import type {
  AnalyticsSettings,
  AnalyticsSettingsUpdate,
} from '@millrace/contract/resources/analytics-settings.ts'
import { changesOf, definedOf } from '../../../platform/changes.ts'
import { found, type ResourceContext, recorderOf } from '../../../platform/resources/resource.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import type { StatisticsSettings } from '../question.ts'
import { type AnalyticsFields, createAnalyticsSettingsStore } from './analytics-settings-store.ts'

export type AnalyticsSettingsService = ReturnType<typeof createAnalyticsSettingsService>

/** How a company's statistics are computed. */
export function createAnalyticsSettingsService({
  relational,
  recordAudit,
}: Omit<ResourceContext, 'lockCompany'>) {
  const record = recorderOf('company', recordAudit)
  const store = createAnalyticsSettingsStore(relational.db)

  return {
    /** For queries. @throws DomainError `notFound` */
    async getForQuery(companyId: string): Promise<StatisticsSettings> {
      return found(await store.findForQuery(companyId), 'notFound', companyId)
    },

    /** @throws DomainError `notFound` */
    async read({ companyId }: Principal): Promise<AnalyticsSettings> {
      return toSettings(found(await store.find(companyId), 'notFound', companyId))
    },

    /** @throws DomainError `notFound` */
    async update(caller: Caller, wanted: AnalyticsSettingsUpdate): Promise<AnalyticsSettings> {
      const { companyId } = caller.principal
      const { attribution, exactCounts, countries, showsOtherTeams } = wanted
      const fields = {
        attributionModel: attribution?.model,
        clickWindowHours: attribution?.windows?.clickHours,
        displayWindowHours: attribution?.windows?.displayHours,
        exactCounts,
        countries,
        showsOtherTeams,
      }
      return relational.transaction(async (tx) => {
        const within = createAnalyticsSettingsStore(tx)
        const { name, ...present } = found(await within.findForUpdate(companyId), 'notFound', companyId)
        const changes = changesOf(present, fields)
        if (changes.changed.length === 0) return toSettings(present)
        await within.update(companyId, definedOf(fields))
        await record(tx, caller, 'statistics-settings-update', { id: companyId, name }, { ...changes })
        return toSettings({ ...present, ...definedOf(fields) })
      })
    },
  }
}

function toSettings(stored: AnalyticsFields): AnalyticsSettings {
  const { attributionModel: model, clickWindowHours, displayWindowHours } = stored
  const { exactCounts, countries, showsOtherTeams } = stored
  const windows = { clickHours: clickWindowHours, displayHours: displayWindowHours }
  return { attribution: { model, windows }, exactCounts, countries, showsOtherTeams }
}
