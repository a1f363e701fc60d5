import type { Query } from '@millrace/contract/resources/query.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent, testCompany } from '../support/statistics-events.ts'

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
  app.caller.permissions = ['statistics:access', 'statistics:export']
  app.caller.companyId = testCompany
})

const whole = (query: Partial<Query>): Query => ({
  measures: [],
  dimensions: [],
  filters: [],
  timeDimensions: [],
  ...query,
})

const counted = whole({ measures: ['events.count'] })

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
