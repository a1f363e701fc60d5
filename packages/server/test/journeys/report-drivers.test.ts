import type { Report } from '@millrace/contract/resources/report.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkSections } from '../../src/features/reports/generator/checker/check-sections.ts'
import { type AccountsApp, createAccountsApp } from '../support/accounts.ts'
import { generatedShop } from '../support/generated-shop.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'

let engine: StatisticsEngine
let relational: Awaited<ReturnType<typeof createTestDatabase>>
let app: AccountsApp
let token: string

beforeAll(async () => {
  engine = await openStatisticsEngine()
  relational = await createTestDatabase()
  app = await createAccountsApp(relational, { columnar: engine.columnar })
  token = (await app.personWith('statistics:access')).token
  await engine.load(
    generatedShop({
      company: app.companyId,
      seed: 5,
      from: '2026-01-31',
      days: 60,
      visitsPerDay: 150,
      change: ({ country, day }) => (country === 'FR' && day >= 29 ? 0.3 : 1),
    }),
  )
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
  await engine.close()
})

async function call(method: 'GET' | 'POST', path: string, body?: Record<string, unknown>): Promise<Report> {
  const reply = await app.auth.call(token, method, `/v2/statistics/reports${path}`, body)
  expect(reply.statusCode, reply.body).toBe(200)
  return reply.json().data
}

it('a guided analysis tells the planted change, and its evidence gives the same rows again', async () => {
  const { id } = await call('POST', '', {
    guidedAnalysis: 'revenue',
    period: '2026-03',
  })
  while (await app.auth.services.reports.loops.worker.runOne());
  const report = await call('GET', `/${id}`)
  expect(report.lastGenerationFailure).toBeUndefined()
  const drivers = report.sections.filter(({ kind }) => kind === 'drivers')
  const text = drivers.flatMap(({ paragraphs }) => paragraphs.map((paragraph) => paragraph.text)).join('\n')
  expect(text).toContain('Country FR: the conversion rate (purchases per person) fell')
  expect(checkSections(report.sections, report.evidence, 'en', 'UTC')).toEqual([])
  const [first] = report.evidence
  const verified = await call('GET', `/${id}/evidence/${first?.id}/verify`)
  expect(verified).toMatchObject({ resultHash: first?.resultHash })
})
