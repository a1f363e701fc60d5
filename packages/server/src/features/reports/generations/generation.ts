import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { Language } from '../../../platform/i18n/language.ts'
import type { Plan } from '../../questions/plan-reader.ts'
import type { QuestionBase } from '../../questions/question-reader.ts'
import type { GeneratedReport, GenerationRequest } from '../generator/generation.ts'

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
  readonly signal?: AbortSignal
}

/** Reads questions and dashboards into queries. */
export interface PlanReader {
  /** @throws DomainError for a question that is known to name nothing that can be asked */
  requireQuestion(question: string, context: QuestionContext): Promise<void>
  /** @throws DomainError where the question names nothing that can be asked */
  readQuestion(question: string, context: QuestionContext & { readonly base?: QuestionBase }): Promise<Plan>
  /** @throws DomainError where the path names nothing of the company */
  readDashboard(path: string, title: string, context: QuestionContext): Promise<Plan>
}

/** Why a text may not be published: a number that no cell of the evidence gives, and the like. */
export type CheckSections = (
  sections: readonly ReportSection[],
  evidence: readonly Evidence[],
  locale: Language,
  timezone: string,
) => readonly { readonly message: string }[]
