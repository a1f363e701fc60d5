import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkSections } from '../../src/features/reports/generator/checker/check-sections.ts'
import type { GenerationRequest } from '../../src/features/reports/generator/generation.ts'
import { generatedShop } from '../support/generated-shop.ts'
import { readOnlineRetail, realDataAbsent } from '../support/online-retail.ts'
import { evidenceOf, generationRequest, generatorOf } from '../support/report-generation.ts'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent } from '../support/statistics-events.ts'

const realCompany = '64b7f0a1c2d3e4f5a6b7c8db'
const signal = new AbortController().signal

let engine: StatisticsEngine
let app: StatisticsApp

beforeAll(async () => {
  engine = await openStatisticsEngine()
  app = await openStatisticsApp(engine.columnar)
})

afterAll(async () => {
  await app.app.close()
  await engine.close()
})

const days = (start: string, end: string) => ({
  start: `${start}T00:00:00.000Z`,
  end: `${end}T00:00:00.000Z`,
})

function textOf(sections: readonly ReportSection[], kind: ReportSection['kind']): string {
  return sections
    .filter((section) => section.kind === kind)
    .flatMap(({ paragraphs }) => paragraphs.map(({ text }) => text))
    .join('\n')
}

describe.skipIf(realDataAbsent)(`on the real data set${realDataAbsent ? `: ${realDataAbsent}` : ''}`, () => {
  beforeAll(async () => {
    await engine.load(await readOnlineRetail(realCompany))
  })

  beforeEach(() => {
    app.caller.companyId = realCompany
    app.timezone = 'UTC'
  })

  const year = {
    companyId: realCompany,
    currency: 'GBP',
    analysis: { kind: 'guided', guidedAnalysis: 'revenue' },
    period: days('2011-01-01', '2012-01-01'),
    comparisonWindows: { previousPeriod: days('2010-01-01', '2011-01-01') },
  } as const

  async function generate(request: Partial<GenerationRequest> = {}) {
    // Sets the company up.
    await app.rows({ measures: ['purchases.count'] })
    return generatorOf(app.service).generate(generationRequest({ ...year, ...request }))
  }

  it('names November 2011 as the peak month and the United Kingdom as its driver, as the queries say', async () => {
    const { sections, evidence } = await generate()
    const byMonth = await app.rows({
      measures: ['purchases.revenue'],
      timeDimensions: [
        { dimension: 'purchases.time', granularity: 'month', dateRange: ['2011-01-01', '2011-12-31'] },
      ],
    })
    const byCountry = await app.rows({
      measures: ['purchases.revenue'],
      dimensions: ['purchases.label.country'],
      timeDimensions: [
        { dimension: 'purchases.time', granularity: 'month', dateRange: ['2011-01-01', '2011-12-31'] },
      ],
    })
    const revenue = (row: Record<string, unknown>) => Number(row['purchases.revenue'])
    const month = (row: Record<string, unknown>) => String(row['purchases.time.month']).slice(0, 7)
    const excess = (rows: readonly Record<string, unknown>[]) => {
      const others = rows.filter((row) => month(row) !== '2011-11')
      const own = rows.find((row) => month(row) === '2011-11')
      return revenue(own ?? {}) - others.reduce((sum, row) => sum + revenue(row), 0) / 11
    }
    const british = byCountry.filter((row) => row['purchases.label.country'] === 'United Kingdom')
    const november = revenue(byMonth.find((row) => month(row) === '2011-11') ?? {})
    expect(Math.max(...byMonth.map(revenue))).toBe(november)
    const money = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2 })
    const share = (excess(british) / excess(byMonth)).toLocaleString('en-GB', {
      style: 'percent',
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
    })
    const ownNovember = revenue(british.find((row) => month(row) === '2011-11') ?? {})

    const told = textOf(sections, 'course')
    expect(told).toContain(
      `The month with the highest revenue is November 2011, with £${money.format(november)}.`,
    )
    expect(told).toContain(
      `By country, United Kingdom drove it: with £${money.format(ownNovember)} there, it makes ${share} of the excess`,
    )
    expect(textOf(sections, 'summary')).toContain('United Kingdom drove it')
    expect(checkSections(sections, evidence, 'en', 'UTC')).toEqual([])
  })

  it('says from which day on there are data, instead of comparing with a period that has few', async () => {
    const { sections, quality } = await generate()
    expect(textOf(sections, 'limits')).toContain('the data begin on 1 December 2010')
    expect(textOf(sections, 'limits')).toContain('After 9 December 2011 there are no data')
    expect(textOf(sections, 'change')).toBe('')
    expect(quality).toBe('limited')
  })

  it('divides the change of a month against the one before among countries', async () => {
    const { sections, quality } = await generate({
      period: days('2011-11-01', '2011-12-01'),
      comparisonWindows: { previousPeriod: days('2011-10-01', '2011-11-01') },
    })
    expect(quality).toBe('answered')
    expect(textOf(sections, 'drivers')).toContain(
      'Country United Kingdom: revenue rose from £938,975.01 to £1,325,346.21 (+41.1%).',
    )
  })

  it('finds bank holidays as extraordinary days and weekdays as a season', async () => {
    const { sections } = await generate()
    expect(textOf(sections, 'outliers')).toContain('On 2 May 2011 revenue was £0.00, far below')
    expect(textOf(sections, 'season')).toMatch(/the highest is Thursday .* the lowest Saturday/)
  })

  it('writes the same in French, in the forms of the language', async () => {
    const { sections, evidence, title } = await generate({ locale: 'fr', currency: 'EUR' })
    expect(title).toBe('Chiffre d’affaires')
    expect(textOf(sections, 'course')).toContain(
      'Le mois où le chiffre d’affaires est le plus haut est novembre 2011, avec 1\u202F509\u202F496,33\u00A0€.',
    )
    expect(checkSections(sections, evidence, 'fr', 'UTC')).toEqual([])
  })

  it('rests on queries that give the same rows again', async () => {
    const { evidence } = await generate()
    const run = evidenceOf(app.service)
    expect(evidence.length).toBeGreaterThan(8)
    for (const { query, resultHash } of evidence) {
      const again = await run(query, { companyId: realCompany, readerId: null, signal })
      expect(again.resultHash).toBe(resultHash)
    }
  })

  it('tells of mutated digits of the real report, every one', async () => {
    const { sections, evidence } = await generate()
    let mutated = 0
    for (const [i, section] of sections.entries()) {
      for (const [j, { text, figures }] of section.paragraphs.entries()) {
        for (const { index, 0: digit } of text.matchAll(/\d/g)) {
          const other = String((Number(digit) + 1) % 10)
          const paragraph = { figures, text: text.slice(0, index) + other + text.slice(index + 1) }
          const paragraphs = section.paragraphs.with(j, paragraph)
          const changed = sections.with(i, { ...section, paragraphs })
          mutated++
          expect(checkSections(changed, evidence, 'en', 'UTC')).not.toEqual([])
        }
      }
    }
    expect(mutated).toBeGreaterThan(100)
  })

  it('answers the queries of a question, and analyses its first measure', async () => {
    const { sections, quality, title } = await generate({
      analysis: {
        kind: 'plan',
        title: 'Orders by country',
        queries: [
          {
            query: {
              measures: ['purchases.count'],
              dimensions: ['purchases.label.country'],
              filters: [],
              timeDimensions: [{ dimension: 'purchases.time', dateRange: ['2011-11-01', '2011-11-30'] }],
              limit: 3,
            },
            asks: 'Orders by country',
            chart: 'bar',
          },
        ],
        unread: ['frobnicated', 'under 18'],
      },
      period: days('2011-11-01', '2011-12-01'),
      comparisonWindows: { previousPeriod: days('2011-10-01', '2011-11-01') },
    })
    expect(title).toBe('Orders by country')
    expect(quality).toBe('limited')
    const [british] = await app.rows({
      measures: ['purchases.count'],
      filters: [{ member: 'purchases.label.country', operator: 'equals', values: ['United Kingdom'] }],
      timeDimensions: [{ dimension: 'purchases.time', dateRange: '2011-11' }],
    })
    const count = Number(british?.['purchases.count']).toLocaleString('en-GB')
    expect(textOf(sections, 'answer')).toContain(`United Kingdom (${count})`)
    expect(textOf(sections, 'change')).toContain('The number of purchases rose from 2,040')
    expect(textOf(sections, 'limits')).toContain('“frobnicated”')
    expect(textOf(sections, 'limits')).not.toContain('18')
  })

  it('goes on with the evidence that an attempt before has kept', async () => {
    const kept: Evidence[] = []
    const first = await generate({ keep: async (each) => void kept.push(each) })
    const more: Evidence[] = []
    const second = await generate({ kept, keep: async (each) => void more.push(each) })
    expect(more).toEqual([])
    expect(second.usage.queryCount).toBe(0)
    expect(second.sections.map(({ paragraphs }) => paragraphs)).toEqual(
      first.sections.map(({ paragraphs }) => paragraphs),
    )
  })
})

describe('on a shop with contents of workflows', () => {
  const company = '64b7f0a1c2d3e4f5a6b7c8dc'
  const workflowId = '65f0c0ffee5ca1ab1e0ddba1'

  beforeAll(async () => {
    const shop = generatedShop({ company, seed: 3, from: '2026-01-31', days: 60, visitsPerDay: 120 })
    const buyers = new Map(shop.filter(({ name }) => name === 'purchase').map((each) => [each.tmpId, each]))
    const interactions = [...buyers.values()].flatMap((purchase, i) => {
      const labels = { ...purchase.labels, workflowId }
      const common = { ...purchase, transId: '', value: null, labels }
      const display = storedEvent({
        ...common,
        name: 'workflow_display',
        eventId: `d-${purchase.eventId}`,
        time: purchase.time - 120_000,
      })
      const click = storedEvent({
        ...common,
        name: 'workflow_click',
        eventId: `c-${purchase.eventId}`,
        time: purchase.time - 60_000,
      })
      return i % 2 === 0 ? [display, click] : [display]
    })
    await engine.load([...shop, ...interactions])
  })

  it.each(['impact', 'revenue', 'engagement', 'retention'] as const)(
    'plans queries for %s that the service answers, with figures that equal them',
    async (guidedAnalysis) => {
      app.caller.companyId = company
      await app.rows({ measures: ['events.count'] })
      const request = generationRequest({
        companyId: company,
        timezone: 'Europe/Paris',
        analysis: { kind: 'guided', guidedAnalysis },
        period: { start: '2026-03-01T23:00:00.000Z', end: '2026-03-31T22:00:00.000Z' },
        comparisonWindows: {
          previousPeriod: { start: '2026-01-30T23:00:00.000Z', end: '2026-03-01T23:00:00.000Z' },
        },
      })
      const { sections, evidence, usage } = await generatorOf(app.service).generate(request)
      expect(evidence.filter(({ state }) => state === 'failure')).toEqual([])
      expect(evidence.filter(({ rowCount, embeddedRowCount }) => rowCount > embeddedRowCount)).toEqual([])
      expect(checkSections(sections, evidence, 'en', 'Europe/Paris')).toEqual([])
      expect(usage.queryCount).toBeGreaterThan(7)
      expect(usage.queryCount).toBeLessThanOrEqual(45)
      expect(textOf(sections, 'summary')).not.toBe('')
    },
  )

  it('tells the impact of contents by workflow, as the query says', async () => {
    app.caller.companyId = company
    const [row] = await app.rows({
      measures: ['purchases.influencedRevenue'],
      timeDimensions: [{ dimension: 'purchases.time', dateRange: ['2026-03-02', '2026-03-31'] }],
    })
    const revenue = Number(row?.['purchases.influencedRevenue'])
    expect(revenue).toBeGreaterThan(0)
    const { sections } = await generatorOf(app.service).generate(
      generationRequest({
        companyId: company,
        analysis: { kind: 'guided', guidedAnalysis: 'impact' },
        period: days('2026-03-02', '2026-04-01'),
        comparisonWindows: { previousPeriod: days('2026-01-31', '2026-03-02') },
      }),
    )
    const text = revenue.toLocaleString('en-GB', { minimumFractionDigits: 2 })
    expect(textOf(sections, 'summary')).toContain(`Influenced revenue came to ${text} from 2 March 2026`)
    expect(textOf(sections, 'summary')).toMatch(/times contents of workflows were clicked/)
  })
})
