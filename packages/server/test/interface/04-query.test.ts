import { setTimeout as sleep } from 'node:timers/promises'
import { filterOperators, granularities, type Query } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createQueryGate } from '../../src/features/statistics/query/gate.ts'
import { type Columnar, openColumnar } from '../../src/platform/stores/columnar.ts'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent } from '../support/statistics-events.ts'

let engine: StatisticsEngine
let app: StatisticsApp
const opened: StatisticsApp[] = []

beforeAll(async () => {
  engine = await openStatisticsEngine()
})

afterAll(async () => {
  await engine.close()
})

beforeEach(async () => {
  app = await openWith()
  await engine.empty()
})

afterEach(async () => {
  for (const each of opened.splice(0)) await each.app.close()
})

async function openWith(
  columnar: Columnar = engine.columnar,
  overrides: Parameters<typeof openStatisticsApp>[1] = {},
): Promise<StatisticsApp> {
  const opening = await openStatisticsApp(columnar, overrides)
  opened.push(opening)
  return opening
}

const whole = (query: Partial<Query>): Query => ({
  measures: [],
  dimensions: [],
  filters: [],
  timeDimensions: [],
  ...query,
})

const counted = whole({ measures: ['events.count'] })

describe('persons', () => {
  it('are bound by identify, earlier events included, whatever the order of arrival', async () => {
    await engine.load([
      storedEvent({ at: '2026-03-10T12:00:00Z', tmpId: 'd1' }),
      storedEvent({ at: '2026-03-10T13:00:00Z', tmpId: 'd2' }),
      storedEvent({ at: '2026-03-12T12:00:00Z', tmpId: 'd2', name: 'identify', clientId: 'ada' }),
      storedEvent({ at: '2026-03-11T12:00:00Z', tmpId: 'd1', name: 'identify', clientId: 'ada' }),
      storedEvent({ at: '2026-03-11T12:00:00Z', tmpId: 'd3' }),
      storedEvent({ at: '2026-03-11T12:00:00Z', tmpId: 'd4', clientId: 'bob' }),
    ])
    expect(
      await app.rows({
        measures: ['events.people', 'events.identifiedPeople', 'events.devices', 'events.perPerson'],
      }),
    ).toEqual([
      { 'events.people': 3, 'events.identifiedPeople': 2, 'events.devices': 4, 'events.perPerson': 2 },
    ])
    expect(
      await app.rows({ measures: ['events.count'], dimensions: ['events.person', 'events.isIdentified'] }),
    ).toEqual([
      { 'events.person': 'ada', 'events.isIdentified': true, 'events.count': 4 },
      { 'events.person': 'bob', 'events.isIdentified': true, 'events.count': 1 },
      { 'events.person': 'd3', 'events.isIdentified': false, 'events.count': 1 },
    ])
  })

  it('of a device bound twice are the last binding, of bindings at one time the greatest', async () => {
    const bindings = [
      storedEvent({ at: '2026-03-12T12:00:00Z', tmpId: 'd1', name: 'identify', clientId: 'late' }),
      storedEvent({ at: '2026-03-10T12:00:00Z', tmpId: 'd1', name: 'identify', clientId: 'early' }),
      storedEvent({ at: '2026-03-10T12:00:00Z', tmpId: 'd2', name: 'identify', clientId: 'b' }),
      storedEvent({ at: '2026-03-10T12:00:00Z', tmpId: 'd2', name: 'identify', clientId: 'a' }),
    ]
    const views = ['d1', 'd2'].map((tmpId) => storedEvent({ tmpId }))
    const query = {
      measures: ['events.count'],
      dimensions: ['events.person'],
      filters: [{ member: 'events.name', operator: 'equals' as const, values: ['page_view'] }],
    }
    for (const arrived of [bindings, bindings.toReversed()]) {
      await engine.empty()
      for (const each of [...arrived, ...views]) await engine.load([each])
      expect(await app.rows(query)).toEqual([
        { 'events.person': 'b', 'events.count': 1 },
        { 'events.person': 'late', 'events.count': 1 },
      ])
    }
  })

  it('are the same where a sender uses the clientId as tmpId', async () => {
    await engine.load([storedEvent({ tmpId: 'ada' }), storedEvent({ tmpId: 'd1', clientId: 'ada' })])
    expect(await app.rows({ measures: ['events.people'] })).toEqual([{ 'events.people': 1 }])
  })
})

describe('sessions', () => {
  it('end with a gap over 30 minutes and belong to the bucket in which they start', async () => {
    await engine.load([
      storedEvent({ at: '2026-03-10T23:40:00.000Z' }),
      storedEvent({ at: '2026-03-11T00:10:00.000Z' }),
      storedEvent({ at: '2026-03-11T00:40:00.001Z' }),
      storedEvent({ at: '2026-03-11T00:50:00Z', tmpId: 'd2' }),
    ])
    const timeDimensions = [{ dimension: 'events.time', granularity: 'day' as const }]
    expect(await app.rows({ measures: ['events.sessions'], timeDimensions })).toEqual([
      { 'events.time.day': '2026-03-10T00:00:00.000+00:00', 'events.sessions': 1 },
      { 'events.time.day': '2026-03-11T00:00:00.000+00:00', 'events.sessions': 2 },
    ])
    const second = [{ dimension: 'events.time', dateRange: ['2026-03-11', '2026-03-11'] }]
    expect(await app.rows({ measures: ['events.sessions', 'events.count'], timeDimensions: second })).toEqual(
      [{ 'events.sessions': 2, 'events.count': 3 }],
    )
  })

  it('join the devices of one person', async () => {
    await engine.load([
      storedEvent({ at: '2026-03-10T10:00:00Z', tmpId: 'd1', name: 'identify', clientId: 'ada' }),
      storedEvent({ at: '2026-03-10T10:20:00Z', tmpId: 'd2', clientId: 'ada' }),
      storedEvent({ at: '2026-03-10T10:40:00Z', tmpId: 'd1' }),
    ])
    expect(await app.rows({ measures: ['events.sessions'] })).toEqual([{ 'events.sessions': 1 }])
  })

  it('are those of the events that pass the filters, so that groups and filters agree', async () => {
    await engine.load([
      storedEvent({ at: '2026-03-10T10:00:00Z' }),
      storedEvent({ at: '2026-03-10T10:20:00Z', name: 'add_cart' }),
      storedEvent({ at: '2026-03-10T10:40:00Z' }),
    ])
    const filters = [{ member: 'events.name', operator: 'equals' as const, values: ['page_view'] }]
    expect(await app.rows({ measures: ['events.sessions'] })).toEqual([{ 'events.sessions': 1 }])
    expect(await app.rows({ measures: ['events.sessions'], filters })).toEqual([{ 'events.sessions': 2 }])
    expect(await app.rows({ measures: ['events.sessions'], dimensions: ['events.name'] })).toEqual([
      { 'events.name': 'page_view', 'events.sessions': 2 },
      { 'events.name': 'add_cart', 'events.sessions': 1 },
    ])
  })
})

describe('purchases', () => {
  const order = { name: 'purchase', transId: 'T1', ids: ['a', 'b'], value: '10.10' }

  it('of one transId are one, whatever datasource, order and repetition', async () => {
    const events = [
      storedEvent({ ...order, at: '2026-03-10T12:00:05Z', tmpId: 'd1' }),
      storedEvent({
        ...order,
        at: '2026-03-10T12:00:09Z',
        value: '99.99',
        datasource: '65c8a1b2d3e4f5061728394b',
      }),
      storedEvent({
        name: 'purchase_references',
        transId: 'T1',
        at: '2026-03-10T11:59:59Z',
        ids: ['ref-1', 'ref-2', 'ref-2'],
        tmpId: 'd9',
        clientId: 'ada',
        labels: { country: 'FR' },
        deviceType: 'server',
      }),
      storedEvent({ ...order, transId: '', at: '2026-03-10T12:30:00Z', ids: ['a'], value: '-0.10' }),
      storedEvent({ ...order, transId: '', at: '2026-03-10T12:30:00Z', ids: [], value: null }),
    ]
    for (const arrived of [events, events.toReversed()]) {
      await engine.empty()
      for (const each of arrived) await engine.load([each])
      expect(
        await app.rows({
          measures: [
            'purchases.count',
            'purchases.revenue',
            'purchases.buyers',
            'purchases.references',
            'purchases.averageOrderValue',
          ],
          dimensions: [
            'purchases.transaction',
            'purchases.person',
            'purchases.label.country',
            'purchases.deviceType',
          ],
          timeDimensions: [{ dimension: 'purchases.time', granularity: 'hour' }],
        }),
      ).toEqual([
        {
          'purchases.time.hour': '2026-03-10T11:00:00.000+00:00',
          'purchases.transaction': 'T1',
          'purchases.person': 'ada',
          'purchases.label.country': 'FR',
          'purchases.deviceType': 'server',
          'purchases.count': 1,
          'purchases.revenue': 10.1,
          'purchases.buyers': 1,
          'purchases.references': 3,
          'purchases.averageOrderValue': 10.1,
        },
        {
          'purchases.time.hour': '2026-03-10T12:00:00.000+00:00',
          'purchases.transaction': null,
          'purchases.person': 'device-1',
          'purchases.label.country': null,
          'purchases.deviceType': 'desktop',
          'purchases.count': 2,
          'purchases.revenue': -0.1,
          'purchases.buyers': 1,
          'purchases.references': 1,
          'purchases.averageOrderValue': -0.05,
        },
      ])
    }
  })

  it('lie in a range by their earliest event, with what later events add', async () => {
    await engine.load([
      storedEvent({ ...order, name: 'purchase_references', value: null, at: '2026-03-10T23:59:00Z' }),
      storedEvent({ ...order, at: '2026-03-11T00:01:00Z' }),
    ])
    const revenue = (day: string) =>
      app.rows({
        measures: ['purchases.revenue', 'purchases.count'],
        timeDimensions: [{ dimension: 'events.time', dateRange: day }],
      })
    expect(await revenue('2026-03-10')).toEqual([{ 'purchases.revenue': 10.1, 'purchases.count': 1 }])
    expect(await revenue('2026-03-11')).toEqual([{ 'purchases.revenue': 0, 'purchases.count': 0 }])
  })

  it('sum in cents, beyond what a double holds as text', async () => {
    await engine.load(
      Array.from({ length: 1000 }, (_, i) => storedEvent({ ...order, transId: `T${i}`, value: '0.10' })),
    )
    expect(await app.rows({ measures: ['purchases.revenue'] })).toEqual([{ 'purchases.revenue': 100 }])
    await engine.load(
      ['9999999999999999.99', '9999999999999999.98'].map((value, i) =>
        storedEvent({ ...order, transId: `large${i}`, value }),
      ),
    )
    expect(await app.rows({ measures: ['purchases.revenue'] })).toEqual([
      { 'purchases.revenue': '20000000000000099.97' },
    ])
  })

  it('meet events on time and shared dimensions; what is absent counts 0, a ratio over 0 is null', async () => {
    await engine.load([
      storedEvent({ deviceType: 'mobile' }),
      storedEvent({ ...order, deviceType: 'desktop' }),
      storedEvent({
        ...order,
        name: 'purchase_references',
        transId: 'T2',
        deviceType: 'server',
        value: null,
      }),
    ])
    expect(
      await app.rows({
        measures: ['events.count', 'purchases.revenue', 'purchases.averageOrderValue'],
        dimensions: ['events.deviceType'],
        timeDimensions: [{ dimension: 'purchases.time', granularity: 'year' }],
      }),
    ).toEqual(
      [
        ['desktop', 1, 10.1, 10.1],
        ['mobile', 1, 0, null],
        ['server', 1, 0, 0],
      ].map(([device, count, revenue, average]) => ({
        'purchases.time.year': '2026-01-01T00:00:00.000+00:00',
        'events.deviceType': device,
        'events.count': count,
        'purchases.revenue': revenue,
        'purchases.averageOrderValue': average,
      })),
    )
  })
})

describe('items', () => {
  beforeEach(async () => {
    await engine.load([
      storedEvent({ ids: ['a', 'a', 'b'] }),
      storedEvent({ ids: ['b'] }),
      storedEvent({ ids: ['c', 'ab'] }),
      storedEvent({ ids: [] }),
    ])
  })
  const measures = ['events.count', 'events.items']

  it('give one row for each identifier, in which an event counts once and its repetitions as items', async () => {
    expect(await app.rows({ measures, dimensions: ['events.item'] })).toEqual([
      { 'events.item': 'b', 'events.count': 2, 'events.items': 2 },
      { 'events.item': 'a', 'events.count': 1, 'events.items': 2 },
      { 'events.item': 'ab', 'events.count': 1, 'events.items': 1 },
      { 'events.item': 'c', 'events.count': 1, 'events.items': 1 },
    ])
  })

  it('are filtered one by one, events by what is left of them', async () => {
    const filtered = (operator: 'equals' | 'notEquals' | 'contains', values: string[]) =>
      app.rows({ measures, filters: [{ member: 'events.item', operator, values }] })
    expect(await filtered('equals', ['a'])).toEqual([{ 'events.count': 1, 'events.items': 2 }])
    expect(await filtered('equals', ['a', 'b'])).toEqual([{ 'events.count': 2, 'events.items': 4 }])
    expect(await filtered('contains', ['b'])).toEqual([{ 'events.count': 3, 'events.items': 3 }])
    expect(await filtered('notEquals', ['b'])).toEqual([{ 'events.count': 2, 'events.items': 4 }])
  })
})

describe('time', () => {
  it('of a clock set back has two hours of one name, with their offsets', async () => {
    app.timezone = 'Europe/Paris'
    await engine.load(
      ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T02:30:00Z'].map((at) =>
        storedEvent({ at }),
      ),
    )
    const time = {
      dimension: 'events.time',
      granularity: 'hour' as const,
      dateRange: ['2026-10-25', '2026-10-25'],
    }
    expect(await app.rows({ measures: ['events.count'], timeDimensions: [time] })).toEqual([
      { 'events.time.hour': '2026-10-25T02:00:00.000+02:00', 'events.count': 1 },
      { 'events.time.hour': '2026-10-25T02:00:00.000+01:00', 'events.count': 1 },
      { 'events.time.hour': '2026-10-25T03:00:00.000+01:00', 'events.count': 1 },
    ])
  })

  it('has days of 23 and 25 hours in local ranges', async () => {
    app.timezone = 'Europe/Paris'
    const hours = Array.from({ length: 72 }, (_, i) => Date.parse('2026-03-28T00:00:00Z') + i * 3_600_000)
    await engine.load(hours.map((time) => storedEvent({ time })))
    const time = {
      dimension: 'events.time',
      granularity: 'day' as const,
      dateRange: ['2026-03-29', '2026-03-30'],
    }
    expect(await app.rows({ measures: ['events.count'], timeDimensions: [time] })).toEqual([
      { 'events.time.day': '2026-03-29T00:00:00.000+01:00', 'events.count': 23 },
      { 'events.time.day': '2026-03-30T00:00:00.000+02:00', 'events.count': 24 },
    ])
  })

  it('is bucketed by every unit, weeks from Monday', async () => {
    await engine.load([storedEvent({ at: '2026-05-17T22:41:07.250Z' })])
    app.timezone = 'Asia/Kathmandu'
    for (const [granularity, bucket] of [
      ['second', '2026-05-18T04:26:07.000+05:45'],
      ['minute', '2026-05-18T04:26:00.000+05:45'],
      ['hour', '2026-05-18T04:00:00.000+05:45'],
      ['day', '2026-05-18T00:00:00.000+05:45'],
      ['week', '2026-05-18T00:00:00.000+05:45'],
      ['month', '2026-05-01T00:00:00.000+05:45'],
      ['quarter', '2026-04-01T00:00:00.000+05:45'],
      ['year', '2026-01-01T00:00:00.000+05:45'],
    ] as const) {
      const dateRange = ['2026-05-18T04:00', '2026-05-18T05:00']
      const time = { dimension: 'events.time', granularity, dateRange }
      const rows = await app.rows({ measures: ['events.count'], timeDimensions: [time] })
      expect(rows, granularity).toEqual([{ [`events.time.${granularity}`]: bucket, 'events.count': 1 }])
    }
    expect(await app.rows({ dimensions: ['events.time'] })).toEqual([
      { 'events.time': '2026-05-18T04:26:07.250+05:45' },
    ])
  })

  it('can be grouped by two units and named as a dimension with its unit', async () => {
    await engine.load([storedEvent({ at: '2026-05-17T22:41:07Z' })])
    expect(
      await app.rows({
        dimensions: ['events.time.month'],
        timeDimensions: [
          { dimension: 'events.time', granularity: 'year' },
          { dimension: 'events.time', granularity: 'day' },
        ],
      }),
    ).toEqual([
      {
        'events.time.year': '2026-01-01T00:00:00.000+00:00',
        'events.time.day': '2026-05-17T00:00:00.000+00:00',
        'events.time.month': '2026-05-01T00:00:00.000+00:00',
      },
    ])
  })

  it('is relative to now in the company’s zone', async () => {
    app.timezone = 'America/New_York'
    app.now = Date.parse('2026-03-20T02:00:00Z')
    await engine.load([
      storedEvent({ at: '2026-03-19T03:59:00Z' }),
      storedEvent({ at: '2026-03-19T04:01:00Z' }),
      storedEvent({ at: '2026-03-20T03:59:00Z' }),
    ])
    const today = [{ dimension: 'events.time', dateRange: 'today' }]
    expect(await app.rows({ measures: ['events.count'], timeDimensions: today })).toEqual([
      { 'events.count': 2 },
    ])
  })

  it('compares ranges in the order given, empty ones included', async () => {
    await engine.load([
      storedEvent({ at: '2026-03-19T12:00:00Z' }),
      storedEvent({ at: '2026-02-10T12:00:00Z' }),
    ])
    expect(
      await app.rows({
        measures: ['events.count'],
        timeDimensions: [
          {
            dimension: 'events.time',
            compareDateRange: ['this month', ['2025-01-01', '2025-01-31'], 'last month'],
          },
        ],
      }),
    ).toEqual([
      { compareDateRange: '2026-03-01 - 2026-03-31', 'events.count': 1 },
      { compareDateRange: '2025-01-01 - 2025-01-31', 'events.count': 0 },
      { compareDateRange: '2026-02-01 - 2026-02-28', 'events.count': 1 },
    ])
  })
})

describe('filters', () => {
  it('let absent values pass negations alone', async () => {
    await engine.load([
      storedEvent({ labels: { store: 'Paris' } }),
      storedEvent({ labels: { store: '' } }),
      storedEvent({ labels: {} }),
    ])
    const stores = async (operator: 'equals' | 'notEquals' | 'contains' | 'notStartsWith', value: string) =>
      (
        await app.rows({
          dimensions: ['events.label.store'],
          filters: [{ member: 'events.label.store', operator, values: [value] }],
        })
      ).map((row) => row['events.label.store'])
    expect(await stores('equals', '')).toEqual([''])
    expect(await stores('notEquals', 'Paris')).toEqual(['', null])
    expect(await stores('contains', '')).toEqual(['', 'Paris'])
    expect(await stores('notStartsWith', 'P')).toEqual(['', null])
  })

  it('compare labels as numbers with a number, else as texts', async () => {
    await engine.load(['9', '10', '1e2', 'XL', ''].map((size) => storedEvent({ labels: { size } })))
    const sizes = async (operator: 'gt' | 'lte', value: string) =>
      (
        await app.rows({
          dimensions: ['events.label.size'],
          filters: [{ member: 'events.label.size', operator, values: [value] }],
        })
      ).map((row) => row['events.label.size'])
    expect(await sizes('gt', '9.5')).toEqual(['10', '1e2'])
    expect(await sizes('lte', '10')).toEqual(['10', '9'])
    expect(await sizes('gt', 'X')).toEqual(['XL'])
  })

  it('of many kinds on one dimension hold together', async () => {
    await engine.load(['a', 'b', 'c', 'd', 'e'].map((name) => storedEvent({ name, labels: { x: name } })))
    for (const member of ['events.name', 'events.label.x']) {
      const filters = ['a', 'b', 'c'].map((value) => ({
        member,
        operator: 'notEquals' as const,
        values: [value],
      }))
      expect(await app.rows({ measures: ['events.count'], filters })).toEqual([{ 'events.count': 2 }])
    }
    const several = ['1', '1.5', '2'].map((value) => ({
      member: 'events.count',
      operator: 'notEquals' as const,
      values: [value, '7'],
    }))
    expect(await app.rows({ measures: ['events.count'], filters: several })).toEqual([{ 'events.count': 5 }])
  })

  it('on measures judge groups, also on measures that are not shown', async () => {
    await engine.load([
      storedEvent({ tmpId: 'a' }),
      storedEvent({ tmpId: 'a', name: 'purchase', transId: 'T', value: '20' }),
      storedEvent({ tmpId: 'b' }),
    ])
    expect(
      await app.rows({
        measures: ['events.count'],
        dimensions: ['events.person'],
        filters: [{ member: 'purchases.revenue', operator: 'gte', values: ['20.00'] }],
      }),
    ).toEqual([{ 'events.person': 'a', 'events.count': 2 }])
  })

  it('give back any text that was stored, and find it', async () => {
    const texts = [
      "' or 1=1 --",
      "\\'",
      '%',
      '_',
      '\\',
      '\\N',
      'a\nb\tc\r',
      '😀',
      '{p1:String}',
      '\u202e',
      '�',
      ' ',
    ]
    await engine.load(texts.map((text) => storedEvent({ name: text, labels: { [text]: text }, ids: [text] })))
    for (const text of texts) {
      const label = `events.label.${text}`
      for (const member of ['events.name', 'events.item', label]) {
        for (const operator of ['equals', 'startsWith', 'endsWith'] as const) {
          const rows = await app.rows({
            dimensions: [member],
            filters: [{ member, operator, values: [text] }],
          })
          expect(rows.map((row) => row[member])).toContain(text)
        }
      }
    }
  })

  it('take 1,000 values and 100,000 characters', async () => {
    await engine.load([storedEvent({ name: '値' }), storedEvent({ name: 'other' })])
    const filtered = (values: string[]) =>
      app.rows({
        measures: ['events.count'],
        filters: [{ member: 'events.name', operator: 'equals', values }],
      })
    const many = Array.from({ length: 999 }, (_, i) => `value ${i}`)
    expect(await filtered([...many, '値'])).toEqual([{ 'events.count': 1 }])
    const long = Array.from({ length: 25 }, (_, i) => String.fromCodePoint(0x4e00 + i).repeat(3_990))
    expect(await filtered([...long, '値'])).toEqual([{ 'events.count': 1 }])
  })

  it('cannot reach another company', async () => {
    await engine.load([storedEvent({ company: otherCompany, name: 'secret' }), storedEvent()])
    for (const values of [['secret'], [otherCompany], ["' OR company != '"]]) {
      for (const operator of ['equals', 'notEquals'] as const) {
        const rows = await app.rows({
          dimensions: ['events.name'],
          filters: [{ member: 'events.name', operator, values }],
        })
        expect(JSON.stringify(rows)).not.toContain('secret')
      }
    }
    app.caller.companyId = otherCompany
    expect(await app.rows({ measures: ['events.count', 'events.people'] })).toEqual([
      { 'events.count': 1, 'events.people': 1 },
    ])
  })
})

describe('the answer', () => {
  it('is an envelope whose data is JSON text, also of nothing', async () => {
    const { status, body, headers } = await app.post(whole({ dimensions: ['events.name'] }))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'success',
      program: 'millrace',
      code: 200,
      message: 'ok',
      data: '[]',
    })
    expect(headers['cache-control']).toBe('no-store')
  })

  it('is CSV in the envelope for format=csv, with a header even of nothing', async () => {
    const query = whole({ measures: ['purchases.revenue'], dimensions: ['purchases.label.note'] })
    expect((await app.post(query, { search: '?format=csv' })).body.data).toBe(
      'purchases.label.note,purchases.revenue\r\n',
    )
    await engine.load([
      storedEvent({ name: 'purchase', value: '-5.5', labels: { note: '=1+1' } }),
      storedEvent({ name: 'purchase', value: '2', labels: { note: 'a "b", c' } }),
      storedEvent({ name: 'purchase', value: '1' }),
    ])
    expect((await app.post(query, { search: '?format=csv' })).body.data).toBe(
      'purchases.label.note,purchases.revenue\r\n"a ""b"", c",2\r\n,1\r\n\'=1+1,-5.5\r\n',
    )
  })

  it('is streamed bare for Accept, as CSV and as lines of JSON', async () => {
    await engine.load([storedEvent({ name: 'a' }), storedEvent({ name: 'b' })])
    const query = whole({ dimensions: ['events.name'] })
    const csv = await app.post(query, { accept: 'text/csv' })
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    expect(csv.text).toBe('events.name\r\na\r\nb\r\n')
    const lines = await app.post(query, { accept: 'application/x-ndjson' })
    expect(lines.headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
    expect(lines.text).toBe('{"events.name":"a"}\n{"events.name":"b"}\n')
    const failed = await app.post({ ...query, measures: ['events.x'] }, { accept: 'text/csv' })
    expect([failed.status, failed.body.error_code]).toEqual([400, 9100])
  })

  it('is CSV for those who may export', async () => {
    app.caller.permissions = ['statistics:access']
    for (const options of [{ search: '?format=csv' }, { accept: 'text/csv' }]) {
      const { status, body } = await app.post(counted, options)
      expect(status).toBe(403)
      expect(body.data).toEqual({ resource: 'statistics', action: 'export' })
    }
    expect((await app.post(counted, { accept: 'application/x-ndjson' })).status).toBe(200)
  })

  it('has 10,000 rows unless a limit says otherwise', async () => {
    await engine.load(
      Array.from({ length: 10_050 }, (_, i) => storedEvent({ name: `n${String(i).padStart(5, '0')}` })),
    )
    const dimensions = ['events.name']
    expect(await app.rows({ dimensions })).toHaveLength(10_000)
    const all = await app.rows({ dimensions, limit: 50_000 })
    expect(all).toHaveLength(10_050)
    expect(all.at(-1)).toEqual({ 'events.name': 'n10049' })
    expect(await app.rows({ dimensions, limit: 1 })).toHaveLength(1)
  })
})

describe('what is refused', () => {
  it.each([
    ['an unknown member', { ...counted, measures: ['events.x'] }, '', 9100],
    ['a repeated measure', { ...counted, measures: ['events.count', 'events.count'] }, '', 9103],
    ['51 measures', { ...counted, measures: Array.from({ length: 51 }, (_, i) => `m${i}`) }, '', 1],
    ['a missing part', { measures: ['events.count'] }, '', 1],
    ['an unknown part', { ...counted, offset: 5 }, '', 1],
    ['a limit of 0', { ...counted, limit: 0 }, '', 1],
    ['a negative limit', { ...counted, limit: -1 }, '', 1],
    ['half a row', { ...counted, limit: 1.5 }, '', 1],
    ['50,001 rows', { ...counted, limit: 50_001 }, '', 1],
    ['a limit as text', { ...counted, limit: '10' }, '', 1],
    ['an unknown direction', { ...counted, order: { 'events.count': 'DESC' } }, '', 1],
    [
      'an unknown granularity',
      { ...counted, timeDimensions: [{ dimension: 'events.time', granularity: 'Day' }] },
      '',
      1,
    ],
    [
      'a range of five',
      {
        ...counted,
        timeDimensions: [
          { dimension: 'events.time', dateRange: [1, 2, 3, 4, 5].map((d) => `2026-01-0${d}`) },
        ],
      },
      '',
      1,
    ],
    [
      'no values',
      { ...counted, filters: [{ member: 'events.name', operator: 'equals', values: [] }] },
      '',
      1,
    ],
    [
      '100,000 values',
      {
        ...counted,
        filters: [{ member: 'events.name', operator: 'equals', values: Array(100_000).fill('a') }],
      },
      '',
      1,
    ],
    [
      'a null byte',
      { ...counted, filters: [{ member: 'events.name', operator: 'equals', values: ['\0'] }] },
      '',
      1,
    ],
    ['another format', counted, '?format=xml', 1],
    ['an empty format', counted, '?format=', 1],
    ['a repeated format', counted, '?format=csv&format=csv', 1],
    ['an unknown parameter', counted, '?csv=1', 1],
    [
      'a second of ten years',
      {
        ...counted,
        timeDimensions: [
          { dimension: 'events.time', granularity: 'second', dateRange: ['2015-01-01', '2024-12-31'] },
        ],
      },
      '',
      19,
    ],
    ['members that do not fit', { ...counted, dimensions: ['purchases.item'] }, '', 9101],
    [
      'a filter on a virtual measure',
      { ...counted, filters: [{ member: 'events.perPerson', operator: 'gt', values: ['1'] }] },
      '',
      9102,
    ],
    [
      'a day that does not exist',
      { ...counted, timeDimensions: [{ dimension: 'events.time', dateRange: '2024-02-30' }] },
      '',
      9103,
    ],
    ['nothing asked', whole({}), '', 9103],
    ['an array', [], '', 1],
    ['null', null, '', 1],
  ])('is %s', async (_, query, search, errorCode) => {
    const { status, body } = await app.post(query, { search })
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: errorCode })
  })

  it.each(['regex', 'EQUALS', '__proto__', 'toString', ''])('is the operator %j', async (operator) => {
    const filters = [{ member: 'events.name', operator, values: ['a'] }]
    expect((await app.post({ ...counted, filters })).body.error_code).toBe(1)
  })

  it('is a type that is not offered', async () => {
    expect((await app.post(counted, { accept: 'text/html' })).body.error_code).toBe(8)
  })
})

describe('any query', () => {
  it('of known members is answered or refused, never failed', { timeout: 120_000 }, async () => {
    await engine.load([
      storedEvent({ ids: ['a'], labels: { x: '1' } }),
      storedEvent({ name: 'purchase', value: '1', transId: 'T', ids: ['a'] }),
      storedEvent({ name: 'identify', clientId: 'ada' }),
    ])
    const { measures, dimensions, queryCompatibility } = await app.service.describe(app.caller.companyId)
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 5 }),
      fc.constantFrom(
        '1',
        '-1.5',
        'true',
        'today',
        '2026-03-10',
        "'",
        '\\',
        '99999999999999999999',
        '1e400',
        'nan',
        'inf',
      ),
    )
    const range = fc.oneof(
      fc.constantFrom('today', 'last 2 weeks'),
      fc.array(text, { minLength: 1, maxLength: 2 }),
    )
    const direction = fc.constantFrom('asc' as const, 'desc' as const)
    const query = fc.constantFrom(...queryCompatibility.components).chain((component) => {
      const measure = fc.constantFrom(...component.filter((id) => id in measures))
      const dimension = fc.constantFrom(...component.filter((id) => id in dimensions))
      return fc.record(
        {
          measures: fc.uniqueArray(measure, { maxLength: 4 }),
          dimensions: fc.uniqueArray(dimension, { maxLength: 3 }),
          filters: fc.array(
            fc.oneof(measure, dimension).chain((member) =>
              fc.record({
                member: fc.constant(member),
                operator: fc.constantFrom(...(dimensions[member]?.operators ?? filterOperators)),
                values: fc.array(text, { minLength: 1, maxLength: 4 }),
              }),
            ),
            { maxLength: 3 },
          ),
          timeDimensions: fc.array(
            fc.record(
              {
                dimension: fc.constantFrom('events.time', 'purchases.time'),
                granularity: fc.constantFrom(...granularities),
                dateRange: range,
                compareDateRange: fc.array(range, { minLength: 1, maxLength: 3 }),
              },
              { requiredKeys: ['dimension'] },
            ),
            { maxLength: 1 },
          ),
          order: fc.array(fc.tuple(fc.oneof(measure, dimension), direction), { maxLength: 1 }),
        },
        { requiredKeys: ['measures', 'dimensions', 'filters', 'timeDimensions'] },
      )
    })
    const seen = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(query, async (each) => {
        const { status, body } = await app.post(each)
        seen.set(status, (seen.get(status) ?? 0) + 1)
        if (status !== 200) expect({ status, message: body.message }).toMatchObject({ status: 400 })
      }),
      { numRuns: Number(process.env.MILLRACE_QUERY_RUNS ?? 300) },
    )
    expect(seen.get(200)).toBeGreaterThan(10)
  })
})

describe('a query that runs', () => {
  const endless = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)'

  /** The engine with every question replaced by one that does not end, or by another. */
  function asking(sql: string): Columnar {
    return {
      ...engine.columnar,
      stream: (statement) => engine.columnar.stream({ ...statement, sql, params: {} }),
    }
  }

  async function runningInEngine(): Promise<number> {
    const { running } = await engine.columnar.status()
    return running.length
  }

  async function until(condition: () => Promise<boolean>, ms: number): Promise<number> {
    const start = performance.now()
    while (!(await condition())) {
      if (performance.now() - start > ms) throw new Error(`not within ${ms} ms`)
      await sleep(20)
    }
    return performance.now() - start
  }

  it('is stopped after its time with 504', async () => {
    const outcomes: string[] = []
    const slow = await openWith(asking(endless), {
      limits: { seconds: 1, memoryBytes: 1024 ** 3 },
      onAnswered: (outcome) => outcomes.push(outcome),
    })
    const { status, body } = await slow.post(counted)
    expect(outcomes).toEqual(['timeout'])
    expect({ status, data: body.data, code: body.error_code }).toEqual({
      status: 504,
      data: { limitSeconds: 1 },
      code: 18,
    })
    await until(async () => (await runningInEngine()) === 0, 1_000)
  })

  it('is stopped at its memory with 400', async () => {
    const large = await openWith(asking('SELECT groupArray(number) FROM numbers(100000000)'), {
      limits: { seconds: 30, memoryBytes: 50_000_000 },
    })
    const { status, body } = await large.post(counted)
    expect({ status, data: body.data }).toEqual({ status: 400, data: { limit: 'memory' } })
    expect(body.message).toContain('shorten its dateRange')
  })

  it('ends within a second when the caller leaves, and frees its place', async () => {
    const gate = createQueryGate()
    const outcomes: string[] = []
    const slow = await openWith(asking(endless), { gate, onAnswered: (outcome) => outcomes.push(outcome) })
    const address = await slow.app.listen({ port: 0, host: '127.0.0.1' })
    const leaving = new AbortController()
    const ask = (accept: string) =>
      fetch(`${address}/v2/statistics/query`, {
        method: 'POST',
        body: JSON.stringify(counted),
        headers: { 'content-type': 'application/json', accept },
        signal: leaving.signal,
      }).catch((error: Error) => error.name)
    const asked = Array.from({ length: 20 }, (_, i) => ask(i % 2 === 0 ? 'application/json' : 'text/csv'))
    await until(async () => (await runningInEngine()) === 4, 5_000)
    const refused = await slow.post(counted)
    expect(refused.status).toBe(429)
    expect(refused.headers['retry-after']).toBe('2')
    leaving.abort()
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['AbortError']))
    expect(await until(async () => (await runningInEngine()) === 0, 3_000)).toBeLessThan(1_500)
    for (let place = 0; place < 4; place++) await gate.enter(slow.caller.companyId)
    expect(outcomes.toSorted()).toEqual([...Array(20).fill('cancelled'), 'refused'])
  })

  it('is answered 503 with Retry-After while the store is down', async () => {
    const down = openColumnar({ address: { socketPath: '/nonexistent/columnar.sock' } })
    const without = await openWith(down)
    const { status, body, headers } = await without.post(counted)
    expect({ status, code: body.error_code, retry: headers['retry-after'] }).toMatchObject({
      status: 503,
      code: 17,
    })
    expect(headers['retry-after']).toBeDefined()
    await down.close()
  })
})
