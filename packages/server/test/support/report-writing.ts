import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { Plan } from '../../src/features/questions/plan-reader.ts'
import type { RunQuery } from '../../src/features/reports/evidence/evidence-runner.ts'
import { GenerationFailure, type GenerationRequest } from '../../src/features/reports/generator/generation.ts'
import type { ReportWriting } from '../../src/features/reports/report-writing.ts'
import { DomainError } from '../../src/platform/errors.ts'

const query = (...measures: string[]): Query => ({
  measures,
  dimensions: [],
  filters: [],
  timeDimensions: [],
})

/** A writer that runs a few queries and states their first cell; what it does between them is in the hands of a test. */
export interface PlainWriting {
  /** How often each measure was asked for, by the number of the query. */
  readonly asked: string[]
  readonly requests: GenerationRequest[]
  /** Runs before each query. */
  beforeQuery: (index: number, request: GenerationRequest) => Promise<unknown> | undefined
  /** What is wrong with every text. */
  faults: string[]
  quality: 'answered' | 'limited'
  readonly writing: (runQuery: RunQuery) => ReportWriting
}

const measures = ['events.count', 'events.people', 'events.sessions'] as const

function sectionOf(request: GenerationRequest, evidence: readonly Evidence[]): ReportSection {
  const { analysis, generationId } = request
  const [first] = evidence
  const [column = ''] = Object.keys(first?.rows[0] ?? {})
  const text = String(first?.rows[0]?.[column]?.value ?? '')
  return {
    id: `section-${generationId}`,
    kind: analysis.kind === 'guided' ? 'summary' : 'answer',
    title: 'What was found',
    paragraphs: [
      {
        text,
        figures: first
          ? [
              {
                ...{ start: 0, end: text.length, computation: 'value', form: 'number', decimals: 0 },
                cells: [{ evidenceId: first.id, row: 0, column }],
              },
            ]
          : [],
      },
    ],
    generationId,
  }
}

export function createPlainWriting(): PlainWriting {
  const plain: PlainWriting = {
    asked: [],
    requests: [],
    beforeQuery: () => undefined,
    faults: [],
    quality: 'answered',
    writing: (runQuery) => ({
      generator: {
        async generate(request) {
          plain.requests.push(request)
          const { analysis, companyId, readerId, signal } = request
          const evidence: Evidence[] = []
          const queries =
            analysis.kind === 'plan'
              ? analysis.queries.map((each) => each.query)
              : measures.map((each) => query(each))
          for (const [i, each] of queries.entries()) {
            await plain.beforeQuery(i, request)
            signal.throwIfAborted()
            const [measure = ''] = each.measures
            const known = request.kept.find((kept) => kept.query.measures[0] === measure)
            if (known) {
              evidence.push(known)
              continue
            }
            plain.asked.push(measure)
            const read = await runQuery(each, { companyId, readerId, signal })
            await request.keep(read)
            evidence.push(read)
            request.onProgress((i + 1) / queries.length)
          }
          const [first] = evidence
          if (first && evidence.every(({ state }) => state === 'failure')) {
            throw new GenerationFailure(first.failureCode ?? '', first.failureMessage ?? '')
          }
          return {
            title: analysis.kind === 'plan' ? analysis.title : `About ${analysis.guidedAnalysis}`,
            sections: [sectionOf(request, evidence)],
            evidence,
            quality: plain.quality,
            usage: {
              queryCount: evidence.length,
              rowCount: evidence.length,
              payloadBytes: 10,
              agentTurns: 0,
              durationMs: 5,
            },
          }
        },
      },
      plans: {
        async requireQuestion() {},
        async readQuestion(question, { now }): Promise<Plan> {
          if (question === 'unreadable')
            throw new DomainError('invalidQuery', { errors: [{ path: '', message: 'no' }], members: [] })
          const end = new Date(now).toISOString()
          const period = { start: new Date(now - 86_400_000).toISOString(), end }
          return {
            title: `Answer to ${question}`,
            queries: [{ query: query('events.count'), asks: 'how many events', chart: 'table' }],
            period,
            comparisonWindows: { previousPeriod: period },
            unread: [],
            agentTurns: 0,
          }
        },
        async readDashboard(path, title, context) {
          if (path !== 'known') throw new DomainError('savedQueryNotFound', { id: path })
          return { ...(await this.readQuestion(title, context)), title }
        },
      },
      checkSections: () => plain.faults.map((message) => ({ message })),
    }),
  }
  return plain
}
