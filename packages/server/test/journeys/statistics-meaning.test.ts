import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent } from '../support/statistics-events.ts'

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

beforeEach(async () => {
  await engine.empty()
  app.timezone = 'UTC'
  app.now = Date.parse('2026-03-20T15:30:00Z')
})

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

  it('sum in cents, with every digit and one type, beyond what a double holds', async () => {
    await engine.load(
      Array.from({ length: 1000 }, (_, i) => storedEvent({ ...order, transId: `T${i}`, value: '0.10' })),
    )
    expect(await app.rows({ measures: ['purchases.revenue'] })).toEqual([{ 'purchases.revenue': 100 }])
    await engine.load(
      ['9999999999999999.99', '9999999999999999.98'].map((value, i) =>
        storedEvent({ ...order, transId: `large${i}`, value }),
      ),
    )
    const summed = { measures: ['purchases.revenue'], filters: [], timeDimensions: [] }
    const text = async (dimensions: string[], accept?: string) => {
      const { body, text: bare } = await app.post({ ...summed, dimensions }, accept ? { accept } : {})
      return accept ? bare : body.data
    }
    expect(await text([])).toBe('[{"purchases.revenue":20000000000000099.97}]')
    expect(await text([], 'text/csv')).toBe('purchases.revenue\r\n20000000000000099.97\r\n')
    const rows = JSON.parse(String(await text(['purchases.transaction']))) as Record<string, unknown>[]
    expect(rows).toHaveLength(1_002)
    expect(new Set(rows.map((row) => typeof row['purchases.revenue']))).toEqual(new Set(['number']))
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
