import type { Fault } from '@millrace/contract/failure-data.ts'
import { type GuidedAnalysisName, guidedAnalyses } from '@millrace/contract/resources/report.ts'
import type {
  AutomaticAnalysisSettings,
  ReportSettings,
  ReportSettingsUpdate,
} from '@millrace/contract/resources/report-settings.ts'
import { auditEventOf } from '../../../platform/audit.ts'
import { changesOf, definedOf } from '../../../platform/changes.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Language } from '../../../platform/i18n/language.ts'
import { newId } from '../../../platform/ids.ts'
import { refuseFaults } from '../../../platform/invalid.ts'
import { faultsOfRecipients, parseEmailAddress } from '../../../platform/mail/email-address.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { Caller, Principal } from '../../identity/sessions/principal.ts'
import type { TimeRules } from '../../questions/time-rules.ts'
import { lastPeriod } from '../periods/periods.ts'
import type { Readers } from '../readers.ts'
import { createReportStore } from '../report-store.ts'
import { defaultPrompt } from './prompts.ts'
import { delayOf } from './report-planner.ts'
import {
  createReportSettingsStore,
  type SettingsChange,
  type StoredSettings,
} from './report-settings-store.ts'

export interface ReportSettingsServiceDependencies
  extends Pick<ServiceContext, 'relational' | 'recordAudit' | 'clock'> {
  readonly readSettings: (companyId: string) => Promise<{ readonly timezone: string }>
  readonly listReaders: Readers['listReaders']
  readonly time: TimeRules
}

type Wanted = NonNullable<ReportSettingsUpdate['analyses'][GuidedAnalysisName]>

/** Entries of the audit log outlive users. */
const personal: ReadonlySet<string> = new Set(['recipients'])

/** Which analyses are made by themselves, of which periods and for whom. */
export function createReportSettingsService(dependencies: ReportSettingsServiceDependencies) {
  const { relational, recordAudit, readSettings, listReaders, time, clock } = dependencies

  async function readAll(db: Queries, companyId: string): Promise<ReportSettings> {
    const [rows, language] = await Promise.all([
      createReportSettingsStore(db).list(companyId),
      createReportStore(db).findLanguage(companyId),
    ])
    const of = (slug: GuidedAnalysisName) =>
      toSettings(
        slug,
        rows.find((row) => row.slug === slug),
        language,
      )
    return {
      analyses: {
        impact: of('impact'),
        revenue: of('revenue'),
        engagement: of('engagement'),
        retention: of('retention'),
      },
    }
  }

  /** When the next report is made, where something about that has changed. */
  function planOf(
    present: StoredSettings,
    next: Pick<StoredSettings, 'enabled' | 'cadence'>,
    isAgain: boolean,
    timezone: string,
  ): SettingsChange {
    if (!next.enabled) return { nextAt: null, pausedReason: null }
    const isNew = !present.enabled || present.cadence !== next.cadence
    if (!isNew && !(isAgain && present.nextAt === null)) return {}
    const now = clock.now()
    const { nextEnd } = lastPeriod(next.cadence, time.openZone(timezone), now, time)
    return { nextAt: new Date(nextEnd + delayOf(present)), plannedTo: new Date(now), pausedReason: null }
  }

  /** @returns what changed, by name, or nothing; adds to the faults */
  async function changeOne(
    tx: Queries,
    { companyId, userId }: Principal,
    slug: GuidedAnalysisName,
    wanted: Wanted,
    { timezone, faults }: { timezone: string; faults: Fault[] },
  ) {
    const { enabled, cadence, locale, prompt } = wanted
    const recipients = wanted.recipients?.map((each) => parseEmailAddress(each) ?? each)
    if (recipients) {
      const readers = await listReaders(tx, companyId, recipients)
      faults.push(...faultsOfRecipients(`analyses.${slug}.recipients`, recipients, readers))
    }
    const store = createReportSettingsStore(tx)
    const present = await store.lock({ companyId, slug, id: newId() })
    const fields = { enabled, cadence, recipients, locale, prompt: prompt?.trim() === '' ? null : prompt }
    const changes = changesOf(present, fields, personal)
    const next = { ...present, ...definedOf(fields) }
    const plan = planOf(present, next, enabled === true, timezone)
    const isStarted = plan.nextAt instanceof Date
    if (changes.changed.length === 0 && !isStarted) return undefined
    await store.update(companyId, slug, {
      ...definedOf(fields),
      ...plan,
      revision: present.revision + 1,
      // The user who changes what is sent answers for it.
      ...(next.enabled && { ownerId: userId }),
      updatedAt: new Date(clock.now()),
    })
    return { needsRights: next.enabled, ...changes }
  }

  return {
    read({ companyId }: Principal): Promise<ReportSettings> {
      return readAll(relational.db, companyId)
    },

    /**
     * All of what is given or nothing.
     * @throws DomainError `validation` or `forbidden`
     */
    async update(caller: Caller, { analyses }: ReportSettingsUpdate): Promise<ReportSettings> {
      const { principal } = caller
      const { companyId } = principal
      const { timezone } = await readSettings(companyId)
      return relational.transaction(async (tx) => {
        const faults: Fault[] = []
        const changesOfAnalyses: Record<string, unknown> = {}
        for (const slug of guidedAnalyses) {
          const wanted = analyses[slug]
          if (!wanted) continue
          const changed = await changeOne(tx, principal, slug, wanted, { timezone, faults })
          if (!changed) continue
          const { needsRights, ...changes } = changed
          if (needsRights) requireSending(principal)
          changesOfAnalyses[slug] = changes
        }
        refuseFaults(faults)
        if (Object.keys(changesOfAnalyses).length > 0) {
          const target = { kind: 'company', id: companyId }
          await recordAudit(tx, auditEventOf(caller, 'report-settings-update', target, changesOfAnalyses))
        }
        return readAll(tx, companyId)
      })
    },
  }
}

/** Mails leave the product with the data, which a role can withhold (docs/interface.md, Who may call). */
function requireSending(principal: Principal): void {
  for (const action of ['access', 'export'] as const) {
    if (principal.can('statistics', action)) continue
    const permission = { resource: 'statistics', action } as const
    throw new DomainError('forbidden', permission, {
      message: `Automatic reports need the permission Statistics: ${action}`,
    })
  }
}

function toSettings(
  slug: GuidedAnalysisName,
  row: StoredSettings | undefined,
  company: Language,
): AutomaticAnalysisSettings {
  const { enabled, cadence, recipients, locale, prompt, revision } = row ?? unset
  return {
    ...{ enabled, cadence, recipients, locale, prompt, revision },
    defaultPrompt: defaultPrompt(slug, locale ?? company),
    ...(row && {
      settingsId: row.id,
      ...(row.ownerId !== null && { ownerId: row.ownerId }),
      ...(row.nextAt !== null && { nextAt: row.nextAt.toISOString() }),
      ...(row.pausedReason !== null && { pausedReason: row.pausedReason }),
      updatedAt: row.updatedAt.toISOString(),
    }),
  }
}

/** What holds until a company has set an analysis. */
const unset: Omit<AutomaticAnalysisSettings, 'defaultPrompt'> = {
  enabled: false,
  cadence: 'monthly',
  recipients: [],
  locale: null,
  prompt: null,
  revision: 0,
}
