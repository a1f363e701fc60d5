import { createHash, randomUUID } from 'node:crypto'
import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { RunQuery } from '../../src/features/reports/generator/evidence/evidence-source.ts'
import {
  createReportGenerator,
  type ReportGenerator,
} from '../../src/features/reports/generator/generate-report.ts'
import type { GenerationRequest } from '../../src/features/reports/generator/generation.ts'
import type { StatisticsService } from '../../src/features/statistics/statistics-service.ts'
import { DomainError } from '../../src/platform/errors.ts'

/** Runs queries on a statistics service as evidence, of which at most 500 rows are embedded. */
export function evidenceOf(statistics: StatisticsService): RunQuery {
  return async (query, { companyId, signal }) => {
    const executedAt = new Date().toISOString()
    try {
      const { pieces } = statistics.answer({ companyId, format: 'json', query, signal })
      let text = ''
      for await (const piece of pieces) text += piece
      const rows = JSON.parse(text) as Record<string, string | number | boolean | null>[]
      return evidence(query, rows, executedAt, text)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      const failure = { failureCode: error.errorName, failureMessage: error.message }
      return { ...evidence(query, [], executedAt, '[]'), state: 'failure', ...failure }
    }
  }
}

export function evidence(
  query: Evidence['query'],
  rows: readonly Record<string, string | number | boolean | null>[],
  executedAt = '2026-01-01T00:00:00.000Z',
  text = JSON.stringify(rows),
): Evidence {
  const embedded = rows
    .slice(0, 500)
    .map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, { value }])))
  return {
    id: randomUUID(),
    query,
    rows: embedded,
    sources: [
      { service: 'statistics', queryLayer: 'cube', members: [...query.measures, ...query.dimensions] },
    ],
    freshness: { capturedAt: executedAt },
    state: 'success',
    executedAt,
    durationMs: 0,
    rowCount: rows.length,
    embeddedRowCount: embedded.length,
    payloadBytes: text.length,
    resultHash: createHash('sha256').update(text).digest('hex'),
  }
}

export function generatorOf(statistics: StatisticsService): ReportGenerator {
  return createReportGenerator({
    runQuery: evidenceOf(statistics),
    describe: (companyId) => statistics.describe(companyId),
  })
}

/** A request of which unmentioned parts are ordinary. */
export function generationRequest(
  request: Pick<GenerationRequest, 'companyId' | 'analysis' | 'period' | 'comparisonWindows'> &
    Partial<GenerationRequest>,
): GenerationRequest {
  return {
    generationId: '65f0c0ffee5ca1ab1e0ddc01',
    locale: 'en',
    timezone: 'UTC',
    signal: new AbortController().signal,
    onProgress: () => {},
    kept: [],
    keep: async () => {},
    ...request,
  }
}
