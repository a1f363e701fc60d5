import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type {
  ComparisonWindows,
  GuidedAnalysisName,
  ReportUsage,
  Window,
} from '@millrace/contract/resources/report.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { Language } from '../../../platform/i18n/language.ts'
import type { PlannedQuery } from '../../questions/planned-query.ts'

export interface GenerationRequest {
  readonly companyId: string
  /** Whose teams decide which workflows the answer names. */
  readonly readerId: string | null
  readonly generationId: string
  readonly locale: Language
  /** IANA name of the zone in which days and months begin. */
  readonly timezone: string
  readonly analysis:
    | { readonly kind: 'guided'; readonly guidedAnalysis: GuidedAnalysisName }
    | {
        readonly kind: 'plan'
        readonly title: string
        readonly queries: readonly PlannedQuery[]
        /** Parts of the question that no rule reads. */
        readonly unread: readonly string[]
      }
  readonly period: Window
  readonly comparisonWindows: ComparisonWindows
  /** ISO 4217 code in which amounts are written; without it they have no unit. */
  readonly currency?: string
  readonly signal: AbortSignal
  /** Told with each query that ended, from 0 to 1. */
  readonly onProgress: (fraction: number) => void
  /** What an attempt before this one has stored: its queries are not run again. */
  readonly kept: readonly Evidence[]
  /** Stores evidence as it comes. */
  readonly keep: (evidence: Evidence) => Promise<void>
}

export interface GeneratedReport {
  readonly title: string
  readonly sections: ReportSection[]
  readonly evidence: Evidence[]
  /** `limited` where data are too few, a query failed or a part of the question was not understood. */
  readonly quality: 'answered' | 'limited'
  readonly usage: ReportUsage
}

/** Every query of a generation failed: there is nothing to tell. */
export class GenerationFailure extends Error {
  /** Of the first query that failed. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'GenerationFailure'
    this.code = code
  }
}
