import type {
  AnalyticsSettings,
  AnalyticsSettingsUpdate,
} from '@millrace/contract/resources/analytics-settings.ts'
import { auditEventOf, type RecordAudit } from '../../../platform/audit.ts'
import { changesOf, definedOf } from '../../../platform/changes.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Relational } from '../../../platform/stores/relational.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import type { StatisticsSettings } from '../question.ts'
import { type AnalyticsFields, createAnalyticsSettingsStore } from './analytics-settings-store.ts'

export interface AnalyticsSettingsDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly recordAudit: RecordAudit
}

export type AnalyticsSettingsService = ReturnType<typeof createAnalyticsSettingsService>

/** How a company's statistics are computed. */
export function createAnalyticsSettingsService({ relational, recordAudit }: AnalyticsSettingsDependencies) {
  const store = createAnalyticsSettingsStore(relational.db)

  return {
    /** For queries. @throws DomainError `notFound` */
    async getForQuery(companyId: string): Promise<StatisticsSettings> {
      return found(companyId, await store.findForQuery(companyId))
    },

    /** @throws DomainError `notFound` */
    async read({ companyId }: Principal): Promise<AnalyticsSettings> {
      return toSettings(found(companyId, await store.find(companyId)))
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
        const { name, ...present } = found(companyId, await within.findForUpdate(companyId))
        const changes = changesOf(present, fields)
        if (changes.changed.length === 0) return toSettings(present)
        await within.update(companyId, definedOf(fields))
        const target = { kind: 'company', id: companyId, name }
        await recordAudit(tx, auditEventOf(caller, 'statistics-settings-update', target, { ...changes }))
        return toSettings({ ...present, ...definedOf(fields) })
      })
    },
  }
}

function found<T>(companyId: string, settings: T | undefined): T {
  if (settings === undefined) throw new DomainError('notFound', { id: companyId })
  return settings
}

function toSettings(stored: AnalyticsFields): AnalyticsSettings {
  const { attributionModel: model, clickWindowHours, displayWindowHours } = stored
  const { exactCounts, countries, showsOtherTeams } = stored
  const windows = { clickHours: clickWindowHours, displayHours: displayWindowHours }
  return { attribution: { model, windows }, exactCounts, countries, showsOtherTeams }
}
