import type { PathsQuery } from '@millrace/contract/resources/paths.ts'
import type { RetentionQuery } from '@millrace/contract/resources/retention.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  explorationNames,
  sampleFilters,
  sampleHistories,
  sampleRange,
} from '../support/exploration-samples.ts'
import { isFull, times } from '../support/long.ts'
import { readOnlineRetail, realDataAbsent } from '../support/online-retail.ts'
import { createPathsOracle } from '../support/paths-oracle.ts'
import { createRetentionOracle } from '../support/retention-oracle.ts'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import type { StoredEvent } from '../support/statistics-events.ts'

const long = isFull(import.meta.filename)

const zones = ['UTC', 'Europe/Paris', 'America/Sao_Paulo', 'Asia/Kathmandu', 'Australia/Lord_Howe']
const realCompany = '64b7f0a1c2d3e4f5a6b7c8db'
/** Companies with a history of their own each, and questions that are tried. */
const histories = times(60, 6)
const runs = times(1_500, 20)

let engine: StatisticsEngine
let app: StatisticsApp
let companies: StoredEvent[][]

beforeAll(async () => {
  engine = await openStatisticsEngine()
  app = await openStatisticsApp(engine.columnar)
  companies = sampleHistories(histories)
  // What arrives late, an identify too, is in a batch of its own.
  for (const half of [0, 1]) {
    await engine.load(companies.flatMap((events) => events.filter((_, i) => i % 2 === half)))
  }
})

afterAll(async () => {
  await app.app.close()
  await engine.close()
})

async function ask(exploration: string, query: object): Promise<unknown> {
  const { status, body } = await app.post(query, { path: `/v2/statistics/${exploration}` })
  if (status !== 200) throw new Error(`${status} ${body.message}`)
  return JSON.parse(String(body.data))
}

const from = <T>(values: readonly T[]) => fc.constantFrom(...values)

const selection = fc.record(
  { events: fc.subarray([...explorationNames], { minLength: 1 }), filters: sampleFilters },
  { requiredKeys: [] },
)

const sampleRetention: fc.Arbitrary<RetentionQuery> = fc.record(
  {
    firstEvent: selection,
    returnEvent: selection,
    dateRange: sampleRange,
    granularity: from(['day', 'week', 'month'] as const),
    periods: fc.integer({ min: 1, max: 24 }),
    cohorts: from(['first-time', 'recurring'] as const),
    returns: from(['on', 'on-or-after'] as const),
    filters: sampleFilters,
  },
  { requiredKeys: ['firstEvent', 'returnEvent', 'dateRange', 'granularity'] },
)

const samplePaths: fc.Arbitrary<PathsQuery> = from(['event', 'path'] as const).chain((by) => {
  const step = from(by === 'event' ? ['a', 'b', 'identify'] : ['/', '/p'])
  const anchor = fc.oneof(
    fc.constant({}),
    step.map((each) => ({ from: each })),
    step.map((each) => ({ to: each })),
  )
  return fc
    .tuple(
      anchor,
      fc.record(
        {
          dateRange: sampleRange,
          depth: fc.integer({ min: 1, max: 10 }),
          repeats: from(['collapse', 'keep'] as const),
          limit: from([1, 2, 5, 200]),
          filters: sampleFilters,
        },
        { requiredKeys: ['dateRange'] },
      ),
    )
    .map(([anchored, rest]) => ({ by, ...anchored, ...rest }))
})

function chooseCompany(i: number): StoredEvent[] {
  const events = companies[i] ?? []
  app.caller.companyId = events[0]?.company ?? ''
  return events
}

describe('on generated events', () => {
  const timeout = 60_000 + 1_000 * runs
  /** Asks for all that the first company has: a few random questions alone may find nothing. */
  const eventful = {
    firstEvent: { events: [...explorationNames] },
    returnEvent: {},
    dateRange: ['2026-03-28', '2026-06-10'],
  } satisfies Partial<RetentionQuery>
  const fewest = long ? runs / 4 : 0

  it('retention is what a plain computation says', { timeout }, async () => {
    const now = from(['2026-04-02T12:00:00Z', '2026-06-10T00:00:00Z', '2026-09-01T12:00:00Z'])
    let counted = 0
    await fc.assert(
      fc.asyncProperty(
        sampleRetention,
        fc.nat(histories - 1),
        from(zones),
        now,
        async (query, i, zone, at) => {
          const events = chooseCompany(i)
          app.timezone = zone
          app.now = Date.parse(at)
          const expected = createRetentionOracle(events).rows(query, zone, app.now)
          counted += expected.filter(({ people }) => Number(people) > 0).length
          expect(await ask('retention', query)).toEqual(expected)
        },
      ),
      { numRuns: runs, examples: [[{ ...eventful, granularity: 'week' }, 0, 'UTC', '2026-09-01T12:00:00Z']] },
    )
    expect(counted).toBeGreaterThan(fewest)
  })

  it('paths are what a plain computation says', { timeout }, async () => {
    let counted = 0
    await fc.assert(
      fc.asyncProperty(samplePaths, fc.nat(histories - 1), from(zones), async (query, i, zone) => {
        const events = chooseCompany(i)
        app.timezone = zone
        const expected = createPathsOracle(events).rows(query, zone)
        counted += expected.length
        expect(await ask('paths', query)).toEqual(expected)
      }),
      { numRuns: runs, examples: [[{ by: 'event', dateRange: eventful.dateRange }, 0, 'UTC']] },
    )
    expect(counted).toBeGreaterThan(fewest)
  })
})

describe.skipIf(realDataAbsent)(`on the real data set${realDataAbsent ? `: ${realDataAbsent}` : ''}`, () => {
  let events: readonly StoredEvent[]

  beforeAll(async () => {
    events = await readOnlineRetail(realCompany)
    await engine.load(events)
  })

  beforeEach(() => {
    app.caller.companyId = realCompany
    app.timezone = 'UTC'
    app.now = Date.parse('2011-12-10T00:00:00Z')
  })

  it('repeat purchases by month are those counted in the file', async () => {
    // The month of the first order of each customer, and of every order, as year * 12 + month.
    const monthsOf = new Map<string, number[]>()
    for (const { tmpId, time } of events) {
      const [year = 0, month = 0] = new Date(time).toISOString().split('-').map(Number)
      monthsOf.set(tmpId, [...(monthsOf.get(tmpId) ?? []), year * 12 + month])
    }
    const sizes = new Map<number, number>()
    const people = new Map<string, number>()
    for (const months of monthsOf.values()) {
      const first = Math.min(...months)
      sizes.set(first, (sizes.get(first) ?? 0) + 1)
      for (const month of new Set(months)) {
        const key = `${first} ${month - first}`
        people.set(key, (people.get(key) ?? 0) + 1)
      }
    }
    const last = 2011 * 12 + 12
    const expected = [...sizes]
      .sort(([a], [b]) => a - b)
      .flatMap(([first, size]) =>
        Array.from({ length: last - first + 1 }, (_, period) => {
          const counted = people.get(`${first} ${period}`) ?? 0
          const cohort = new Date(Date.UTC(0, first - 1)).setUTCFullYear(Math.floor((first - 1) / 12))
          return {
            cohort: new Date(cohort).toISOString().replace('Z', '+00:00'),
            size,
            period,
            people: counted,
            rate: counted / size,
            isComplete: first + period < last,
          }
        }),
      )
    const purchase = { events: ['purchase'] }
    const rows = await ask('retention', {
      firstEvent: purchase,
      returnEvent: purchase,
      granularity: 'month',
      periods: 13,
      dateRange: ['2010-12-01', '2011-12-31'],
    })
    expect(rows).toEqual(expected)
    expect(expected.length).toBe(91)
  })

  it.each([
    { cohorts: 'recurring', returns: 'on' },
    { cohorts: 'first-time', returns: 'on-or-after' },
  ] as const)('weekly retention is what a plain computation says: %o', async (shape) => {
    app.timezone = 'Europe/London'
    const query: RetentionQuery = {
      firstEvent: {
        events: ['purchase'],
        filters: [{ member: 'events.label.country', operator: 'equals', values: ['Germany', 'France'] }],
      },
      returnEvent: {},
      granularity: 'week',
      dateRange: ['2011-02-15', '2011-05-01'],
      ...shape,
    }
    const rows = await ask('retention', query)
    expect(rows).toEqual(createRetentionOracle(events).rows(query, app.timezone, app.now))
  })

  it('paths of orders within a session are what a plain computation says', async () => {
    const query: PathsQuery = { by: 'path', dateRange: ['2011-11-01', '2011-11-30'], depth: 3, limit: 20 }
    expect(await ask('paths', query)).toEqual(createPathsOracle(events).rows(query, 'UTC'))
  })
})
