import { createHash } from 'node:crypto'
import { newId } from '../../../platform/ids.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import type { Work } from '../../../platform/work/background.ts'
import type { Interval, TimeRules } from '../../questions/time-rules.ts'
import { createGenerationStore } from '../generations/generation-store.ts'
import { makeRoom } from '../max-reports.ts'
import { comparisonsOf, keyOf, lastPeriod, toComparisonWindows } from '../periods/periods.ts'
import { lackOf, type Readers, sendingRights } from '../readers.ts'
import { createReportStore, type NewReport } from '../report-store.ts'
import type { PauseAutomatic } from './pause-automatic.ts'
import { defaultPrompt } from './prompts.ts'
import { createReportSettingsStore, type StoredSettings } from './report-settings-store.ts'

export interface ReportPlannerDependencies extends Pick<ServiceContext, 'relational' | 'log'> {
  readonly readSettings: (companyId: string) => Promise<{ readonly timezone: string }>
  readonly time: TimeRules
  readonly findReader: Readers['findReader']
  readonly pause: PauseAutomatic
}

/** Settings of one transaction. */
const batch = 50
/** After the end of a period: events that were collected before may arrive later. */
const graceMs = 3 * 3_600_000
/** Reports of the same end begin spread over so many milliseconds, each always at the same place. */
const spreadMs = 1_800_000

/** Milliseconds after the end of a period at which its report is made. */
export const delayOf = ({ id }: Pick<StoredSettings, 'id'>): number =>
  graceMs + (createHash('sha256').update(id).digest().readUInt32BE() % spreadMs)

/** The columns of an automatic report of a period, by the settings as they are now. */
export async function automaticReport(
  tx: Queries,
  { companyId, slug, id: settingsId, cadence, locale, prompt, revision }: StoredSettings,
  { period, timezone, time }: { period: Interval; timezone: string; time: TimeRules },
): Promise<NewReport & { readonly prompt: string }> {
  const zone = time.openZone(timezone)
  const language = locale ?? (await createReportStore(tx).findLanguage(companyId))
  const { templateKey, version, text } = defaultPrompt(slug, language)
  const { previousPeriod } = comparisonsOf(period, zone, time)
  const promptSnapshot = {
    templateKey,
    defaultVersion: version,
    settingsRevision: revision,
    locale: language,
    source: prompt === null ? ('platform-default' as const) : ('company-custom' as const),
    text: prompt ?? text,
  }
  return {
    ...{ companyId, slug, cadence, settingsId, timezone, promptSnapshot },
    id: newId(),
    createdBy: 'platform',
    requestedType: 'platform',
    originType: 'free-form',
    guidedAnalysis: slug,
    locale: language,
    periodKey: keyOf(cadence, zone, period.from),
    periodStart: new Date(period.from),
    periodEnd: new Date(period.to),
    // Whether events reach back to the year before is known once the report is made.
    comparisonWindows: toComparisonWindows({ previousPeriod }),
    prompt: promptSnapshot.text,
  }
}

/**
 * Turns periods that have ended into reports. The settings are locked meanwhile and move on in the same transaction,
 * and a period has one report that stands, so each is made once, however many processes look.
 */
export function createReportPlanner(dependencies: ReportPlannerDependencies) {
  const { relational, readSettings, time, findReader, pause, log } = dependencies

  /** Of the periods that ended during a stop the last one alone is made up for. */
  function periodOf({ cadence }: StoredSettings, timezone: string, at: number) {
    try {
      return lastPeriod(cadence, time.openZone(timezone), at, time)
    } catch (error) {
      // It must not hold up the others of the transaction.
      log.error({ timezone, err: error }, 'an automatic report cannot be planned')
      return undefined
    }
  }

  async function planOne(tx: Queries, due: StoredSettings, now: number): Promise<void> {
    const { companyId, slug, ownerId, plannedTo } = due
    const owner = ownerId === null ? undefined : await findReader(tx, companyId, ownerId)
    const lack = lackOf(owner, sendingRights)
    if (lack !== undefined) return pause(tx, due, `its owner ${lack}`)
    const { timezone } = await readSettings(companyId)
    const delay = delayOf(due)
    const last = periodOf(due, timezone, now - delay)
    if (!last) return pause(tx, due, `the time zone ${timezone} of the company is no longer known`)
    const { period, nextEnd } = last
    await createReportSettingsStore(tx).update(companyId, slug, {
      nextAt: new Date(nextEnd + delay),
      plannedTo: new Date(Math.max(period.to, plannedTo.getTime())),
    })
    if (period.to <= plannedTo.getTime()) return
    if (!(await makeRoom(tx, companyId))) {
      log.error({ companyId, slug }, 'an automatic report is left out: the company has too many reports')
      return
    }
    const { prompt, ...report } = await automaticReport(tx, due, { period, timezone, time })
    const made = await createReportStore(tx).insertAutomatic(report)
    if (!made) return
    await createGenerationStore(tx).insert({
      id: newId(),
      companyId,
      reportId: made.id,
      kind: 'initial',
      question: prompt,
      requestedType: 'platform',
      requestedBy: null,
    })
  }

  /** @returns whether there may be more to plan */
  async function plan(): Promise<boolean> {
    return relational.transaction(async (tx) => {
      const { now, rows } = await createReportSettingsStore(tx).lockDue(batch)
      for (const due of rows) await planOne(tx, due, now)
      return rows.length === batch
    })
  }

  const { dueAt } = createReportSettingsStore(relational.db)
  const work: Work = { name: 'automatic reports', dueAt, run: plan }
  return { ...work, plan }
}
