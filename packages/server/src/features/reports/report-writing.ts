import type { PlanReader, ReportGenerator } from './generations/generation.ts'
import { GenerationRefused } from './generations/generation-failure.ts'
import { checkSections } from './generator/checker/check-sections.ts'
import { createReportGenerator, type ReportGeneratorDependencies } from './generator/generate-report.ts'
import { GenerationFailure } from './generator/generation.ts'
import type { LanguageModel } from './language-model/language-model.ts'
import { createModelPlanner, type ModelPlannerDependencies } from './language-model/model-planner.ts'
import { createPhrasedGenerator } from './language-model/phrased-generator.ts'
import { createPhraser } from './language-model/phraser.ts'
import { createDashboardReader, type DashboardDependencies } from './questions/dashboard-reader.ts'
import { createPlanReader } from './questions/plan-reader.ts'
import { createQuestionReader, type FindValues } from './questions/question-reader.ts'
import type { ReportWriting } from './reports.ts'

export interface ReportWritingDependencies
  extends DashboardDependencies,
    Pick<ReportGeneratorDependencies, 'describe' | 'clock'>,
    Pick<ModelPlannerDependencies, 'validateQuery'> {
  readonly findValues: (caller: { readonly companyId: string }) => FindValues
  /** Reads what the grammar cannot, and phrases reports; undefined where there is none. */
  readonly model: LanguageModel | undefined
}

/** Writes reports by rules: questions are read by a grammar, and texts tell what queries have found. */
export function createReportWriting(
  dependencies: ReportWritingDependencies,
  runQuery: ReportGeneratorDependencies['runQuery'],
): ReportWriting {
  const { calendar, describe, findValues, validateQuery, model } = dependencies
  const generator = createReportGenerator({ ...dependencies, runQuery })
  const planner = model && createModelPlanner({ model, calendar, validateQuery })
  return {
    generator: createPhrasedGenerator(
      { generate: (request) => told(generator.generate(request)) },
      model && createPhraser({ model, checkSections }).phrase,
    ),
    plans: createPlanReader({
      describe,
      questions: createQuestionReader(calendar),
      dashboards: createDashboardReader(dependencies),
      findValues,
      ...(planner ? { planByModel: planner.plan } : {}),
    }) satisfies PlanReader,
    checkSections,
  }
}

/** A report of which no query was answered, as a failure that users are told and may try again. */
async function told(
  report: ReturnType<ReportGenerator['generate']>,
): ReturnType<ReportGenerator['generate']> {
  try {
    return await report
  } catch (error) {
    if (error instanceof GenerationFailure) throw new GenerationRefused('no-data', error.message)
    throw error
  }
}
