import type { Query } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { compileQuery } from '../../src/features/analytics/query/compile/compile.ts'
import { defaultAttribution } from '../../src/features/analytics/query/compile/compile-credits.ts'
import { parseQuery } from '../../src/features/analytics/query/parse/parse.ts'
import { planQuery } from '../../src/features/analytics/query/plan.ts'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import { createStatisticsStore } from '../../src/features/analytics/statistics-store.ts'
import { times } from '../support/long.ts'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import {
  otherCompany,
  type StoredEvent,
  storedEvent,
  testCompany,
  testDatasource,
} from '../support/statistics-events.ts'
import { createOracle } from '../support/statistics-oracle.ts'

const runs = times(25, 2)

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

beforeEach(() => engine.empty())

const whole = (query: Partial<Query>): Query => ({
  measures: [],
  dimensions: [],
  filters: [],
  timeDimensions: [],
  ...query,
})

/** Answers the query, or fails when the engine has to read more rows than these for it. */
async function answerReading(query: Partial<Query>, rows: number): Promise<unknown[]> {
  const parsed = parseQuery(whole(query), { instant: app.now, zone: openZone('UTC') })
  const { sql, params } = compileQuery(planQuery(parsed), testCompany, {
    eventAliases: new Map(),
    visibleWorkflows: 'all',
    attribution: defaultAttribution,
    exactCounts: true,
  })
  return await engine.columnar.query({ sql, params, settings: { max_rows_to_read: rows } })
}

describe('orders', () => {
  const day = 24 * 3_600_000
  const piece = fc.record({
    order: fc.constantFrom('one', 'two', 'three', ''),
    name: fc.constantFrom('purchase', 'purchase_references'),
    day: fc.nat(80),
    ids: fc.subarray(['a', 'b', 'c']),
    cents: fc.option(fc.integer({ min: -500, max: 5_000 }), { nil: undefined }),
    person: fc.nat(3),
    known: fc.boolean(),
    elsewhere: fc.boolean(),
    foreign: fc.integer({ min: 0, max: 3 }),
    label: fc.constantFrom('', 'x', 'y'),
  })
  const measures = ['count', 'revenue', 'buyers', 'references'].map((name) => `purchases.${name}`)

  it('are the same in whichever batches and order their events come', {
    timeout: 600_000 + 10_000 * runs,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { minLength: 2, maxLength: 12 }),
        fc.array(fc.nat(3), { minLength: 12, maxLength: 12 }),
        async (pieces, batches) => {
          await engine.empty()
          const events = pieces.map((each, i) =>
            storedEvent({
              company: each.foreign === 0 ? otherCompany : testCompany,
              datasource: each.elsewhere ? '65c8a1b2d3e4f5061728394b' : testDatasource,
              // No two at one instant: their order is not known to the oracle.
              time: Date.UTC(2026, 0, 1) + each.day * day + i,
              name: each.name,
              transId: each.order,
              ids: each.ids,
              value: each.name === 'purchase' && each.cents ? (each.cents / 100).toFixed(2) : null,
              tmpId: `device-${each.person}`,
              clientId: each.known ? `client-${each.person}` : '',
              labels: each.label === '' ? {} : { [each.label]: `${i}` },
            }),
          )
          const binding = storedEvent({ name: 'identify', tmpId: 'device-1', clientId: 'client-9' })
          for (let batch = 0; batch <= 3; batch++) {
            const now = events.filter((_, i) => batches[i] === batch)
            await engine.load(batch === 2 ? [...now.toReversed(), binding] : now)
          }
          // Repetitions add nothing.
          await engine.load([binding, ...events])
          const own = [binding, ...events].filter(({ company }) => company === testCompany)
          const oracle = createOracle(own)
          for (const query of [
            whole({ measures, timeDimensions: [{ dimension: 'purchases.time', granularity: 'month' }] }),
            whole({
              measures,
              dimensions: ['transaction', 'person', 'datasource', 'label.x'].map(
                (name) => `purchases.${name}`,
              ),
              timeDimensions: [
                { dimension: 'purchases.time', granularity: 'day', dateRange: ['2026-01-10', '2026-02-20'] },
              ],
            }),
            whole({
              measures,
              dimensions: ['purchases.item'],
              filters: [{ member: 'purchases.person', operator: 'equals', values: ['client-9', 'device-0'] }],
            }),
          ]) {
            expect(await app.rows(query)).toEqual(oracle.rows(query, 'UTC'))
          }
        },
      ),
      { numRuns: runs },
    )
  })

  it('with events at one time are the same in either order', async () => {
    const events = ['ref', 'pay', 'again'].map((eventId, i) =>
      storedEvent({
        eventId,
        name: i === 0 ? 'purchase_references' : 'purchase',
        transId: 'T',
        ids: [eventId],
        value: i === 0 ? null : `${i}.00`,
        tmpId: `device-${eventId}`,
      }),
    )
    const query = {
      measures: ['purchases.count', 'purchases.revenue'],
      dimensions: ['purchases.item', 'purchases.person'],
    }
    const answers: unknown[] = []
    for (const order of [events, events.toReversed()]) {
      await engine.empty()
      for (const each of order) await engine.load([each])
      answers.push(await app.rows(query))
    }
    expect(answers[0]).toHaveLength(1)
    expect(answers[1]).toEqual(answers[0])
  })

  it('of a day cost what the day holds, however long the history is', async () => {
    const history = (orders: number) =>
      engine.columnar.command({
        sql: `INSERT INTO orders (company, time, purchase, version, value, device, tmp_id, os)
              SELECT '${testCompany}', toDateTime64('2025-01-01 00:00:00', 3, 'UTC') + toIntervalMinute(number), number + 1,
                1, 1, sipHash64(toString(number)), toString(number), 'iOS' FROM numbers(${orders})`,
      })
    await history(400_000)
    const ofDay = {
      measures: ['purchases.count', 'purchases.revenue', 'purchases.buyers'],
      timeDimensions: [
        { dimension: 'purchases.time', granularity: 'day' as const, dateRange: ['2025-05-05', '2025-05-05'] },
      ],
    }
    // The day, and again to find whose its devices are.
    expect(await answerReading(ofDay, 5 * 8_192)).toMatchObject([{ s0: 1_440, s1: 1_440, s2: 1_440 }])
  })

  it('of all time that do not fit into memory are grouped on disk', async () => {
    await engine.columnar.command({
      sql: `INSERT INTO orders (company, time, purchase, version, value, trans_id)
            SELECT '${testCompany}', toDateTime64('2025-01-01 00:00:00', 3, 'UTC') + toIntervalSecond(number), number + 1, 1, 1,
              concat(toString(number), repeat('x', 100)) FROM numbers(600000)`,
    })
    const query = { measures: ['purchases.count'], dimensions: ['purchases.transaction'], limit: 1 }
    const small = await openStatisticsApp(engine.columnar, {
      queryLimits: { seconds: 30, memoryBytes: 120 * 1024 * 1024 },
    })
    try {
      expect(await small.rows(query)).toMatchObject([{ 'purchases.count': 1 }])
    } finally {
      await small.app.close()
    }
  })
})

describe('the events of one person', () => {
  const of = (member: string, ...values: string[]) => [{ member, operator: 'equals' as const, values }]

  it('are found by their devices, without reading those of others', async () => {
    // A million events of five days; every tenth device has a client, and device 5 belongs to ada.
    await engine.columnar.command({
      sql: `INSERT INTO events (company, datasource, time, received, seq, event_text, name, tmp_id, device, client_id, client)
            SELECT '${testCompany}', '${testDatasource}', toDateTime64('2026-03-01 00:00:00', 3, 'UTC')
                + toIntervalSecond(intDiv(number * 5 * 86400, 1000000)), now64(3), number, toString(number), 'page_view',
              toString(number % 50000) AS tmp_id, sipHash64(tmp_id), if(number % 50000 % 10 = 0, concat('c', tmp_id), '') AS client_text,
              if(client_text = '', 0, sipHash64(client_text))
            FROM numbers(1000000)`,
    })
    await engine.columnar.command({ sql: 'OPTIMIZE TABLE events FINAL' })
    await engine.load([
      storedEvent({ at: '2026-03-03T12:00:00Z', name: 'identify', tmpId: '5', clientId: 'ada' }),
      storedEvent({ at: '2026-03-03T12:00:00Z', tmpId: 'elsewhere', clientId: 'c10' }),
    ])
    for (const [person, count] of [
      ['ada', 21],
      ['5', 0],
      ['7', 20],
      ['c10', 21],
      ['10', 0],
    ] as const) {
      const query = { measures: ['events.count'], filters: of('events.person', person) }
      expect(await answerReading(query, 300_000), person).toEqual([{ s0: count }])
    }
  })

  it('are distinguished from those of another person with the same number', async () => {
    await engine.load([
      storedEvent({ tmpId: 'd1', clientId: 'ada' }),
      storedEvent({ tmpId: 'd2', clientId: 'bob' }),
      storedEvent({ name: 'purchase', tmpId: 'd2', clientId: 'bob', transId: 'T' }),
    ])
    for (const table of ['events', 'orders']) {
      await engine.columnar.command({
        sql: `ALTER TABLE ${table} UPDATE client = sipHash64('ada') WHERE client_id = 'bob' SETTINGS mutations_sync = 1`,
      })
    }
    const count = async (source: 'events' | 'purchases', person: string) => {
      const measures = [`${source}.count`]
      const [row] = await app.rows({ measures, filters: of(`${source}.person`, person) })
      return row?.[`${source}.count`]
    }
    expect(await count('events', 'ada')).toBe(1)
    expect(await count('purchases', 'ada')).toBe(0)
  })

  it('are of several persons, of bound and unbound devices, and meet other filters', async () => {
    const events: StoredEvent[] = [
      storedEvent({ tmpId: 'd1' }),
      storedEvent({ tmpId: 'd1', name: 'identify', clientId: 'ada' }),
      storedEvent({ tmpId: 'd2', clientId: 'ada', name: 'add_cart' }),
      storedEvent({ tmpId: 'd2' }),
      storedEvent({ tmpId: 'ada', name: 'add_cart' }),
      storedEvent({ tmpId: 'd3', at: '2026-03-12T12:00:00Z' }),
      storedEvent({ tmpId: 'd4', name: 'identify', clientId: 'bob', at: '2026-03-01T12:00:00Z' }),
      storedEvent({ tmpId: 'd4', name: 'identify', clientId: 'ada', at: '2026-03-02T12:00:00Z' }),
      storedEvent({ tmpId: 'd4' }),
    ]
    await engine.load(events)
    const oracle = createOracle(events)
    for (const people of [['ada'], ['bob'], ['d1'], ['d2', 'd3'], ['ada', 'bob', 'd3', "x'y"]]) {
      for (const more of [[], of('events.name', 'add_cart'), of('events.person', 'ada', 'd2')]) {
        const query = whole({
          measures: ['events.count', 'events.people', 'events.sessions', 'events.identifiedPeople'],
          filters: [...of('events.person', ...people), ...more],
        })
        expect(await app.rows(query)).toEqual(oracle.rows(query, 'UTC'))
      }
    }
  })
})

describe('label keys', () => {
  it('are listed without reading an event, of stored events alone', async () => {
    await engine.load([
      storedEvent({ eventId: 'a', labels: { store: '1', 'a.b': '2' } }),
      storedEvent({ eventId: 'a', labels: { repeated: '1' } }),
      storedEvent({ name: 'purchase', labels: { country: 'FR' } }),
      storedEvent({ company: otherCompany, labels: { theirs: '1' } }),
    ])
    await engine.load([storedEvent({ labels: { store: '3', later: '1' } })])
    const { columnar } = engine
    const store = createStatisticsStore({
      columnar: {
        ...columnar,
        query: (statement) =>
          columnar.query({ ...statement, settings: { ...statement.settings, max_rows_to_read: 10 } }),
      },
      hidden: { ids: () => [] },
    })
    // More events than may be read.
    await engine.load(Array.from({ length: 20 }, () => storedEvent({ labels: { store: '1' } })))
    expect(await store.listLabels(testCompany)).toEqual({
      events: ['a.b', 'country', 'later', 'store'],
      purchases: ['country'],
      workflows: [],
    })
  })

  it('are bounded, and events with others are stored all the same', async () => {
    for (let batch = 0; batch < 3; batch++) {
      await engine.load(
        Array.from({ length: 100 }, (_, i) =>
          storedEvent({
            labels: Object.fromEntries(Array.from({ length: 10 }, (_, j) => [`key ${batch} ${i} ${j}`, 'x'])),
          }),
        ),
      )
    }
    const [kept] = await engine.columnar.query<{ n: number }>({
      sql: 'SELECT uniqExact(key) AS n FROM label_keys',
    })
    expect(kept?.n).toBe(2_000)
    expect(await app.rows({ measures: ['events.count'] })).toEqual([{ 'events.count': 300 }])
  })
})
