import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import type { Clock } from '../../platform/clock.ts'
import type { StatisticsService } from '../analytics/statistics-service.ts'
import { createDashboardReader, type DashboardDependencies } from '../questions/dashboard-reader.ts'
import { createPlanReader } from '../questions/plan-reader.ts'
import { createQuestionReader } from '../questions/question-reader.ts'
import type { TimeRules } from '../questions/time-rules.ts'
import { createValueFinder } from '../questions/value-finder.ts'
import type { CheckSections, PlanReader, ReportGenerator } from './generations/generation.ts'
import { checkSections } from './generator/checker/check-sections.ts'
import { createReportGenerator, type ReportGeneratorDependencies } from './generator/generate-report.ts'
import type { LanguageModel } from './language-model/language-model.ts'
import { createModelPlanner, type ModelPlannerDependencies } from './language-model/model-planner.ts'
import { createPhrasedGenerator } from './language-model/phrased-generator.ts'
import { createPhraser } from './language-model/phraser.ts'

/** What writes reports and what reads their questions. */
export interface ReportWriting {
  readonly generator: ReportGenerator
  readonly plans: PlanReader
  readonly checkSections: CheckSections
}

export interface ReportWritingDependencies
  extends Pick<DashboardDependencies, 'findSavedQuery'>,
    Pick<ModelPlannerDependencies, 'validateQuery'> {
  readonly answer: StatisticsService['answer']
  readonly describe: (companyId: string) => Promise<StatisticsMeta>
  /** Reads what the grammar cannot, and phrases reports; undefined where there is none. */
  readonly model: LanguageModel | undefined
  readonly time: TimeRules
  readonly clock: Clock
}

/**
 * Writes reports by rules: questions are read by a grammar, and texts tell what queries have found. A language model
 * helps where there is one.
 */
export function createReportWriting(
  { answer, describe, findSavedQuery, validateQuery, model, time, clock }: ReportWritingDependencies,
  runQuery: ReportGeneratorDependencies['runQuery'],
): ReportWriting {
  const planner = model && createModelPlanner({ model, calendar: time, validateQuery })
  return {
    generator: createPhrasedGenerator(
      createReportGenerator({ runQuery, describe, time, clock }),
      model && createPhraser({ model, checkSections }).phrase,
    ),
    plans: createPlanReader({
      describe,
      questions: createQuestionReader(time),
      dashboards: createDashboardReader({ calendar: time, findSavedQuery }),
      findValues: createValueFinder({ answer }),
      ...(planner ? { planByModel: planner.plan } : {}),
    }),
    checkSections,
  }
}
