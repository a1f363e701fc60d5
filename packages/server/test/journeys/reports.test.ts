import type { EvidenceCheck, Report, ReportSummary } from '@millrace/contract/resources/report.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkSections } from '../../src/features/reports/generator/checker/check-sections.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'
import { until } from '../support/until.ts'

/** A whole service on real stores: reports of events that were collected, in English and French, and after a kill. */

let service: Service

const day = 86_400_000
const today = Math.floor(Date.now() / day) * day

beforeAll(async () => {
  service = await startService()
  const events = Array.from({ length: 60 }, (_, i) =>
    Array.from({ length: 3 + (i % 4) }, (_each, j) => ({
      ...{ key: service.companyId, name: 'purchase', url: 'https://shop.example/', v: 1 },
      ...{
        tmpId: `device-${i % 7}-${j}`,
        eventId: `event-${i}-${j}`,
        timestamp: today - i * day - j * 1_000,
      },
      data: { ids: ['a'], value: 10 + j, transId: `order-${i}-${j}`, country: j % 2 === 0 ? 'FR' : 'DE' },
    })),
  ).flat()
  const reply = await fetch(service.trackerUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
  expect(reply.status).toBe(200)
  const query = { measures: ['purchases.count'], dimensions: [], filters: [], timeDimensions: [] }
  await until(async () => (await service.query(query))[0]?.['purchases.count'] === events.length)
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  removeData(service)
})

const read = (id: string) => service.dataOf<Report>('GET', `/statistics/reports/${id}`)

/** The report once nothing of it is under way. */
async function whenDone(id: string): Promise<Report> {
  await expect.poll(async () => (await read(id)).activeGeneration, { interval: 200 }).toBeUndefined()
  return read(id)
}

const make = async (body: unknown) =>
  whenDone((await service.dataOf<Report>('POST', '/statistics/reports', body)).id)

function expectProven({ sections, evidence, locale, timezone }: Report): void {
  expect(sections.length).toBeGreaterThan(0)
  expect(evidence.length).toBeGreaterThan(0)
  expect(checkSections(sections, evidence, locale, timezone)).toEqual([])
}

test('a guided analysis states only what its evidence gives, and a question and a follow-up are answered', async () => {
  const report = await make({ guidedAnalysis: 'revenue', locale: 'fr' })
  expect(report.lastGenerationFailure).toBeUndefined()
  expectProven(report)
  expect(report).toMatchObject({
    guidedAnalysis: 'revenue',
    locale: 'fr',
    publicationQuality: expect.any(String),
  })
  for (const { id } of report.evidence.slice(0, 5)) {
    const check = await service.dataOf<EvidenceCheck>(
      'GET',
      `/statistics/reports/${report.id}/evidence/${id}/verify`,
    )
    expect(check).toMatchObject({ matches: true, presentHash: check.resultHash })
  }
  for (const { query } of report.evidence) {
    expect(query.timezone).toBe('UTC')
    for (const { dateRange } of query.timeDimensions) {
      for (const bound of [dateRange ?? []].flat()) expect(bound ?? '2026-').toMatch(/^\d{4}-/)
    }
  }
  await service.dataOf('POST', `/statistics/reports/${report.id}/follow-ups`, { question: 'achats par pays' })
  const followed = await whenDone(report.id)
  expectProven(followed)
  expect(followed.sectionCount).toBeGreaterThan(report.sectionCount)
  expect(followed.sections.some(({ question }) => question === 'achats par pays')).toBe(true)
})

test('a free question is answered, of which a part may stay unread', async () => {
  const report = await make({ question: 'purchases by device type last 30 days' })
  expectProven(report)
  expect(report.evidence[0]?.query.measures).toContain('purchases.count')
  const limited = await make({ question: 'purchases in Atlantis last 30 days' })
  expect(limited.lastGenerationFailure).toBeUndefined()
  expect(limited.publicationQuality).toBe('limited')
  expect(limited.sections.at(-1)?.kind).toBe('limits')
  expect(JSON.stringify(limited.sections.at(-1))).toContain('Atlantis')
  const [first] = await service.dataOf<ReportSummary[]>('GET', '/statistics/reports')
  expect(first).toMatchObject({ id: limited.id, sectionCount: limited.sections.length })
  expect(first).not.toHaveProperty('sections')
  const unreadable = await service.call('POST', '/v2/statistics/reports', { question: 'the weather' })
  expect([unreadable.status, (await unreadable.json()) as unknown]).toMatchObject([400, { error_code: 9550 }])
})

test('a dashboard is read from its saved query', async () => {
  const { id } = await service.dataOf<{ id: string }>('POST', '/statistics/query/save', {
    name: 'Purchases',
    queries: [
      {
        measures: ['purchases.count'],
        dimensions: [],
        filters: [],
        timeDimensions: [{ dimension: 'purchases.time', granularity: 'day', dateRange: 'last 14 days' }],
      },
    ],
  })
  const report = await make({ dashboardPath: `/v2/statistics/query/${id}`, dashboardTitle: 'Purchases' })
  expectProven(report)
  expect(report.origin).toMatchObject({ type: 'dashboard', dashboardTitle: 'Purchases' })
  const missing = await service.call('POST', '/v2/statistics/reports', {
    dashboardPath: `/v2/statistics/query/${'f'.repeat(24)}`,
    dashboardTitle: 'Purchases',
  })
  expect(missing.status).toBe(404)
})
