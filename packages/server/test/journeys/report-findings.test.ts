import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { describe, expect, it } from 'vitest'
import { describeStatistics } from '../../src/features/analytics/statistics-meta.ts'
import { createReportGenerator } from '../../src/features/reports/generator/generate-report.ts'
import type { GenerationRequest } from '../../src/features/reports/generator/generation.ts'
import { generatedShop, type ShopOptions } from '../support/generated-shop.ts'
import { times } from '../support/long.ts'
import { evidence, generationRequest, timeRules } from '../support/report-generation.ts'
import { testCompany } from '../support/statistics-events.ts'
import { createOracle } from '../support/statistics-oracle.ts'

const meta: StatisticsMeta = describeStatistics(
  { events: ['country'], purchases: ['country'] },
  { exactCounts: true },
)
const period = { start: '2026-03-02T00:00:00.000Z', end: '2026-04-01T00:00:00.000Z' }
const previousPeriod = { start: '2026-01-31T00:00:00.000Z', end: '2026-03-02T00:00:00.000Z' }

/** A report over events in memory, whose queries a plain computation answers. */
async function report(
  shop: Partial<ShopOptions> & Pick<ShopOptions, 'seed'>,
  request: Partial<GenerationRequest> = {},
) {
  const events = generatedShop({
    company: testCompany,
    from: '2026-01-31',
    days: 60,
    visitsPerDay: 200,
    ...shop,
  })
  const oracle = createOracle(events)
  const generator = createReportGenerator({
    describe: async () => meta,
    time: timeRules,
    runQuery: async (query) => evidence(query, oracle.rows(query, 'UTC')),
  })
  return generator.generate(
    generationRequest({
      companyId: testCompany,
      analysis: { kind: 'guided', guidedAnalysis: 'revenue' },
      period,
      comparisonWindows: { previousPeriod },
      ...request,
    }),
  )
}

function textOf(sections: readonly ReportSection[], kind: ReportSection['kind']): string {
  return sections
    .filter((section) => section.kind === kind)
    .flatMap(({ paragraphs }) => paragraphs.map(({ text }) => text))
    .join('\n')
}

describe('data in which nothing changes', () => {
  it.each([
    ['revenue', times(100, 3)],
    ['engagement', times(20, 1)],
  ] as const)(
    'give %s no driver in 95 of 100 sets (%d here)',
    { timeout: 3_000_000 },
    async (guidedAnalysis, sets) => {
      const wrong: string[] = []
      for (let seed = 1; seed <= sets; seed++) {
        const { sections } = await report({ seed }, { analysis: { kind: 'guided', guidedAnalysis } })
        const drivers = textOf(sections, 'drivers').replaceAll(/^No member .*$/gm, '')
        if (drivers.trim() !== '') wrong.push(`${seed}: ${drivers}`)
        else if (textOf(sections, 'course').includes('drove it')) wrong.push(`${seed}: peak`)
      }
      expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(Math.floor(sets * 0.05))
    },
  )
})

describe('a planted change', () => {
  const sets = times(20, 1)

  it('of one country’s conversion, which halves on a day, is found with its day', {
    timeout: 600_000 + 30_000 * sets,
  }, async () => {
    let dated = 0
    for (let seed = 1; seed <= sets; seed++) {
      const { sections } = await report({
        seed,
        visitsPerDay: 400,
        change: ({ country, day }) => (country === 'FR' && day >= 40 ? 0.5 : 1),
      })
      const drivers = textOf(sections, 'drivers')
      expect(drivers).toContain('Country FR: the conversion rate (purchases per person) fell')
      expect(drivers).not.toMatch(/Country (DE|US|ES|IT|NL)/)
      // Day 40 is 12 March.
      if (/changed on (9|10|11|12|13|14|15) March 2026/.test(drivers)) dated++
    }
    expect(dated).toBeGreaterThanOrEqual(sets * 0.6)
  })
})
