import type { Query } from '@millrace/contract/resources/query.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LanguageModel } from '../../src/features/reports/language-model/language-model.ts'
import { createReportWriting } from '../../src/features/reports/report-writing.ts'
import { calendar } from '../support/questions.ts'
import { evidenceOf, generationRequest } from '../support/report-generation.ts'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, type StoredEvent, storedEvent, testCompany } from '../support/statistics-events.ts'

/** Questions from their words to the report, over stored events. */

let engine: StatisticsEngine
let app: StatisticsApp

const stores = ['Paris Nord', 'Orléans', 'Lyon'] as const
const day = 86_400_000
const first = Date.parse('2026-02-01T12:00:00Z')

/** Three orders a day of February 2026, in the stores by turns. */
const orders: StoredEvent[] = Array.from({ length: 28 * 3 }, (_, i) =>
  storedEvent({
    company: testCompany,
    eventId: `order-${i}`,
    name: 'purchase',
    tmpId: `person-${i % 20}`,
    transId: `t-${i}`,
    time: first + Math.floor(i / 3) * day,
    ids: [`sku-${i % 4}`],
    value: `${10 + (i % 7) + 3 * (i % 3)}.50`,
    labels: { storeName: stores[i % 3] ?? '' },
  }),
)
const foreign = storedEvent({
  company: otherCompany,
  eventId: 'foreign',
  name: 'purchase',
  transId: 'foreign',
  time: first,
  value: '1.00',
  labels: { storeName: 'Atlantis' },
})

beforeAll(async () => {
  engine = await openStatisticsEngine()
  app = await openStatisticsApp(engine.columnar)
  await engine.load([...orders, foreign])
  // Sets the company up.
  await app.rows({ measures: ['events.count'] })
})

afterAll(async () => {
  await app.app.close()
  await engine.close()
})

const context = {
  companyId: testCompany,
  readerId: null,
  now: Date.parse('2026-03-18T15:30:00Z'),
  timezone: 'UTC',
  locale: 'en',
} as const

function writingWith(options: { model?: LanguageModel; queries?: readonly Query[] } = {}) {
  return createReportWriting(
    {
      time: calendar,
      answer: app.service.answer,
      describe: app.service.describe,
      clock: { now: () => context.now },
      findSavedQuery: async () => options.queries && { name: 'Sales', queries: options.queries },
      validateQuery: app.service.validate,
      model: options.model,
    },
    (query, { companyId, readerId, signal = new AbortController().signal }) =>
      evidenceOf(app.service)(query, { companyId, readerId, signal }),
  )
}

async function answer(question: string, options: Parameters<typeof writingWith>[0] = {}) {
  const { plans, generator, checkSections } = writingWith(options)
  const { period, comparisonWindows, ...plan } = await plans.readQuestion(question, context)
  const report = await generator.generate(
    generationRequest({
      companyId: testCompany,
      locale: 'en',
      timezone: 'UTC',
      analysis: { kind: 'plan', ...plan },
      period,
      comparisonWindows,
    }),
  )
  expect(checkSections(report.sections, report.evidence, 'en', 'UTC')).toEqual([])
  return { plan, report }
}

const centsOf = (order: StoredEvent) => Math.round(Number(order.value) * 100)
const sum = (some: readonly StoredEvent[]) => some.reduce((total, order) => total + centsOf(order), 0) / 100
const textsOf = ({ sections }: Awaited<ReturnType<typeof answer>>['report'], kind: string) =>
  sections
    .filter((section) => section.kind === kind)
    .flatMap(({ paragraphs }) => paragraphs.map(({ text }) => text))

describe('a free question', () => {
  it('is answered by the rows that a plain computation gives', async () => {
    const { plan, report } = await answer('revenue by store name in February 2026')
    expect(plan.unread).toEqual([])
    const rows = report.evidence.find(({ query }) => query.limit === 100)?.rows
    const expected = stores
      .map((store) => [store, sum(orders.filter(({ labels }) => labels.storeName === store))] as const)
      .sort((a, b) => b[1] - a[1])
    expect(
      rows?.map((row) => [row['purchases.label.storeName']?.value, row['purchases.revenue']?.value]),
    ).toEqual(expected)
    expect(textsOf(report, 'answer').join(' ')).toContain(expected[0]?.[0])
  })

  it('finds a value of the company in its own label, whatever its accents', async () => {
    const { plan } = await answer('revenue in orleans in February 2026')
    const [asked] = plan.queries
    expect(asked?.query.filters).toEqual([
      { member: 'purchases.label.storeName', operator: 'equals', values: ['Orléans'] },
    ])
    const [row] = await app.rows(asked?.query ?? {})
    expect(row?.['purchases.revenue']).toBe(
      sum(orders.filter(({ labels }) => labels.storeName === 'Orléans')),
    )
  })

  it('finds no value of another company, and is limited (N03)', async () => {
    const { plan, report } = await answer('revenue in Atlantis in February 2026')
    expect(plan.unread).toEqual(['Atlantis'])
    expect(report.quality).toBe('limited')
    expect(report.sections.some(({ kind }) => kind === 'limits')).toBe(true)
  })

  it('that measures nothing is 400 at once, with what can be asked', async () => {
    const { status, body } = await app.post(
      { question: 'what is the weather?' },
      { path: '/v2/statistics/reports' },
    )
    expect({ status, body }).toMatchObject({
      status: 400,
      body: {
        error_code: 9550,
        data: { unread: ['weather'], measures: expect.arrayContaining(['Revenue']) },
      },
    })
  })

  it('about a saved query of another company is 404 (N04)', async () => {
    const body = { dashboardPath: '/v2/statistics/query/65f0c0ffee5ca1ab1e0ddba1', dashboardTitle: 'Sales' }
    expect((await app.post(body, { path: '/v2/statistics/reports' })).status).toBe(404)
  })
})

describe('a dashboard', () => {
  it('is answered by its queries, beside the period before', async () => {
    const query: Query = {
      measures: ['purchases.count'],
      dimensions: [],
      filters: [],
      timeDimensions: [{ dimension: 'purchases.time', dateRange: 'last month' }],
    }
    const { plans, generator } = writingWith({ queries: [query] })
    const id = '65f0c0ffee5ca1ab1e0ddba1'
    const { period, comparisonWindows, ...plan } = await plans.readDashboard(id, 'Sales', context)
    const report = await generator.generate(
      generationRequest({
        companyId: testCompany,
        timezone: 'UTC',
        analysis: { kind: 'plan', ...plan },
        period,
        comparisonWindows,
      }),
    )
    const [compared] = report.evidence.filter(({ query: asked }) =>
      asked.timeDimensions.some(({ compareDateRange }) => compareDateRange),
    )
    expect(compared?.rows.map((row) => [row.compareDateRange?.value, row['purchases.count']?.value])).toEqual(
      [
        ['2026-02-01 - 2026-02-28', orders.length],
        ['2026-01-01 - 2026-01-31', 0],
      ],
    )
  })
})

describe('with a language model', () => {
  const asked: string[] = []
  const model: LanguageModel = {
    async complete(messages) {
      const content = messages.at(-1)?.content ?? ''
      asked.push(content)
      const told = JSON.parse(content) as { question?: string; paragraphs?: { id: string; text: string }[] }
      if (told.paragraphs) {
        const paragraphs = told.paragraphs.map(({ id, text }) => ({ id, text: `Here it is: ${text}` }))
        return JSON.stringify({ paragraphs })
      }
      const query = {
        measures: ['purchases.count'],
        dimensions: ['purchases.label.storeName'],
        filters: [],
        timeDimensions: [{ dimension: 'purchases.time', dateRange: ['2026-02-01', '2026-02-28'] }],
      }
      return JSON.stringify({ queries: [query] })
    },
  }

  it('a question beyond the grammar is answered, phrased, checked and counted', async () => {
    const { plan, report } = await answer('how busy is each of our shops?', { model })
    expect(plan.queries.map(({ asks }) => asks)).toEqual(['Purchases by storeName'])
    expect(report.usage.agentTurns).toBeGreaterThanOrEqual(2)
    expect(textsOf(report, 'answer').some((text) => text.startsWith('Here it is: '))).toBe(true)
    // No value that is stored, and no figure, is told to the model.
    expect(asked.join('\n')).not.toMatch(/Paris Nord|Orléans/)
  })
})
