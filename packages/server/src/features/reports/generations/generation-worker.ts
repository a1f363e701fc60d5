import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { ReportUsage } from '@millrace/contract/resources/report.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { DiskRoom } from '../../../platform/files/disk-reserve.ts'
import type { ServiceContext } from '../../../platform/service-context.ts'
import type { Queries } from '../../../platform/stores/relational.ts'
import { createLedgerWork } from '../../../platform/work/ledger-work.ts'
import type { QuestionBase, ReadQuestion } from '../../questions/question-reader.ts'
import type { Interval, TimeRules } from '../../questions/time-rules.ts'
import type { GeneratedReport, GenerationRequest } from '../generator/generation.ts'
import { comparisonsOf, toComparisonWindows, toldWindows, wholeOf, windowOf } from '../periods/periods.ts'
import { lackOf, type Readers, readingRights } from '../readers.ts'
import { createReportStore, type ReportChange, type StoredReport } from '../report-store.ts'
import { shownEvidence } from './failure-evidence.ts'
import type { CheckSections, PlanReader, ReportGenerator } from './generation.ts'
import { type Failure, failureOf, failureOfError, GenerationRefused } from './generation-failure.ts'
import { createGenerationStore, type StoredGeneration } from './generation-store.ts'
import { sumOfUsage } from './usage.ts'

/** What becomes of an automatic report; each is called in the transaction of what happened. */
export interface AutomaticOutcome {
  /** Why the report may no longer be made; undefined where it may. */
  refusal(db: Queries, report: StoredReport): Promise<string | undefined>
  onPublished(tx: Queries, report: StoredReport, generated: GeneratedReport): Promise<void>
  onFailed(tx: Queries, report: StoredReport, failure: Failure): Promise<void>
}

export interface GenerationWorkerDependencies extends Pick<ServiceContext, 'relational' | 'clock' | 'log'> {
  readonly generator: ReportGenerator
  readonly plans: PlanReader
  readonly checkSections: CheckSections
  /** Whether the company has events from before an instant. */
  readonly hasEventsBefore: (companyId: string, instant: number, signal: AbortSignal) => Promise<boolean>
  readonly time: TimeRules
  readonly findReader: Readers['findReader']
  /** Of the disk of the evidence. */
  readonly rowsRoom: DiskRoom
  readonly automatic: AutomaticOutcome
}

/** At once in one process. */
const lanes = 2
/** Seconds before the second and the third attempt. */
const pauses = [30, 120] as const
/** Of all evidence of a report, as JSON. */
const maxEvidenceBytes = 16 * 1024 * 1024
/** Of the sections of a generation, as JSON. */
const maxSectionBytes = 2 * 1024 * 1024
/** Queries of a generation that a follow-up builds on. */
const maxBaseQueries = 5
/** Progress is written when it has come so much further. */
const progressStep = 0.02

/** Another process has the generation, or it was given up. */
class GenerationTaken extends Error {
  override readonly name = 'GenerationTaken'
}

/** Attempts of generations: what is asked is read, run, written and published, or ends with a reason. */
export function createGenerationWorker(dependencies: GenerationWorkerDependencies) {
  const { relational, generator, plans, checkSections, hasEventsBefore } = dependencies
  const { time, findReader, rowsRoom, automatic, clock, log } = dependencies
  const generations = createGenerationStore(relational.db)
  const reports = createReportStore(relational.db)

  async function requireRights(generation: StoredGeneration, report: StoredReport): Promise<void> {
    const { companyId, requestedType, requestedBy } = generation
    if (requestedType === 'platform') {
      const refusal = await automatic.refusal(relational.db, report)
      if (refusal !== undefined) throw new GenerationRefused('rights-lost', refusal)
      return
    }
    const reader = requestedBy === null ? undefined : await findReader(relational.db, companyId, requestedBy)
    const lack = lackOf(reader, readingRights)
    if (lack !== undefined) throw new GenerationRefused('rights-lost', `Who asked for it ${lack}`)
  }

  /** The windows of a guided analysis; that of the year before only where events reach back to its first tenth. */
  async function guidedPeriod(
    { companyId, timezone, periodStart, periodEnd, comparisonWindows }: StoredReport,
    signal: AbortSignal,
  ): Promise<Pick<ReadQuestion, 'period' | 'comparisonWindows'>> {
    if (!periodStart || !periodEnd) throw new GenerationRefused('refused', 'The report has no period')
    const zone = time.openZone(timezone)
    const told: Interval = { from: periodStart.getTime(), to: periodEnd.getTime() }
    const period = comparisonWindows ? wholeOf(told, comparisonWindows.previousPeriod, zone, time) : told
    const { previousPeriod, previousYear } = comparisonsOf(period, zone, time)
    const reached =
      previousYear &&
      (await hasEventsBefore(
        companyId,
        previousYear.from + (previousYear.to - previousYear.from) / 10,
        signal,
      ))
    return {
      period: windowOf(period),
      comparisonWindows: toComparisonWindows({ previousPeriod, ...(reached && { previousYear }) }),
    }
  }

  /** What the last generation of the report asked, on which a follow-up builds. */
  async function baseOf({
    companyId,
    id,
    periodStart,
    periodEnd,
  }: StoredReport): Promise<QuestionBase | undefined> {
    if (!periodStart || !periodEnd) return undefined
    const done = (await generations.list(companyId, id)).filter(({ state }) => state === 'done')
    const last = done.at(-1)
    const stored = last ? await generations.listEvidence(last.id) : []
    return {
      queries: stored.slice(0, maxBaseQueries).map(({ evidence }) => evidence.query),
      period: { start: periodStart.toISOString(), end: periodEnd.toISOString() },
    }
  }

  async function analysisOf(
    generation: StoredGeneration,
    report: StoredReport,
    readerId: string | null,
    signal: AbortSignal,
  ): Promise<Pick<GenerationRequest, 'period' | 'comparisonWindows' | 'analysis'>> {
    const { companyId, timezone, locale, guidedAnalysis, dashboardPath, dashboardTitle } = report
    if (generation.kind === 'initial' && guidedAnalysis !== null) {
      return { analysis: { kind: 'guided', guidedAnalysis }, ...(await guidedPeriod(report, signal)) }
    }
    const context = { companyId, readerId, timezone, locale, now: generation.createdAt.getTime(), signal }
    const base = generation.kind === 'initial' ? undefined : await baseOf(report)
    const { period, comparisonWindows, ...plan } =
      generation.kind === 'initial' && dashboardPath !== null
        ? await plans.readDashboard(dashboardPath, dashboardTitle ?? '', context)
        : await plans.readQuestion(generation.question, { ...context, ...(base && { base }) })
    return { analysis: { kind: 'plan', ...plan }, period, comparisonWindows }
  }

  /** Writes at most one progress at a time. */
  function progressWriter(generation: StoredGeneration) {
    let [written, isWriting] = [0, false]
    return (fraction: number): void => {
      if (isWriting || fraction < written + progressStep || fraction > 1) return
      written = fraction
      isWriting = true
      generations
        .set(generation, { progress: fraction })
        .catch((error: unknown) => log.warn({ err: error }, 'the progress of a report was not written'))
        .finally(() => {
          isWriting = false
        })
    }
  }

  /**
   * The words of the company beside the analysis: what can be read of them as a question is answered in sections of its
   * own, about the same period unless they name another.
   */
  async function withOwnWords(
    request: GenerationRequest,
    first: GeneratedReport,
    words: string,
  ): Promise<GeneratedReport> {
    const { companyId, readerId, timezone, locale, period, signal } = request
    const context = { companyId, readerId, timezone, locale, now: Date.parse(period.end), signal }
    const base = { queries: [], period }
    const plan = await plans.readQuestion(words, { ...context, base }).catch((error: unknown) => {
      if (error instanceof DomainError && error.errorName === 'questionUnreadable') return undefined
      throw error
    })
    if (!plan) return first
    const { period: asked, comparisonWindows, ...analysis } = plan
    const answered = await generator.generate({
      ...request,
      analysis: { kind: 'plan', ...analysis },
      period: asked,
      comparisonWindows,
      kept: [...request.kept, ...first.evidence],
    })
    const known = new Set(first.evidence.map(({ id }) => id))
    return {
      ...first,
      sections: [
        ...first.sections,
        // Both were counted from one.
        ...answered.sections.map((section) => ({ ...section, id: `${section.id}-words` })),
      ],
      evidence: [...first.evidence, ...answered.evidence.filter(({ id }) => !known.has(id))],
      quality: first.quality === 'limited' ? 'limited' : answered.quality,
      usage: sumOfUsage(first.usage, answered.usage),
    }
  }

  async function produce(
    generation: StoredGeneration,
    report: StoredReport,
    signal: AbortSignal,
  ): Promise<GeneratedReport> {
    const { id: generationId, companyId, reportId, kind } = generation
    const readerId = await generations.findReaderId(generationId)
    const { analysis, period, comparisonWindows } = await analysisOf(generation, report, readerId, signal)
    const known = await generations.listEvidence(generationId)
    // What failed for an attempt may be answered now.
    const stored = known.filter(({ evidence }) => evidence.state !== 'failure')
    await relational.transaction(async (tx) => {
      const within = createGenerationStore(tx)
      if (!(await within.lockHeld(generation))) throw new GenerationTaken()
      await within.deleteEvidence(
        generationId,
        stored.map(({ evidence }) => evidence.id),
      )
      if (kind === 'follow-up') return
      const zone = time.openZone(report.timezone)
      const told = toldWindows(period, comparisonWindows, clock.now(), zone, time)
      await createReportStore(tx).update(companyId, reportId, {
        periodStart: new Date(told.period.start),
        periodEnd: new Date(told.period.end),
        comparisonWindows: told.comparisonWindows,
      })
    })
    let bytes = await generations.countEvidenceBytes(companyId, reportId)
    const others = stored.reduce((rest, each) => rest - each.bytes, bytes)
    const request: GenerationRequest = {
      ...{ companyId, readerId, generationId, analysis, period, comparisonWindows, signal },
      locale: report.locale,
      timezone: report.timezone,
      onProgress: progressWriter(generation),
      kept: stored.map(({ evidence }) => evidence),
      async keep(evidence) {
        const size = Buffer.byteLength(JSON.stringify(evidence))
        bytes += size
        if (bytes > maxEvidenceBytes) throw new GenerationRefused('too-large')
        await rowsRoom.take(size)
        if (await generations.insertEvidence(generation, evidence, size)) return
        throw new GenerationTaken('another process has this generation, or it was given up')
      },
    }
    const first = await generator.generate(request)
    const generated =
      kind === 'initial' && report.promptSnapshot?.source === 'company-custom'
        ? await withOwnWords(request, first, report.promptSnapshot.text)
        : first
    signal.throwIfAborted()
    const sizes = generated.evidence.map((each) => Buffer.byteLength(JSON.stringify(each)))
    if (others + sizes.reduce((sum, size) => sum + size, 0) > maxEvidenceBytes) {
      throw new GenerationRefused('too-large')
    }
    if (Buffer.byteLength(JSON.stringify(generated.sections)) > maxSectionBytes) {
      throw new GenerationRefused('too-large')
    }
    const { sections, evidence } = generated
    const faults = checkSections(sections, evidence, report.locale, report.timezone)
    if (faults.length > 0) {
      log.error({ generationId, faults: faults.slice(0, 10) }, 'a report states what its evidence does not')
      throw new GenerationRefused('unproven')
    }
    return generated
  }

  /** Publishes all of it at once, or nothing where another process has the generation. */
  async function publish(generation: StoredGeneration, generated: GeneratedReport): Promise<void> {
    const { id, companyId, reportId, kind, question } = generation
    const { sections, evidence, usage, quality, title } = generated
    await relational.transaction(async (tx) => {
      const withinReports = createReportStore(tx)
      const within = createGenerationStore(tx)
      const report = await withinReports.lock(companyId, reportId)
      if (!report || !(await within.lockHeld(generation))) return
      await within.deleteEvidence(
        id,
        evidence.map((each) => each.id),
      )
      for (const each of evidence) {
        await within.insertEvidence(generation, each, Buffer.byteLength(JSON.stringify(each)))
      }
      const written = sections.map((section) => ({
        ...section,
        ...(kind === 'follow-up' && section.kind === 'answer' && { question: section.question ?? question }),
      }))
      await within.finish(generation, { sections: written, usage })
      const change: ReportChange = {
        sectionCount: report.sectionCount + sections.length,
        evidenceBytes: await within.countEvidenceBytes(companyId, reportId),
        failedGenerationId: null,
        ...(kind === 'initial' && { title, publicationQuality: quality }),
      }
      await withinReports.update(companyId, reportId, change)
      if (kind === 'initial' && report.slug !== null) {
        await automatic.onPublished(tx, { ...report, ...change }, generated)
      }
    })
  }

  /** Ends the generation for good. */
  async function fail(generation: StoredGeneration, failure: Failure): Promise<void> {
    const { id, companyId, reportId, kind } = generation
    await relational.transaction(async (tx) => {
      const withinReports = createReportStore(tx)
      const within = createGenerationStore(tx)
      const report = await withinReports.lock(companyId, reportId)
      if (!report) return
      const evidence = (await within.listEvidence(id)).map((each) => each.evidence)
      const shown = { ...failure, evidence: shownEvidence(evidence) }
      if (!(await within.fail(generation, shown, usageOf(generation, evidence, clock.now())))) return
      await within.deleteEvidence(id)
      await withinReports.update(companyId, reportId, {
        failedGenerationId: id,
        evidenceBytes: await within.countEvidenceBytes(companyId, reportId),
      })
      if (kind === 'initial' && report.slug !== null) await automatic.onFailed(tx, report, failure)
    })
  }

  return createLedgerWork<StoredGeneration, Failure>({
    names: ['the generation of a report', 'generations of reports'],
    ...{ relational, log, lanes, pauses, fail },
    ledgerOf: createGenerationStore,
    interrupted: failureOf('service-ended'),
    judge(error) {
      if (error instanceof GenerationTaken) return undefined
      const failure = failureOfError(error)
      return { failure, mayPass: failure.retryable, isFault: failure.code === 'internal' }
    },
    async attempt(generation, signal) {
      const found = await reports.find(generation.companyId, generation.reportId)
      if (!found) return
      await requireRights(generation, found.report)
      await publish(generation, await produce(generation, found.report, signal))
    },
  })
}

function usageOf({ startedAt }: StoredGeneration, evidence: readonly Evidence[], now: number): ReportUsage {
  return {
    queryCount: evidence.length,
    rowCount: evidence.reduce((sum, { rowCount }) => sum + rowCount, 0),
    payloadBytes: evidence.reduce((sum, { payloadBytes }) => sum + payloadBytes, 0),
    agentTurns: 0,
    durationMs: startedAt === null ? 0 : Math.max(0, now - startedAt.getTime()),
  }
}
