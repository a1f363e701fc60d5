import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import type {
  ComparisonWindows,
  GuidedAnalysisName,
  ReportUsage,
  Window,
} from '@millrace/contract/resources/report.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { Language } from '../../../platform/i18n/language.ts'

/** One query of a plan. */
export interface PlannedQuery {
  readonly query: Query
  /** What it asks, in words. */
  readonly asks: string
  readonly chart: 'bar' | 'line' | 'table'
}

/** What was read of a free question or a dashboard. */
export interface Plan {
  readonly title: string
  readonly queries: readonly PlannedQuery[]
  readonly period: Window
  readonly comparisonWindows: ComparisonWindows
  /** Parts of the question that no rule reads. */
  readonly unread: readonly string[]
}

export type Analysis =
  | { readonly kind: 'guided'; readonly guidedAnalysis: GuidedAnalysisName }
  | ({ readonly kind: 'plan' } & Pick<Plan, 'title' | 'queries' | 'unread'>)

export interface GenerationRequest {
  readonly companyId: string
  readonly generationId: string
  readonly locale: Language
  /** IANA name. */
  readonly timezone: string
  readonly analysis: Analysis
  readonly period: Window
  readonly comparisonWindows: ComparisonWindows
  /** ISO 4217. */
  readonly currency?: string
  /** Ends the queries. */
  readonly signal: AbortSignal
  /** @param fraction from 0 to 1 */
  readonly onProgress: (fraction: number) => void
  /** What an attempt that ended has read already, to be used again for the same query. */
  readonly kept: readonly Evidence[]
  /** Stores evidence for an attempt that may have to go on. @throws when another process has the generation */
  readonly keep: (evidence: Evidence) => Promise<void>
}

export interface GeneratedReport {
  readonly title: string
  readonly sections: readonly ReportSection[]
  readonly evidence: readonly Evidence[]
  readonly quality: 'answered' | 'limited'
  readonly usage: ReportUsage
}

/** Writes what a report says. */
export interface ReportGenerator {
  generate(request: GenerationRequest): Promise<GeneratedReport>
}

/** Where and when a question is asked. */
export interface QuestionContext {
  readonly companyId: string
  /** Milliseconds since 1970: relative ranges are read as of it. */
  readonly now: number
  readonly timezone: string
  readonly locale: Language
}

/** What a follow-up takes from the report that it belongs to. */
export interface QuestionBase {
  readonly queries: readonly Query[]
  readonly period: Window
}

/** Reads what is asked in words, or what a dashboard asks. */
export interface PlanReader {
  /** @throws DomainError where the question names nothing that can be asked */
  readQuestion(question: string, context: QuestionContext & { readonly base?: QuestionBase }): Promise<Plan>
  /** @throws DomainError where the path names nothing of the company */
  readDashboard(path: string, title: string, context: QuestionContext): Promise<Plan>
}

/** Why a text may not be published: a number that no cell of the evidence gives, and the like. */
export interface SectionFault {
  readonly message: string
}

export type CheckSections = (
  sections: readonly ReportSection[],
  evidence: readonly Evidence[],
  locale: Language,
  timezone: string,
) => readonly SectionFault[]
