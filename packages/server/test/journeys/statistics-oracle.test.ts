import type { Query } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { spread, times } from '../support/long.ts'
import { readOnlineRetail, realDataAbsent } from '../support/online-retail.ts'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, testCompany } from '../support/statistics-events.ts'
import { createOracle, type Oracle } from '../support/statistics-oracle.ts'
import { sampleQueries } from '../support/statistics-queries.ts'
import { sampleEvents } from '../support/statistics-samples.ts'

const zones = ['UTC', 'Europe/Paris', 'America/Sao_Paulo', 'Asia/Kathmandu', 'Australia/Lord_Howe']
const realCompany = '64b7f0a1c2d3e4f5a6b7c8db'

let engine: StatisticsEngine
let app: StatisticsApp
let samples: Oracle

beforeAll(async () => {
  engine = await openStatisticsEngine()
  app = await openStatisticsApp(engine.columnar)
  const events = sampleEvents(testCompany, 1_500)
  samples = createOracle(events)
  await engine.load(events)
  await engine.load(sampleEvents(otherCompany, 300))
})

afterAll(async () => {
  await app.app.close()
  await engine.close()
})

function complete(query: Partial<Query>): Query {
  return { measures: [], dimensions: [], filters: [], timeDimensions: [], ...query }
}

/** Random queries that are tried. */
const runs = times(100, 15)

describe('on generated events', () => {
  it('answers any query as a plain computation does', { timeout: 300_000 + 2_000 * runs }, async () => {
    app.caller.companyId = testCompany
    await fc.assert(
      fc.asyncProperty(sampleQueries, fc.constantFrom(...zones), async (query, zone) => {
        const { measures, dimensions, timeDimensions } = query
        fc.pre(
          measures.length + dimensions.length + timeDimensions.filter((time) => time.granularity).length > 0,
        )
        app.timezone = zone
        expect(await app.rows(query)).toEqual(samples.rows(query, zone))
      }),
      { numRuns: runs },
    )
  })
})

describe.skipIf(realDataAbsent)(`on the real data set${realDataAbsent ? `: ${realDataAbsent}` : ''}`, () => {
  let real: Oracle

  beforeAll(async () => {
    const events = await readOnlineRetail(realCompany)
    real = createOracle(events)
    await engine.load(events)
  })

  beforeEach(() => {
    app.caller.companyId = realCompany
    app.timezone = 'UTC'
  })

  async function expectAgreement(query: Partial<Query>, zone = 'UTC'): Promise<number> {
    app.timezone = zone
    const rows = await app.rows(query)
    expect(rows).toEqual(real.rows(complete(query), zone))
    return rows.length
  }

  it('counts 19,960 purchases, 4,338 identified buyers and 10,666,684.54 of revenue', async () => {
    expect(
      await app.rows({
        measures: ['events.count', 'events.identifiedPeople', 'purchases.count', 'purchases.revenue'],
      }),
    ).toEqual([
      {
        'events.count': 19_960,
        'events.identifiedPeople': 4_338,
        'purchases.count': 19_960,
        'purchases.revenue': 10_666_684.54,
      },
    ])
  })

  it.each(spread(['hour', 'day', 'week', 'month', 'quarter', 'year'] as const, 2))(
    'groups every measure by %s',
    async (granularity) => {
      for (const zone of ['UTC', zones[granularity.length] ?? 'Europe/Paris']) {
        await expectAgreement(
          {
            measures: [
              'purchases.count',
              'purchases.revenue',
              'purchases.buyers',
              'purchases.references',
              'purchases.averageOrderValue',
              'purchases.revenuePerBuyer',
              'events.sessions',
              'events.people',
              'events.items',
            ],
            timeDimensions: [{ dimension: 'purchases.time', granularity }],
          },
          zone,
        )
      }
    },
  )

  it.each(['second', 'minute'] as const)('groups a day by %s', async (granularity) => {
    const dateRange = ['2011-11-24T08:00', '2011-11-24T20:00']
    const rows = await expectAgreement({
      measures: ['events.count', 'purchases.revenue'],
      timeDimensions: [
        { dimension: 'events.time', granularity, dateRange: dateRange.map((each) => `${each}:00Z`) },
      ],
    })
    expect(rows).toBeGreaterThan(50)
  })

  it.each(
    spread(
      [
        ['equals', ['Germany', 'France']],
        ['notEquals', ['United Kingdom', 'Germany']],
        ['contains', ['land', 'any']],
        ['notContains', ['United']],
        ['startsWith', ['S']],
        ['notStartsWith', ['U', 'G']],
        ['endsWith', ['d']],
        ['notEndsWith', ['m', 'y']],
        ['gt', ['Portugal']],
        ['gte', ['Portugal']],
        ['lt', ['Cyprus']],
        ['lte', ['Cyprus']],
      ] as const,
      3,
    ),
  )('filters a label by %s', async (operator, values) => {
    const rows = await expectAgreement({
      measures: ['purchases.revenue', 'purchases.count'],
      dimensions: ['purchases.label.country'],
      filters: [{ member: 'purchases.label.country', operator, values: [...values] }],
    })
    expect(rows).toBeGreaterThan(0)
  })

  it.each(
    spread(
      [
        ['inDateRange', ['2011-01-04', '2011-01-31']],
        ['notInDateRange', ['2011-01-04', '2011-11-30']],
        ['beforeDate', ['2010-12-09']],
        ['beforeOrOnDate', ['2010-12-09']],
        ['afterDate', ['2011-12-05']],
        ['afterOrOnDate', ['2011-12-05']],
        ['equals', ['2011-06-01', '2011-06-02T09:00:00Z']],
        ['notEquals', ['2011-06-01']],
        ['gt', ['2011-12-05']],
        ['lte', ['2010-12-09T12:00:00Z']],
      ] as const,
      3,
    ),
  )('filters times by %s', async (operator, values) => {
    const rows = await expectAgreement(
      {
        measures: ['purchases.revenue', 'events.sessions'],
        timeDimensions: [{ dimension: 'purchases.time', granularity: 'day' }],
        filters: [{ member: 'events.time', operator, values: [...values] }],
      },
      'Europe/London',
    )
    expect(rows).toBeGreaterThan(0)
  })

  it.each(
    spread(
      [
        ['equals', ['3', '5.00']],
        ['notEquals', ['1', '2']],
        ['gt', ['20']],
        ['gte', ['20']],
        ['lt', ['2']],
        ['lte', ['2']],
      ] as const,
      3,
    ),
  )('filters groups by %s', async (operator, values) => {
    const rows = await expectAgreement({
      measures: ['purchases.revenue'],
      dimensions: ['purchases.person'],
      filters: [{ member: 'purchases.count', operator, values: [...values] }],
      limit: 5_000,
    })
    expect(rows).toBeGreaterThan(0)
  })

  it('makes sessions of it, those of some persons too', async () => {
    const measures = ['count', 'people', 'duration', 'events', 'bounces', 'bounceRate', 'eventsPerSession']
    const rows = await expectAgreement(
      {
        measures: measures.map((name) => `sessions.${name}`),
        dimensions: ['sessions.isNew'],
        timeDimensions: [{ dimension: 'sessions.time', granularity: 'month' }],
      },
      'Europe/London',
    )
    expect(rows).toBeGreaterThan(20)
    await expectAgreement({
      measures: ['sessions.count', 'sessions.duration'],
      dimensions: ['sessions.entryPath', 'sessions.exitPath'],
      filters: [{ member: 'sessions.person', operator: 'startsWith', values: ['129', 'inv-5365'] }],
      timeDimensions: [{ dimension: 'sessions.time', dateRange: ['2010-12-01', '2011-06-30'] }],
    })
  })

  it('compares ranges in the order given, each with its own buckets', async () => {
    const rows = await expectAgreement({
      measures: ['purchases.revenue', 'purchases.perBuyer'],
      timeDimensions: [
        {
          dimension: 'purchases.time',
          granularity: 'week',
          compareDateRange: [
            ['2011-11-01', '2011-11-30'],
            ['2010-12-01', '2010-12-24'],
          ],
        },
      ],
      order: [['purchases.revenue', 'desc']],
    })
    expect(rows).toBe(9)
  })

  it.each(
    spread(
      [
        { measures: ['sessions.count', 'sessions.people', 'sessions.duration', 'sessions.bounceRate'] },
        { measures: ['sessions.count', 'sessions.events'], dimensions: ['sessions.isNew'] },
        { measures: ['events.count', 'events.sessions', 'purchases.buyers', 'purchases.revenue'] },
        { measures: ['events.sessions', 'purchases.count'], dimensions: ['events.deviceType'], limit: 1 },
        { measures: ['purchases.count'], dimensions: ['purchases.item'], limit: 20, offset: 3 },
      ],
      2,
    ),
  )('compares ranges that follow each other, also where one is empty: %j', async (query) => {
    const source = query.measures[0]?.split('.')[0]
    const rows = await expectAgreement(
      {
        ...query,
        timeDimensions: [
          {
            dimension: `${source}.time`,
            compareDateRange: [
              ['2011-03-16', '2011-04-10'],
              ['2011-02-20', '2011-03-15'],
              ['2011-04-11', '2011-05-01'],
              ['2010-10-01', '2010-10-05'],
              ['2010-10-06', '2010-10-08'],
            ],
          },
        ],
      },
      'Europe/London',
    )
    expect(rows).toBeGreaterThan(2)
  })

  it('ranks items by what they are in, with filters on items and a limit', async () => {
    await expectAgreement({
      measures: ['purchases.count', 'purchases.buyers', 'purchases.references', 'purchases.revenue'],
      dimensions: ['purchases.item'],
      filters: [{ dimension: 'purchases.item', operator: 'startsWith', values: ['22', '85'] }],
      order: { 'purchases.buyers': 'desc', 'purchases.item': 'desc' },
      limit: 100,
    })
  })
})
