import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { DomainError } from '../../../platform/errors.ts'
import { comparisonsOf, toComparisonWindows, windowOf } from '../periods/periods.ts'
import type { DashboardReader } from '../questions/dashboard-reader.ts'
import type { QuestionReader, ReadQuestion } from '../questions/question-reader.ts'
import type { createValueFinder } from '../questions/value-finder.ts'
import type { TimeRules } from '../time-rules.ts'
import type { PlanReader, QuestionContext } from './generation.ts'

export interface PlanReaderDependencies {
  readonly describe: (companyId: string) => Promise<StatisticsMeta>
  readonly questions: QuestionReader
  readonly dashboards: DashboardReader
  readonly findValues: ReturnType<typeof createValueFinder>
  readonly time: TimeRules
}

/** Days that a question is about of which nothing could be read. */
const defaultDays = 30

/** Reads questions and dashboards with what the company can ask for at this moment. */
export function createPlanReader(dependencies: PlanReaderDependencies): PlanReader {
  const { describe, questions, dashboards, findValues, time } = dependencies

  function unread(
    question: string,
    parts: readonly string[],
    { timezone, now }: QuestionContext,
  ): ReadQuestion {
    const zone = time.openZone(timezone)
    const to = time.startOf(zone, now, 'day')
    const period = { from: time.add(zone, to, -defaultDays, 'day'), to }
    return {
      title: question.slice(0, 200),
      queries: [],
      period: windowOf(period),
      comparisonWindows: toComparisonWindows({
        previousPeriod: comparisonsOf(period, zone, time).previousPeriod,
      }),
      unread: parts.length > 0 ? [...parts] : [question],
    }
  }

  return {
    async readQuestion(question, context) {
      const { companyId, now, timezone, locale, signal, base } = context
      const meta = await describe(companyId)
      try {
        return await questions.readQuestion(question, {
          ...{ meta, now, timezone, locale },
          findValues: findValues({ companyId, ...(signal && { signal }) }),
          ...(base && { base }),
        })
      } catch (error) {
        if (!(error instanceof DomainError) || error.errorName !== 'questionUnreadable') throw error
        return unread(question, (error as DomainError<'questionUnreadable'>).data.unread, context)
      }
    },

    async readDashboard(path, title, { companyId, now, timezone, locale }) {
      const meta = await describe(companyId)
      return dashboards.readDashboard({ companyId, path, title }, { meta, now, timezone, locale })
    },
  }
}
