import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Query } from '@millrace/contract/resources/query.ts'
import { guidedAnalyses } from '@millrace/contract/resources/report.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import { describe, expect, it } from 'vitest'
import { describeStatistics } from '../../src/features/analytics/statistics-meta.ts'
import { checkSections } from '../../src/features/reports/generator/checker/check-sections.ts'
import { createReportGenerator } from '../../src/features/reports/generator/generate-report.ts'
import { GenerationFailure, type GenerationRequest } from '../../src/features/reports/generator/generation.ts'
import { generatedShop } from '../support/generated-shop.ts'
import { evidence, generationRequest, timeRules } from '../support/report-generation.ts'
import { storedEvent, testCompany } from '../support/statistics-events.ts'
import { createOracle } from '../support/statistics-oracle.ts'

const hostileLabel = 'tier 3%'
const hostileNames = ['<script>alert(1)</script>', '12 % \u202Emore\n', '   ', 'ö'.repeat(200)]
const shop = generatedShop({
  company: testCompany,
  seed: 11,
  from: '2026-01-31',
  days: 60,
  visitsPerDay: 60,
})
const events = [
  ...shop.map((event, i) => ({
    ...event,
    labels: { ...event.labels, [hostileLabel]: hostileNames[i % 4] ?? '' },
  })),
  ...shop.slice(-300).flatMap((event) => [
    storedEvent({
      ...event,
      name: 'workflow_display',
      eventId: `d-${event.eventId}`,
      transId: '',
      value: null,
    }),
    storedEvent({
      ...event,
      name: 'workflow_click',
      eventId: `c-${event.eventId}`,
      transId: '',
      value: null,
    }),
  ]),
]
const oracle = createOracle(events)
const meta = describeStatistics(
  { events: ['country', hostileLabel], purchases: ['country', hostileLabel] },
  { exactCounts: true },
)

const period = { start: '2026-03-02T00:00:00.000Z', end: '2026-04-01T00:00:00.000Z' }
const comparisonWindows = {
  previousPeriod: { start: '2026-01-31T00:00:00.000Z', end: '2026-03-02T00:00:00.000Z' },
  previousYear: { start: '2025-03-02T00:00:00.000Z', end: '2025-04-01T00:00:00.000Z' },
}

/** The plain computation knows nothing of credits: there are none here. */
function answer(query: Query): Evidence {
  const isOfCredits = query.measures.some((id) =>
    /purchases\.(influenced|direct|afterClick|timeFrom)/.test(id),
  )
  if (!isOfCredits) return evidence(query, oracle.rows(query, 'UTC'))
  const isTotal =
    query.dimensions.length === 0 && !query.timeDimensions.some(({ granularity }) => granularity)
  const rows = isTotal
    ? oracle.rows({ ...query, measures: ['purchases.count'] }, 'UTC').map((row) => ({
        compareDateRange: row.compareDateRange ?? null,
        ...Object.fromEntries(query.measures.map((id) => [id, id === 'purchases.timeFromClick' ? null : 0])),
      }))
    : []
  return evidence(query, rows)
}

function generate(
  request: Partial<GenerationRequest> = {},
  runQuery: (query: Query, signal: AbortSignal) => Promise<Evidence> = async (query) => answer(query),
  now = Date.parse('2026-05-01T00:00:00Z'),
) {
  return createReportGenerator({
    describe: async () => meta,
    time: timeRules,
    runQuery: (query, { signal }) => runQuery(query, signal),
    clock: { now: () => now },
  }).generate(
    generationRequest({
      companyId: testCompany,
      analysis: { kind: 'guided', guidedAnalysis: 'revenue' },
      period,
      comparisonWindows,
      ...request,
    }),
  )
}

function textOf(sections: readonly ReportSection[], kind?: ReportSection['kind']): string {
  return sections
    .filter((section) => kind === undefined || section.kind === kind)
    .flatMap(({ paragraphs }) => paragraphs.map(({ text }) => text))
    .join('\n')
}

describe('every guided analysis', () => {
  it.each(guidedAnalyses.flatMap((each) => [[each, 'en'] as const, [each, 'fr'] as const]))(
    '%s is written in %s with figures that its evidence gives, whatever members are called',
    async (guidedAnalysis, locale) => {
      const { sections, evidence, usage, title } = await generate({
        locale,
        analysis: { kind: 'guided', guidedAnalysis },
      })
      expect(title).not.toBe('')
      expect(sections.length).toBeGreaterThan(1)
      expect(checkSections(sections, evidence, locale, 'UTC')).toEqual([])
      expect(usage.queryCount).toBe(evidence.length)
      expect(usage.queryCount).toBeLessThanOrEqual(45)
      expect(new Set(sections.map(({ id }) => id)).size).toBe(sections.length)
      expect(textOf(sections)).not.toMatch(/undefined|null|NaN|\$\{|\n\n/)
    },
  )

  it('impact tells displays and clicks, and what is absent', async () => {
    const { sections, quality } = await generate({ analysis: { kind: 'guided', guidedAnalysis: 'impact' } })
    const text = textOf(sections)
    expect(text).toMatch(/\d+ times contents of workflows were clicked, with \d+ persons\./)
    expect(text).toContain('No person was exposed to an experiment.')
    expect(text).toContain('No purchase follows a display or a click')
    expect(quality).toBe('limited')
  })

  it('names totals as the queries give them', async () => {
    const { sections } = await generate()
    const [row] = oracle.rows(
      {
        measures: ['purchases.revenue', 'purchases.count'],
        dimensions: [],
        filters: [],
        timeDimensions: [{ dimension: 'purchases.time', dateRange: [period.start, period.end] }],
      },
      'UTC',
    )
    const revenue = Number(row?.['purchases.revenue']).toLocaleString('en-GB', { minimumFractionDigits: 2 })
    expect(textOf(sections, 'summary')).toContain(
      `Revenue came to ${revenue} from 2 March 2026 to 31 March 2026. The number of purchases was ${row?.['purchases.count']}.`,
    )
    expect(textOf(sections, 'limits')).toContain(
      'Nothing is compared with the same period of the year before: there are no data of it.',
    )
  })
})

it('compares with the same period of the year before where there are data of it', async () => {
  const earlier = { start: '2026-02-05T00:00:00.000Z', end: '2026-03-02T00:00:00.000Z' }
  const { sections, evidence } = await generate({
    comparisonWindows: { ...comparisonWindows, previousYear: earlier },
  })
  const totals = evidence.find(({ query }) => query.measures.includes('purchases.buyers'))
  const [now, , yearBefore] = (totals?.rows ?? []).map((row) => Number(row['purchases.count']?.value))
  const verb = (now ?? 0) > (yearBefore ?? 0) ? 'rose' : 'fell'
  expect(textOf(sections, 'change')).toContain(
    `The number of purchases ${verb} from ${yearBefore} in the same period of the year before to ${now} (`,
  )
})

describe('charts', () => {
  it('are specifications whose fields are columns of the evidence that they draw', async () => {
    const { sections, evidence } = await generate()
    const charts = sections.flatMap(({ chart }) => (chart ? [chart] : []))
    expect(charts.length).toBeGreaterThan(2)
    for (const { evidenceId, specification } of charts) {
      const drawn = evidence.find(({ id }) => id === evidenceId)
      const { $schema, data, mark, encoding } = specification as {
        $schema: string
        data: unknown
        mark: { type: string }
        encoding: Record<string, { field: string; type?: string }>
      }
      expect($schema).toBe('https://vega.github.io/schema/vega-lite/v5.json')
      expect(data).toEqual({ name: evidenceId })
      expect(['bar', 'line']).toContain(mark.type)
      for (const { field } of Object.values(encoding)) {
        const column = field.replace(/\\(.)/g, '$1')
        expect(Object.keys(drawn?.rows[0] ?? {})).toContain(column)
      }
    }
  })
})

describe('queries', () => {
  it('have instants as ranges and name their time zone, so that they can be run again', async () => {
    const { evidence } = await generate({ timezone: 'UTC' })
    for (const { query } of evidence) {
      expect(query.timezone).toBe('UTC')
      for (const { dateRange, compareDateRange } of query.timeDimensions) {
        const ranges = compareDateRange ?? [dateRange]
        for (const range of ranges) {
          expect(range).toEqual([expect.stringMatching(/T.*Z$/), expect.stringMatching(/T.*Z$/)])
        }
      }
    }
  })

  it('run two at once, and tell their progress', async () => {
    let [running, most] = [0, 0]
    const told: number[] = []
    await generate({ onProgress: (fraction) => told.push(fraction) }, async (query) => {
      running++
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return answer(query)
    })
    expect(most).toBe(2)
    expect(told.toSorted((a, b) => a - b)).toEqual(told)
    expect(told.at(-1)).toBeGreaterThan(0.5)
    expect(Math.max(...told)).toBeLessThan(1)
  })

  it('end when the generation is cancelled, and no further one begins', async () => {
    const controller = new AbortController()
    let asked = 0
    const cancelled = generate({ signal: controller.signal }, async (query, signal) => {
      asked++
      if (asked === 3) controller.abort(new Error('cancelled'))
      signal.throwIfAborted()
      return answer(query)
    })
    await expect(cancelled).rejects.toThrow('cancelled')
    await new Promise((resolve) => setImmediate(resolve))
    expect(asked).toBeLessThanOrEqual(4)
  })

  const failure = (query: Query): Evidence => ({
    ...evidence(query, []),
    state: 'failure',
    failureCode: 'timeout',
    failureMessage: 'the query took longer than 30 s',
  })

  it('that fail leave the report without what they would have said, which it says', async () => {
    const { sections, quality, evidence } = await generate({}, async (query) =>
      query.dimensions.includes('purchases.deviceType') ? failure(query) : answer(query),
    )
    expect(quality).toBe('limited')
    expect(textOf(sections, 'limits')).toContain('A query failed')
    expect(textOf(sections, 'summary')).toContain('Revenue came to')
    expect(evidence.some(({ state }) => state === 'failure')).toBe(true)
  })

  it('that all fail end the generation with the code of the first', async () => {
    await expect(generate({}, async (query) => failure(query))).rejects.toMatchObject({
      name: 'GenerationFailure',
      code: 'timeout',
    })
    expect(new GenerationFailure('timeout', 'late')).toBeInstanceOf(Error)
  })

  it('are stored as they come, so that a generation whose store fails ends', async () => {
    const keep = async () => {
      throw new Error('the disk is full')
    }
    await expect(generate({ keep })).rejects.toThrow('the disk is full')
  })
})

describe('a period that is not over', () => {
  it('is told up to its last whole day, against as many days before', async () => {
    const now = Date.parse('2026-03-12T15:00:00Z')
    const { sections, evidence } = await generate({}, undefined, now)
    expect(textOf(sections, 'limits')).toContain('The period is not over')
    expect(textOf(sections, 'summary')).toContain('from 2 March 2026 to 11 March 2026')
    const totals = evidence.find(({ query }) => query.measures.includes('purchases.buyers'))
    expect(totals?.query.timeDimensions[0]?.compareDateRange).toEqual([
      ['2026-03-02T00:00:00.000Z', '2026-03-12T00:00:00.000Z'],
      ['2026-02-20T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
      ['2025-03-02T00:00:00.000Z', '2025-03-12T00:00:00.000Z'],
    ])
  })
})

describe('a period without anything', () => {
  it('says so, and nothing else', async () => {
    const empty = { start: '2030-01-01T00:00:00.000Z', end: '2030-02-01T00:00:00.000Z' }
    const previousPeriod = { start: '2029-12-01T00:00:00.000Z', end: '2030-01-01T00:00:00.000Z' }
    const { sections, quality } = await generate(
      { period: empty, comparisonWindows: { previousPeriod } },
      undefined,
      Date.parse('2031-01-01T00:00:00Z'),
    )
    expect(sections.map(({ kind }) => kind)).toEqual(['limits'])
    expect(textOf(sections)).toContain('There is nothing in the period that revenue could be computed from.')
    expect(quality).toBe('limited')
  })
})

describe('a question', () => {
  const query = (more: Partial<Query>): Query => ({
    measures: ['purchases.averageOrderValue'],
    dimensions: [],
    filters: [],
    timeDimensions: [{ dimension: 'purchases.time', dateRange: [period.start, period.end] }],
    ...more,
  })
  const plan = (queries: Query[], asks = 'Average order value', unread: string[] = []) =>
    generate({
      analysis: {
        kind: 'plan',
        title: asks,
        queries: queries.map((each) => ({
          query: each,
          asks,
          chart: each.dimensions.length > 0 ? 'bar' : 'line',
        })),
        unread,
      },
    })

  it('is answered by totals, courses, members and compared ranges', async () => {
    const time = { dimension: 'purchases.time', dateRange: [period.start, period.end] }
    const { sections, quality } = await plan([
      query({}),
      query({ timeDimensions: [{ ...time, granularity: 'week' }] }),
      query({ dimensions: ['purchases.label.country'] }),
      query({ measures: ['events.count'], dimensions: ['events.label.country'], timeDimensions: [] }),
      query({
        timeDimensions: [
          {
            dimension: 'purchases.time',
            compareDateRange: [
              [period.start, period.end],
              [comparisonWindows.previousPeriod.start, comparisonWindows.previousPeriod.end],
            ],
          },
        ],
      }),
    ])
    const text = textOf(sections, 'answer')
    expect(text).toContain('The average order value was')
    expect(text).toContain('The week with the highest average order value is that which holds')
    expect(text).toMatch(/The rows of the answer begin with [A-Z]{2} \([\d.,]+\)/)
    expect(text).toContain('2026-01-31 - 2026-03-01 – the average order value was')
    expect(textOf(sections, 'change')).toContain('The average order value')
    expect(quality).toBe('answered')
  })

  it('names each row by all of its groups and its time, and takes no row for a total', async () => {
    const dateRange: [string, string] = [period.start, period.end]
    const by = (granularity: 'month' | 'year' | 'quarter' | 'hour', dimensions: string[] = []) =>
      query({ dimensions, timeDimensions: [{ dimension: 'purchases.time', dateRange, granularity }] })
    const { sections } = await plan([
      by('month', ['purchases.label.country']),
      by('year'),
      by('quarter'),
      by('hour'),
      query({ dimensions: ['purchases.label.country', 'purchases.deviceType'] }),
    ])
    const texts = sections.filter(({ kind }) => kind === 'answer').map((each) => textOf([each], 'answer'))
    const begin = 'The rows of the answer begin with'
    expect(texts).toEqual([
      expect.stringMatching(new RegExp(`^${begin} [A-Z]{2}, March 2026 \\([\\d.]+\\)`)),
      expect.stringMatching(new RegExp(`^${begin} 2026 \\([\\d.]+\\)\\.$`)),
      expect.stringMatching(new RegExp(`^${begin} 1 January 2026 \\([\\d.]+\\)\\.$`)),
      expect.stringMatching(new RegExp(`^${begin} 2026-03-02T\\d\\d:00`)),
      expect.stringMatching(new RegExp(`^${begin} [A-Z]{2}, [a-z]+ \\([\\d.]+\\)`)),
    ])
  })

  it('tells neither sum nor peak of a course that the evidence holds a part of', async () => {
    const time = { dimension: 'purchases.time', dateRange: [period.start, period.end] as [string, string] }
    const daily = query({ measures: ['purchases.count'], timeDimensions: [{ ...time, granularity: 'day' }] })
    const whole = await plan([daily])
    expect(textOf(whole.sections, 'answer')).toContain('The day with the highest number of purchases is')
    const { sections } = await plan([{ ...daily, limit: 5 }])
    expect(textOf(sections, 'answer')).toMatch(
      /^The rows of the answer begin with 2 March 2026 \(\d+\)[^.]*\.$/,
    )
  })

  it('has a title without numbers, which could not be proven there', async () => {
    const { sections } = await plan([query({ limit: 10 })], 'Top 10 of 2026')
    expect(sections[0]?.title).toBe('Answer')
  })

  it('without any query says what was not understood', async () => {
    const { sections, quality } = await plan([], 'x', ['how tall is it'])
    expect(textOf(sections, 'limits')).toContain('“how tall is it”')
    expect(quality).toBe('limited')
  })

  it('cuts what was not understood between characters', async () => {
    const { sections } = await plan([], 'x', [`x${'😀'.repeat(60)}`])
    expect(textOf(sections, 'limits')).toContain('“x😀')
    expect(textOf(sections, 'limits').isWellFormed()).toBe(true)
  })
})
