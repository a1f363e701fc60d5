import type { FunnelQuery } from '@millrace/contract/resources/funnel.ts'
import type { BinaryFilter, Filter } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFunnelOracle } from '../support/funnel-oracle.ts'
import { times } from '../support/long.ts'
import { readOnlineRetail, realDataAbsent } from '../support/online-retail.ts'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { type StoredEvent, storedEvent, testCompany } from '../support/statistics-events.ts'

const zones = ['UTC', 'Europe/Paris', 'America/Sao_Paulo', 'Asia/Kathmandu', 'Australia/Lord_Howe']
const realCompany = '64b7f0a1c2d3e4f5a6b7c8db'

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

async function rowsOf(query: FunnelQuery): Promise<unknown> {
  const { status, body } = await app.post(query, { path: '/v2/statistics/funnels' })
  if (status !== 200) throw new Error(`${status} ${body.message}`)
  return JSON.parse(String(body.data))
}

const from = <T>(values: readonly T[]) => fc.constantFrom(...values)
const names = ['a', 'b', 'c', 'identify']

/** The night in which Paris sets its clock on, where days, weeks and months end. */
const begin = Date.parse('2026-03-28T20:00:00Z')
/** Few instants, so that many events share one, a quarter of an hour apart: gaps of a session, borders of a window. */
const instant = fc.oneof(
  fc.nat(12).map((quarters) => begin + quarters * 900_000),
  fc.nat(300).map((quarters) => begin + quarters * 900_000),
  fc.nat(40).map((quarters) => begin + quarters * 900_000 + 1),
)

/** One event of one of a few persons, some of whose devices are bound to a client, before or after. */
const sampleEvent = fc
  .record({
    time: instant,
    name: from(names),
    person: fc.nat(3),
    device: fc.nat(1),
    known: fc.boolean(),
    browser: from(['Chrome', 'Firefox', '']),
    store: from(['Paris', 'Berlin', undefined]),
    ids: fc.subarray(['x', 'y']),
  })
  .map(({ person, device, known, store, ...event }) => {
    const identifies = event.name === 'identify' && person > 0
    return {
      ...event,
      tmpId: `device-${person}-${device}`,
      clientId: identifies || (known && person === 2) ? `client-${person % 3}` : '',
      labels: store === undefined ? {} : { store },
      url: 'https://shop.example/',
    }
  })

const filter: fc.Arbitrary<BinaryFilter> = fc
  .tuple(
    from(['events.browser', 'events.label.store', 'events.item', 'events.name', 'events.isIdentified']),
    from(['equals', 'notEquals'] as const),
    fc.subarray(['Chrome', 'Paris', 'x', 'a', 'b', 'y'], { minLength: 1 }),
  )
  .map(([member, operator, values]) => ({
    member,
    operator,
    values: member === 'events.isIdentified' ? ['true'] : values,
  }))

const absence: fc.Arbitrary<BinaryFilter> = fc.record({
  member: from(['events.browser', 'events.label.store', 'events.item']),
  operator: from(['set', 'notSet'] as const),
})
const leaf = fc.oneof(filter, absence)
const group = fc.tuple(from(['and', 'or'] as const), fc.array(leaf, { minLength: 1, maxLength: 3 }))
const anyFilter = fc.oneof(
  leaf,
  group.map(([join, filters]): Filter => (join === 'and' ? { and: filters } : { or: filters })),
)

const sampleStep = fc.record(
  {
    name: from(['First', 'Second']),
    events: fc.subarray(names, { minLength: 1 }),
    filters: fc.array(anyFilter, { maxLength: 2 }),
  },
  { requiredKeys: [] },
)

const day = from(['2026-03-28', '2026-03-29', '2026-03-30'])
const range = fc.oneof(
  fc.tuple(day, day).map((days) => days.sort()),
  fc.tuple(instant, instant).map(([a, b]) => {
    const [first, last] = [Math.min(a, b), Math.max(a, b) + 1]
    return [new Date(first).toISOString(), new Date(last).toISOString()]
  }),
)

const sampleFunnel: fc.Arbitrary<FunnelQuery> = fc
  .record({
    steps: fc.array(sampleStep, { minLength: 2, maxLength: 5 }),
    shape: fc.record(
      {
        order: from(['ordered', 'strict', 'any'] as const),
        window: fc.oneof(
          fc.record({
            value: fc.integer({ min: 1, max: 9 }).map((n) => n * 15),
            unit: from(['minute'] as const),
          }),
          fc.record({ value: fc.integer({ min: 1, max: 3 }), unit: from(['hour', 'day', 'week'] as const) }),
        ),
        per: from(['person', 'session'] as const),
        breakdown: from([
          'events.browser',
          'events.label.store',
          'events.isIdentified',
          'events.person',
          'events.name',
        ]),
        granularity: from(['minute', 'hour', 'day', 'week', 'month'] as const),
        filters: fc.array(anyFilter, { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
    ranges: fc.oneof(
      range.map((dateRange) => ({ dateRange })),
      fc.array(range, { minLength: 1, maxLength: 3 }).map((compareDateRange) => ({ compareDateRange })),
    ),
  })
  .filter(({ steps, shape }) => {
    const texts = steps.map(({ events, filters }) => JSON.stringify([events?.toSorted(), filters ?? []]))
    return shape.order !== 'any' || new Set(texts).size === texts.length
  })
  .map(({ steps, shape, ranges }) => ({ steps, ...shape, ...ranges }))

/** Companies with a history of their own each. */
const histories = times(60, 6)
const runs = times(1_500, 15)

describe('on generated events', () => {
  it('answers any funnel as a plain computation does', { timeout: 600_000 + 1_000 * runs }, async () => {
    const samples = fc.sample(fc.array(sampleEvent, { minLength: 1, maxLength: 60 }), {
      numRuns: histories,
      seed: 12,
    })
    const companies = samples.map((events, i) => {
      const company = `64b7f0a1c2d3e4f5a6b8${String(i).padStart(4, '0')}`
      return events.map((event): StoredEvent => storedEvent({ ...event, company }))
    })
    await engine.load(companies.flat().sort((a, b) => (a.eventId < b.eventId ? -1 : 1)))
    await fc.assert(
      fc.asyncProperty(sampleFunnel, fc.nat(histories - 1), from(zones), async (query, i, zone) => {
        const events = companies[i] ?? []
        app.caller.companyId = events[0]?.company ?? testCompany
        const own = i % 2 === 0
        app.timezone = own ? 'UTC' : zone
        expect(await rowsOf(own ? { ...query, timezone: zone } : query)).toEqual(
          createFunnelOracle(events).rows(query, zone),
        )
      }),
      { numRuns: runs },
    )
  })
})

describe.skipIf(realDataAbsent)(`on the real data set${realDataAbsent ? `: ${realDataAbsent}` : ''}`, () => {
  it('follows buyers to their second and third order as a plain computation does', async () => {
    const events = await readOnlineRetail(realCompany)
    await engine.load(events)
    app.caller.companyId = realCompany
    const oracle = createFunnelOracle(events)
    const order = { events: ['purchase'] }
    const whole: FunnelQuery = {
      steps: [order, order, order],
      window: { value: 90, unit: 'day' },
      dateRange: ['2010-12-01', '2011-12-09'],
    }
    for (const query of [
      whole,
      { ...whole, order: 'strict', granularity: 'month', breakdown: 'events.label.country' },
      { ...whole, per: 'session', window: { value: 1, unit: 'hour' } },
    ] as const) {
      app.timezone = 'Europe/London'
      expect(await rowsOf(query)).toEqual(oracle.rows(query, 'Europe/London'))
    }
  })
})
