import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import type { Clock } from '../../platform/clock.ts'
import type { StatisticsService } from '../statistics/statistics-service.ts'
import type { RunQuery } from './evidence/evidence-runner.ts'
import type { CheckSections, PlanReader, ReportGenerator } from './generations/generation.ts'
import { createPlanReader } from './generations/plan-reader.ts'
import { checkSections } from './generator/checker/check-sections.ts'
import { createReportGenerator } from './generator/generate-report.ts'
import { createDashboardReader, type DashboardDependencies } from './questions/dashboard-reader.ts'
import { createQuestionReader } from './questions/question-reader.ts'
import { createValueFinder } from './questions/value-finder.ts'
import type { TimeRules } from './time-rules.ts'

/** What writes reports and what reads their questions. */
export interface ReportWriting {
  readonly generator: ReportGenerator
  readonly plans: PlanReader
  readonly checkSections: CheckSections
}

export interface ReportWritingDependencies extends Pick<DashboardDependencies, 'findSavedQuery'> {
  readonly answer: StatisticsService['answer']
  readonly describe: (companyId: string) => Promise<StatisticsMeta>
  readonly time: TimeRules
  readonly clock: Clock
}

/** Writes reports by rules: questions are read by a grammar, and texts tell what queries have found. */
export function createReportWriting(
  { answer, describe, findSavedQuery, time, clock }: ReportWritingDependencies,
  runQuery: RunQuery,
): ReportWriting {
  return {
    generator: createReportGenerator({ runQuery, describe, clock }),
    plans: createPlanReader({
      describe,
      time,
      questions: createQuestionReader(time),
      dashboards: createDashboardReader({ calendar: time, findSavedQuery }),
      findValues: createValueFinder({ answer }),
    }),
    checkSections,
  }
}
