import { type Report, type ReportRequester, ReportSummary } from '@millrace/contract/resources/report.ts'
import { Compile } from 'typebox/compile'
import type { ListedReport, StoredReport } from './report-store.ts'

let compiled: ReturnType<typeof compileSummary> | undefined
const compileSummary = () => Compile(ReportSummary)

/** The start of the service does not wait for the compiler. */
function isSummary(summary: unknown): summary is ReportSummary {
  compiled ??= compileSummary()
  return compiled.Check(summary)
}

const requesterOf = (row: Pick<StoredReport, 'requestedType' | 'requestedBy'>): ReportRequester => ({
  type: row.requestedType,
  ...(row.requestedBy === null ? {} : { userId: row.requestedBy }),
})

function activeOf({ active }: ListedReport): ReportSummary['activeGeneration'] {
  if (!active) return undefined
  return {
    id: active.id,
    kind: active.kind,
    status: active.state === 'running' ? 'running' : 'pending',
    startedAt: (active.startedAt ?? active.createdAt).toISOString(),
  }
}

function failureOf({ failed }: ListedReport): ReportSummary['lastGenerationFailure'] {
  if (!failed?.failure || !failed.endedAt) return undefined
  const { kind, question, usage, failure } = failed
  return {
    kind,
    question,
    evidence: failure.evidence,
    generationId: failed.id,
    code: failure.code,
    message: failure.message,
    retryable: failure.retryable,
    failedAt: failed.endedAt.toISOString(),
    requestedBy: requesterOf(failed),
    ...(usage ? { usage } : {}),
  }
}

function automaticOf({ report }: ListedReport): ReportSummary['automatic'] {
  const { slug, cadence, periodKey, periodStart, periodEnd, promptSnapshot, settingsId } = report
  if (slug === null || !cadence || !promptSnapshot || !periodStart || !periodEnd) return undefined
  const { comparisonWindows, publicationQuality, supersedesId, timezone } = report
  return {
    slug,
    cadence,
    period: {
      key: periodKey ?? '',
      start: periodStart.toISOString(),
      end: periodEnd.toISOString(),
      timezone,
      // An automatic report has them from the beginning.
      comparisonWindows: comparisonWindows as NonNullable<typeof comparisonWindows>,
    },
    promptSnapshot,
    settingsId: settingsId ?? '',
    ...(publicationQuality === null ? {} : { publicationQuality }),
    ...(supersedesId === null ? {} : { supersedesReportId: supersedesId }),
  }
}

/** @returns undefined for a row that is no report, whatever has happened to it (docs/faults.md, S02) */
export function toSummary(row: ListedReport): ReportSummary | undefined {
  const { report } = row
  const { dashboardPath, dashboardTitle } = report
  const [activeGeneration, lastGenerationFailure, automatic] = [
    activeOf(row),
    failureOf(row),
    automaticOf(row),
  ]
  const summary = {
    id: report.id,
    createdBy: report.createdBy,
    requestedBy: requesterOf(report),
    createdAt: report.createdAt.toISOString(),
    updatedAt: report.updatedAt.toISOString(),
    ...(report.title === null ? {} : { title: report.title }),
    origin: {
      type: report.originType,
      ...(dashboardPath === null ? {} : { dashboardPath }),
      ...(dashboardTitle === null ? {} : { dashboardTitle }),
    },
    ...(report.guidedAnalysis === null ? {} : { guidedAnalysis: report.guidedAnalysis }),
    ...(report.archivedAt === null ? {} : { archivedAt: report.archivedAt.toISOString() }),
    sectionCount: report.sectionCount,
    ...(activeGeneration && { activeGeneration }),
    ...(lastGenerationFailure && { lastGenerationFailure }),
    ...(automatic && { automatic }),
  }
  return isSummary(summary) ? summary : undefined
}

/** What a whole report says beside its summary, its sections and its evidence. */
export function detailsOf({
  report,
  active,
}: ListedReport): Omit<Report, keyof ReportSummary | 'sections' | 'evidence' | 'usage'> {
  const { question, locale, timezone, periodStart, periodEnd, comparisonWindows } = report
  const { publicationQuality, supersededById } = report
  return {
    ...(question === null ? {} : { question }),
    locale,
    timezone,
    ...(periodStart &&
      periodEnd &&
      comparisonWindows && {
        period: { start: periodStart.toISOString(), end: periodEnd.toISOString(), comparisonWindows },
      }),
    ...(publicationQuality === null ? {} : { publicationQuality }),
    ...(active && { progress: active.progress }),
    ...(supersededById === null ? {} : { supersededByReportId: supersededById }),
  }
}

const maxTitle = 200

/** What a report is called until its generator has a better name. */
export function titleOf(question: string): string {
  const [line = ''] = question.split(/[\r\n]/)
  return [...line].slice(0, maxTitle).join('')
}
