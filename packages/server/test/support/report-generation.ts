import { createHash, randomUUID } from 'node:crypto'
import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import { add, startOf } from '../../src/features/analytics/query/time/calendar.ts'
import { readRange } from '../../src/features/analytics/query/time/dates.ts'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import type { StatisticsService } from '../../src/features/analytics/statistics-service.ts'
import { createEvidenceRunner } from '../../src/features/reports/evidence/evidence-runner.ts'
import {
  createReportGenerator,
  type ReportGenerator,
} from '../../src/features/reports/generator/generate-report.ts'
import type { GenerationRequest } from '../../src/features/reports/generator/generation.ts'
import { systemClock } from '../../src/platform/clock.ts'

/** The rules of zones and ranges that reports are given. */
export const timeRules = { openZone, startOf, add, readRange }

/** Runs queries on a statistics service as evidence, as reports do. */
export function evidenceOf({ answer, answerTogether }: StatisticsService) {
  return createEvidenceRunner({
    answer,
    answerTogether,
    readSettings: async () => ({ timezone: 'UTC' }),
    time: timeRules,
    clock: systemClock,
  })
}

/** What a query that was answered with these rows would be as evidence. */
export function evidence(
  query: Evidence['query'],
  rows: readonly Record<string, string | number | boolean | null>[],
): Evidence {
  const executedAt = '2026-01-01T00:00:00.000Z'
  const text = JSON.stringify(rows)
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
    time: timeRules,
  })
}

/** A request of which unmentioned parts are ordinary. */
export function generationRequest(
  request: Pick<GenerationRequest, 'companyId' | 'analysis' | 'period' | 'comparisonWindows'> &
    Partial<GenerationRequest>,
): GenerationRequest {
  return {
    readerId: null,
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
