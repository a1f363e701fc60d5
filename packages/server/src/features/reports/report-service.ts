import type { Warning } from '@millrace/contract/envelope.ts'
import { listedReports } from '@millrace/contract/operations/reports.ts'
import type {
  EvidenceCheck,
  Report,
  ReportCreation,
  ReportSummary,
} from '@millrace/contract/resources/report.ts'
import { auditEventOf } from '../../platform/audit.ts'
import { DomainError } from '../../platform/errors.ts'
import { newId, normalizeId } from '../../platform/ids.ts'
import { invalid } from '../../platform/invalid.ts'
import { type Page, rangeOf } from '../../platform/paging.ts'
import type { ServiceContext } from '../../platform/service-context.ts'
import type { Queries } from '../../platform/stores/relational.ts'
import type { Caller, Principal } from '../identity/sessions/principal.ts'
import type { TimeRules } from '../questions/time-rules.ts'
import { archiveReport, requireOwnReport } from './archive-report.ts'
import { defaultPrompt } from './automatic/prompts.ts'
import { automaticReport } from './automatic/report-planner.ts'
import { createReportSettingsStore } from './automatic/report-settings-store.ts'
import type { RunQuery } from './evidence/evidence-runner.ts'
import type { PlanReader } from './generations/generation.ts'
import { createGenerationStore, type NewGeneration } from './generations/generation-store.ts'
import { sumOfUsage } from './generations/usage.ts'
import { makeRoom, maxReports } from './max-reports.ts'
import { comparisonsOf, readPeriod, toComparisonWindows, toldWindows, windowOf } from './periods/periods.ts'
import {
  createReportStore,
  type ListedReport,
  type NewReport,
  type ReportFilter,
  type StoredReport,
} from './report-store.ts'
import { detailsOf, titleOf, toSummary } from './report-summary.ts'

export interface ReportServiceDependencies
  extends Pick<ServiceContext, 'relational' | 'recordAudit' | 'clock' | 'log'> {
  readonly readSettings: (companyId: string) => Promise<{ readonly timezone: string }>
  readonly plans: PlanReader
  readonly runQuery: RunQuery
  readonly time: TimeRules
}

export interface ReportList {
  readonly rows: ReportSummary[]
  readonly warnings: readonly Warning[]
  /** Where a page was asked for. */
  readonly page?: Page & { readonly count: number }
}

/** Generations that a user starts within an hour: each runs some twenty queries. */
const maxPerHour = 30
const maxFollowUps = 50
const defaultPerPage = 10

/** Operation 3 and what belongs to it. Every user of a company with Statistics: access sees all of its reports. */
export function createReportService(dependencies: ReportServiceDependencies) {
  const { relational, recordAudit, readSettings, plans, runQuery, time, clock, log } = dependencies
  const store = createReportStore(relational.db)
  const generations = createGenerationStore(relational.db)

  function summaryOf(row: ListedReport): ReportSummary | undefined {
    const summary = toSummary(row)
    if (!summary) log.error({ reportId: row.report.id }, 'a stored report cannot be read and is left out')
    return summary
  }

  async function readWhole({ companyId }: Principal, id: string): Promise<Report> {
    const row = await store.find(companyId, id)
    const summary = row && summaryOf(row)
    if (!row || !summary) throw absent(id)
    const [ledger, evidence] = await Promise.all([
      generations.list(companyId, id),
      generations.listEvidenceOfReport(companyId, id),
    ])
    const done = ledger.filter(({ state }) => state === 'done')
    const usages = done.flatMap(({ usage }) => (usage ? [usage] : []))
    return {
      ...summary,
      ...detailsOf(row),
      ...(usages.length > 0 && { usage: usages.reduce(sumOfUsage) }),
      sections: done.flatMap(({ sections }) => sections ?? []),
      evidence,
    }
  }

  /** What was asked, as columns of the report, and in words for its first generation. */
  async function readWanted(
    wanted: ReportCreation,
    { companyId, userId: readerId }: Principal,
  ): Promise<{ report: Omit<NewReport, 'id' | 'createdBy' | 'requestedType'>; question: string }> {
    const { guidedAnalysis, dashboardPath, dashboardTitle, period } = wanted
    const question = wanted.question?.trim()
    const kinds = [question, guidedAnalysis, dashboardPath].filter((each) => each !== undefined)
    if (kinds.length !== 1) {
      throw invalid('question', 'or guidedAnalysis or dashboardPath must be given, one of the three')
    }
    if (question === '') throw invalid('question', 'must not be blank')
    if (period !== undefined && guidedAnalysis === undefined) {
      throw invalid(
        'period',
        'has a meaning beside guidedAnalysis only: elsewhere the question or query says it',
      )
    }
    if ((dashboardPath === undefined) !== (dashboardTitle === undefined)) {
      throw invalid('dashboardTitle', 'and dashboardPath must be given together')
    }
    const { timezone } = await readSettings(companyId)
    const locale = wanted.locale ?? (await store.findLanguage(companyId))
    const base = { companyId, timezone, locale, originType: 'free-form' as const }
    if (guidedAnalysis !== undefined) {
      const zone = time.openZone(timezone)
      const interval = readPeriod(period, { instant: clock.now(), zone }, time)
      const { previousPeriod } = comparisonsOf(interval, zone, time)
      const windows = toComparisonWindows({ previousPeriod })
      const told = toldWindows(windowOf(interval), windows, clock.now(), zone, time)
      return {
        report: {
          ...base,
          guidedAnalysis,
          periodStart: new Date(told.period.start),
          periodEnd: new Date(told.period.end),
          comparisonWindows: told.comparisonWindows,
        },
        question: defaultPrompt(guidedAnalysis, locale).text,
      }
    }
    const context = { companyId, readerId, timezone, locale, now: clock.now() }
    if (dashboardPath === undefined) {
      await plans.requireQuestion(question ?? '', context)
      return {
        report: { ...base, question: question ?? '', title: titleOf(question ?? '') },
        question: question ?? '',
      }
    }
    const title = dashboardTitle ?? ''
    await plans.readDashboard(dashboardPath, title, context)
    return {
      report: { ...base, originType: 'dashboard', dashboardPath, dashboardTitle: title, title },
      question: title,
    }
  }

  /** @throws DomainError `tooManyRequests` */
  async function requireTurn(tx: Queries, { companyId, userId }: Principal): Promise<void> {
    const { count, freeIn } = await createGenerationStore(tx).countRecent(companyId, userId)
    if (count < maxPerHour) return
    const message = `A user starts ${maxPerHour} generations of reports an hour at most`
    throw new DomainError('tooManyRequests', { retryAfter: freeIn }, { message, retryAfterSeconds: freeIn })
  }

  /** @throws DomainError `tooManyReports` */
  async function requireRoom(tx: Queries, companyId: string): Promise<void> {
    if (!(await makeRoom(tx, companyId))) throw new DomainError('tooManyReports', { limit: maxReports })
  }

  /** @throws DomainError `reportGenerates` */
  async function start(
    tx: Queries,
    { companyId, userId }: Principal,
    generation: Pick<NewGeneration, 'reportId' | 'kind' | 'question'>,
  ): Promise<void> {
    const started = await createGenerationStore(tx).insert({
      ...generation,
      ...{ id: newId(), companyId, requestedType: 'user', requestedBy: userId },
    })
    if (!started) throw new DomainError('reportGenerates', { id: generation.reportId })
  }

  async function lock(tx: Queries, { companyId }: Principal, id: string): Promise<StoredReport> {
    const report = await createReportStore(tx).lock(companyId, id)
    if (!report) throw absent(id)
    return report
  }

  async function requireIdle(tx: Queries, { companyId, id }: StoredReport): Promise<void> {
    const last = await createGenerationStore(tx).findLast(companyId, id)
    if (last?.state === 'queued' || last?.state === 'running')
      throw new DomainError('reportGenerates', { id })
  }

  const target = (id: string, name: string | null | undefined) => ({
    kind: 'report',
    id,
    ...(name && { name }),
  })

  return {
    /** Without a page the first of all, up to a bound. */
    async list(
      { companyId }: Principal,
      { page, perPage, ...filter }: ReportFilter & Partial<Page>,
    ): Promise<ReportList> {
      const isPaged = page !== undefined || perPage !== undefined
      const asked = { page: page ?? 1, perPage: perPage ?? defaultPerPage }
      const range = isPaged ? rangeOf(asked) : { limit: listedReports + 1, offset: 0 }
      const [found, count] = await Promise.all([
        store.list(companyId, filter, range),
        isPaged ? store.count(companyId, filter) : undefined,
      ])
      const rows = found.slice(0, listedReports).flatMap((row) => summaryOf(row) ?? [])
      if (count !== undefined) return { rows, warnings: [], page: { ...asked, count } }
      const warnings =
        found.length > listedReports
          ? [
              {
                path: 'page',
                message: `these are the ${filter.sortBy || filter.sortOrder ? 'first' : 'newest'} ${listedReports} reports: ask for pages to get all`,
              },
            ]
          : []
      return { rows, warnings }
    },

    /** @throws DomainError `validation`, `tooManyReports`, `tooManyRequests`, or what reading the question or dashboard throws */
    async create(caller: Caller, wanted: ReportCreation): Promise<Report> {
      const { principal } = caller
      const { companyId, userId } = principal
      const { report, question } = await readWanted(wanted, principal)
      const id = newId()
      await relational.transaction(async (tx) => {
        await requireTurn(tx, principal)
        await requireRoom(tx, companyId)
        await createReportStore(tx).insert({
          ...report,
          ...{ id, createdBy: userId, requestedType: 'user', requestedBy: userId },
        })
        await start(tx, principal, { reportId: id, kind: 'initial', question })
        await recordAudit(tx, auditEventOf(caller, 'report-create', target(id, report.title)))
      })
      return readWhole(principal, id)
    },

    /** @throws DomainError `reportNotFound` */
    read(principal: Principal, id: string): Promise<Report> {
      return readWhole(principal, normalizeId(id))
    },

    /** @throws DomainError `reportNotFound`, `reportArchived`, `reportGenerates`, `tooManyFollowUps` or `tooManyRequests` */
    async askFollowUp(principal: Principal, given: string, question: string): Promise<Report> {
      const id = normalizeId(given)
      const asked = question.trim()
      if (asked === '') throw invalid('question', 'must not be blank')
      await relational.transaction(async (tx) => {
        const report = await lock(tx, principal, id)
        if (report.archivedAt !== null) throw new DomainError('reportArchived', { id })
        await requireIdle(tx, report)
        if ((await createGenerationStore(tx).countFollowUps(report.companyId, id)) >= maxFollowUps) {
          throw new DomainError('tooManyFollowUps', { limit: maxFollowUps })
        }
        await requireTurn(tx, principal)
        await start(tx, principal, { reportId: id, kind: 'follow-up', question: asked })
      })
      return readWhole(principal, id)
    },

    /**
     * @throws DomainError `reportNotFound`, `reportArchived`, `reportSuperseded`, `reportGenerates`, `reportNotRetryable`
     *   or `tooManyRequests`
     */
    async retry(principal: Principal, given: string): Promise<Report> {
      const id = normalizeId(given)
      await relational.transaction(async (tx) => {
        const report = await lock(tx, principal, id)
        if (report.archivedAt !== null) throw new DomainError('reportArchived', { id })
        requirePresent(report)
        await requireIdle(tx, report)
        const { companyId, failedGenerationId } = report
        const failed =
          failedGenerationId === null
            ? undefined
            : await createGenerationStore(tx).find(companyId, failedGenerationId)
        if (!failed?.failure?.retryable) throw new DomainError('reportNotRetryable', { id })
        await requireTurn(tx, principal)
        await start(tx, principal, { reportId: id, kind: failed.kind, question: failed.question })
      })
      return readWhole(principal, id)
    },

    /**
     * Makes an automatic report of the same period anew, by the present settings.
     * @throws DomainError `reportNotFound`, `reportNotAutomatic`, `forbidden`, `reportSuperseded`, `reportGenerates`,
     *   `tooManyReports` or `tooManyRequests`
     */
    async regenerate(caller: Caller, given: string): Promise<Report> {
      const { principal } = caller
      const { companyId, userId } = principal
      const id = normalizeId(given)
      const replacement = newId()
      await relational.transaction(async (tx) => {
        const report = await lock(tx, principal, id)
        const { slug, cadence, periodStart, periodEnd, timezone } = report
        const settings = slug === null ? undefined : await createReportSettingsStore(tx).find(companyId, slug)
        if (!settings || !cadence || !periodStart || !periodEnd) {
          throw new DomainError('reportNotAutomatic', { id })
        }
        await requireOwnReport(tx, principal, report)
        requirePresent(report)
        await requireIdle(tx, report)
        await requireTurn(tx, principal)
        await requireRoom(tx, companyId)
        const period = { from: periodStart.getTime(), to: periodEnd.getTime() }
        const { prompt, ...columns } = await automaticReport(
          tx,
          { ...settings, cadence },
          { period, timezone, time },
        )
        const within = createReportStore(tx)
        await within.update(companyId, id, { supersededById: replacement })
        await within.insert({
          ...columns,
          ...{ id: replacement, supersedesId: id, createdBy: userId, periodKey: report.periodKey },
          ...{ requestedType: 'user', requestedBy: userId },
        })
        await start(tx, principal, { reportId: replacement, kind: 'initial', question: prompt })
        await recordAudit(tx, auditEventOf(caller, 'report-create', target(replacement, report.title)))
      })
      return readWhole(principal, replacement)
    },

    /** @throws DomainError `reportNotFound` or `forbidden` */
    async archive(caller: Caller, given: string): Promise<Report> {
      const { principal } = caller
      const { companyId } = principal
      const id = normalizeId(given)
      await relational.transaction(async (tx) => {
        const report = await lock(tx, principal, id)
        if (report.archivedAt !== null) return
        await requireOwnReport(tx, principal, report)
        await archiveReport(tx, companyId, id)
        await recordAudit(tx, auditEventOf(caller, 'report-archive', target(id, report.title)))
      })
      return readWhole(principal, id)
    },

    /**
     * Runs the stored query of an evidence again.
     * @throws DomainError `reportNotFound` or `reportEvidenceNotFound`
     */
    async verifyEvidence(
      { companyId }: Principal,
      { id, evidenceId }: { readonly id: string; readonly evidenceId: string },
      signal: AbortSignal,
    ): Promise<EvidenceCheck> {
      const reportId = normalizeId(id)
      if (!(await store.find(companyId, reportId))) throw absent(id)
      const found = await generations.findEvidence(companyId, reportId, normalizeId(evidenceId))
      if (!found) throw new DomainError('reportEvidenceNotFound', { id: normalizeId(evidenceId) })
      const { generationId, evidence: stored } = found
      const readerId = await generations.findReaderId(generationId)
      const present = await runQuery(stored.query, { companyId, readerId, signal })
      const isAnswered = present.state !== 'failure'
      return {
        evidenceId: stored.id,
        matches: isAnswered && stored.state !== 'failure' && present.resultHash === stored.resultHash,
        resultHash: stored.resultHash,
        ...(isAnswered && { presentHash: present.resultHash }),
        rowCount: present.rowCount,
        checkedAt: present.executedAt,
        ...(present.failureMessage === undefined ? {} : { failureMessage: present.failureMessage }),
      }
    },
  }
}

const absent = (id: string) => new DomainError('reportNotFound', { id: normalizeId(id) })

/** @throws DomainError `reportSuperseded` where another one stands in its place, whose recipients would get both */
function requirePresent({ id, supersededById }: StoredReport): void {
  if (supersededById === null) return
  throw new DomainError('reportSuperseded', { id, supersededByReportId: supersededById })
}
