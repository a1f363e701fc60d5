import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import { describeStatistics } from '../../src/features/analytics/statistics-meta.ts'
import { createReportGenerator } from '../../src/features/reports/generator/generate-report.ts'
import type { GenerationRequest } from '../../src/features/reports/generator/generation.ts'
import { evidence, generationRequest, timeRules } from './report-generation.ts'
import { storedEvent, testCompany } from './statistics-events.ts'
import { createOracle } from './statistics-oracle.ts'

const all = describeStatistics({ events: [], purchases: ['country'] }, { exactCounts: true })
/** One dimension is enough for what is told of members. */
const dimensions = Object.entries(all.dimensions).filter(([id]) => id === 'purchases.label.country')
const meta = { ...all, dimensions: Object.fromEntries(dimensions) }
export const day = 86_400_000
/** Sixty days: half of them are the period before. */
export const begin = Date.parse('2026-01-31T00:00:00Z')
export const middle = begin + 30 * day
export const windowOf = (start: number, end: number) => ({
  start: new Date(start).toISOString(),
  end: new Date(end).toISOString(),
})

/** What was sold on a day: an amount for each purchase, perhaps by country; null where nothing at all was collected. */
export type Sold = number | readonly number[] | Readonly<Record<string, number>> | null

/** The texts of a report over purchases of so many days, one after the other; visits came on each of them. */
export async function reportOfDays(
  days: readonly Sold[],
  request: Partial<GenerationRequest> = {},
  now = begin + 90 * day,
) {
  const old = storedEvent({ company: testCompany, time: begin - 400 * day, eventId: 'old', tmpId: 'old' })
  const oldPurchase = storedEvent({ ...old, name: 'purchase', eventId: 'old-p', transId: 'old', value: '1' })
  const events = days.flatMap((sold, i) => {
    if (sold === null) return []
    const time = begin + i * day + day / 2
    const common = { company: testCompany, time, tmpId: 'p' }
    const amounts = typeof sold === 'number' ? [sold] : Array.isArray(sold) ? sold : []
    const named = typeof sold === 'object' && !Array.isArray(sold) ? Object.entries(sold) : []
    const all = [...amounts.map((value) => ['FR', value] as const), ...named]
    return [
      storedEvent({ ...common, eventId: `v-${i}` }),
      ...all.map(([country, value], n) =>
        storedEvent({
          ...common,
          name: 'purchase',
          eventId: `b-${i}-${n}`,
          transId: `t-${i}-${n}`,
          value: value.toFixed(2),
          labels: { country },
        }),
      ),
    ]
  })
  const oracle = createOracle([old, oldPurchase, ...events])
  const { sections } = await createReportGenerator({
    describe: async () => meta,
    runQuery: async (query) => evidence(query, oracle.rows(query, 'UTC')),
    time: timeRules,
    clock: { now: () => now },
  }).generate(
    generationRequest({
      companyId: testCompany,
      analysis: { kind: 'guided', guidedAnalysis: 'revenue' },
      period: windowOf(middle, middle + 30 * day),
      comparisonWindows: { previousPeriod: windowOf(begin, middle) },
      ...request,
    }),
  )
  return (kind?: ReportSection['kind']) =>
    sections
      .filter((section) => kind === undefined || section.kind === kind)
      .flatMap(({ paragraphs }) => paragraphs.map(({ text }) => text))
      .join('\n')
      .replace(/[\u00A0\u202F]/g, ' ')
}
