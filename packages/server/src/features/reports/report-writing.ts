import type { PlanReader, ReportGenerator } from './generations/generation.ts'
import { GenerationRefused } from './generations/generation-failure.ts'
import { checkSections } from './generator/checker/check-sections.ts'
import { createReportGenerator, type ReportGeneratorDependencies } from './generator/generate-report.ts'
import { GenerationFailure } from './generator/generation.ts'
import { createDashboardReader, type DashboardDependencies } from './questions/dashboard-reader.ts'
import { createQuestionReader, type FindValues, type QuestionContext } from './questions/question-reader.ts'
import type { ReportWriting } from './reports.ts'

export interface ReportWritingDependencies
  extends DashboardDependencies,
    Pick<ReportGeneratorDependencies, 'describe' | 'clock'> {
  readonly findValues: (caller: { readonly companyId: string }) => FindValues
}

/** Writes reports by rules: questions are read by a grammar, and texts tell what queries have found. */
export function createReportWriting(
  dependencies: ReportWritingDependencies,
  runQuery: ReportGeneratorDependencies['runQuery'],
): ReportWriting {
  const { calendar, describe, findValues } = dependencies
  const generator = createReportGenerator({ ...dependencies, runQuery })
  const questions = createQuestionReader(calendar)
  const dashboards = createDashboardReader(dependencies)
  return {
    generator: { generate: (request) => told(generator.generate(request)) },
    plans: {
      async readQuestion(question, { companyId, ...context }) {
        const meta = await describe(companyId)
        const asked: QuestionContext = { ...context, meta, findValues: findValues({ companyId }) }
        return questions.readQuestion(question, asked)
      },
      async readDashboard(path, title, { companyId, ...context }) {
        const meta = await describe(companyId)
        return dashboards.readDashboard({ companyId, path, title }, { ...context, meta })
      },
    } satisfies PlanReader,
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
