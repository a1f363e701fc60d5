import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { DomainError } from '../../platform/errors.ts'
import type { Language } from '../../platform/i18n/language.ts'
import type { DashboardReader } from './dashboard-reader.ts'
import type { QuestionBase, QuestionContext, QuestionReader, ReadQuestion } from './question-reader.ts'
import type { ValueCaller } from './value-finder.ts'

/** Where and when a company asks. */
export interface PlanContext extends ValueCaller {
  /** Milliseconds since 1970. */
  readonly now: number
  /** IANA name. */
  readonly timezone: string
  readonly locale: Language
}

export interface Plan extends ReadQuestion {
  /** Answers of a language model that it took. */
  readonly agentTurns: number
}

export interface PlanReaderDependencies {
  /** What the company can ask. */
  readonly describe: (companyId: string) => Promise<StatisticsMeta>
  readonly questions: QuestionReader
  readonly dashboards: DashboardReader
  readonly findValues: (caller: ValueCaller) => NonNullable<QuestionContext['findValues']>
  /** Reads what the grammar cannot; absent without a language model. */
  readonly planByModel?: (
    question: string,
    context: QuestionContext & Pick<ValueCaller, 'companyId' | 'readerId'>,
    signal?: AbortSignal,
  ) => Promise<{ readonly plan?: ReadQuestion; readonly turns: number }>
}

/** Reads the questions and dashboards of companies, over their own members and values. */
export function createPlanReader(dependencies: PlanReaderDependencies) {
  const { describe, questions, dashboards, findValues, planByModel } = dependencies

  return {
    /**
     * Refuses a question at once that nothing here could ever read: without looking for values, and without asking a
     * language model, which may know better.
     * @throws {DomainError} `questionUnreadable`
     */
    async requireQuestion(question: string, { companyId, ...asked }: PlanContext): Promise<void> {
      if (planByModel) return
      await questions.readQuestion(question, { ...asked, meta: await describe(companyId) })
    },

    /**
     * The grammar reads first; what it cannot read a language model may, where there is one.
     * @throws {DomainError} `questionUnreadable`
     */
    async readQuestion(
      question: string,
      { companyId, readerId, signal, ...asked }: PlanContext & { readonly base?: QuestionBase },
    ): Promise<Plan> {
      const reader = { companyId, readerId }
      const caller = { ...reader, ...(signal && { signal }) }
      const context = { ...asked, meta: await describe(companyId), findValues: findValues(caller) }
      const read = await questions.readQuestion(question, context).catch((error: unknown) => {
        if (error instanceof DomainError && error.errorName === 'questionUnreadable') return error
        throw error
      })
      const isRead = !(read instanceof DomainError) && read.unread.length === 0
      const byModel = isRead ? undefined : await planByModel?.(question, { ...context, ...reader }, signal)
      const agentTurns = byModel?.turns ?? 0
      if (byModel?.plan) return { ...byModel.plan, agentTurns }
      if (read instanceof DomainError) throw read
      return { ...read, agentTurns }
    },

    /** @throws {DomainError} `validation`, `savedQueryNotFound` */
    async readDashboard(path: string, title: string, { companyId, ...asked }: PlanContext): Promise<Plan> {
      const context = { ...asked, meta: await describe(companyId) }
      const dashboard = { companyId, path, ...(title === '' ? {} : { title }) }
      return { ...(await dashboards.readDashboard(dashboard, context)), agentTurns: 0 }
    },
  }
}
