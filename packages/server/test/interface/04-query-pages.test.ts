import type { Query } from '@millrace/contract/resources/query.ts'
import { describe, expect, it } from 'vitest'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent } from '../support/statistics-events.ts'
import { useStatistics, wholeQuery as whole } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

const named = (count: number, at = '2026-03-10T12:00:00Z') =>
  Array.from({ length: count }, (_, i) => storedEvent({ name: `n${String(i).padStart(5, '0')}`, at }))

async function asked(query: Partial<Query>, search = '') {
  const { status, body } = await app.post(whole(query), { search })
  return { status, body, rows: status === 200 && search === '' ? JSON.parse(String(body.data)) : undefined }
}

describe('pages', () => {
  it('follow each other without gap and overlap, with the number of all rows', async () => {
    await engine.load(named(25))
    const seen: string[] = []
    for (const offset of [0, 10, 20, 30]) {
      const { rows, body } = await asked({ dimensions: ['events.name'], limit: 10, offset, total: true })
      seen.push(...rows.map((row: Record<string, string>) => row['events.name']))
      expect(body).toMatchObject({ total: 25 })
      expect(body.warnings?.length ?? 0).toBe(offset < 15 ? 1 : 0)
    }
    expect(seen).toEqual(named(25).map(({ name }) => name))
  })

  it('count groups that pass the filters, and none for nothing', async () => {
    await engine.load([...named(5), ...named(2)])
    const filters = [{ member: 'events.count', operator: 'gt' as const, values: ['1'] }]
    const dimensions = ['events.name']
    expect((await asked({ dimensions, filters, limit: 1, total: true })).body).toMatchObject({ total: 2 })
    expect((await asked({ dimensions, filters, limit: 1, total: true }, '?format=csv')).body).toMatchObject({
      total: 2,
    })
    const none = [{ member: 'events.name', operator: 'equals' as const, values: ['x'] }]
    expect((await asked({ dimensions, filters: none, total: true })).body).toMatchObject({ total: 0 })
    expect((await asked({ dimensions, total: false })).body).not.toHaveProperty('total')
  })

  it('are counted over all ranges and turned in each', async () => {
    await engine.load([...named(5, '2026-01-10T12:00:00Z'), ...named(3, '2026-02-10T12:00:00Z')])
    const timeDimensions = [{ dimension: 'events.time', compareDateRange: ['2026-01', '2026-02'] }]
    const { rows, body } = await asked({
      dimensions: ['events.name'],
      timeDimensions,
      limit: 2,
      offset: 2,
      total: true,
    })
    expect(body).toMatchObject({ total: 8 })
    expect(rows.map(Object.values)).toEqual([
      ['2026-01-01 - 2026-01-31', 'n00002'],
      ['2026-01-01 - 2026-01-31', 'n00003'],
      ['2026-02-01 - 2026-02-28', 'n00002'],
    ])
  })

  it('have no total where a result is streamed', async () => {
    const { status, body } = await app.post(whole({ measures: ['events.count'], total: true }), {
      accept: 'text/csv',
    })
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: 9103 })
    expect(body.message).toContain('total: a streamed result begins before its rows are counted')
  })
})

describe('a streamed result', () => {
  it('has as many rows as there are, unless it is limited', async () => {
    await engine.load(named(12_000))
    const query = whole({ dimensions: ['events.name'] })
    const linesOf = async (more: Partial<Query>) => {
      const { text } = await app.post({ ...query, ...more }, { accept: 'application/x-ndjson' })
      return text.trim().split('\n')
    }
    expect(await linesOf({})).toHaveLength(12_000)
    expect(await linesOf({ offset: 11_999 })).toEqual(['{"events.name":"n11999"}'])
    expect(await linesOf({ limit: 10 })).toHaveLength(10)
    expect((await asked({ dimensions: ['events.name'] })).rows).toHaveLength(10_000)
  })
})

describe('the order', () => {
  it('may be that of a measure that is not shown, also of a ratio and in a comparison', async () => {
    await engine.load([
      storedEvent({ name: 'a', tmpId: '1' }),
      storedEvent({ name: 'b', tmpId: '1' }),
      storedEvent({ name: 'b', tmpId: '2' }),
      storedEvent({ name: 'c', tmpId: '1' }),
      storedEvent({ name: 'c', tmpId: '1' }),
    ])
    const dimensions = ['events.name']
    const names = async (query: Partial<Query>) =>
      (await asked({ dimensions, ...query })).rows.map((row: Record<string, string>) => row['events.name'])
    expect(await names({ order: { 'events.people': 'desc' } })).toEqual(['b', 'a', 'c'])
    expect(
      await names({
        order: [
          ['events.perPerson', 'desc'],
          ['events.name', 'desc'],
        ],
      }),
    ).toEqual(['c', 'b', 'a'])
    const compareDateRange = ['2026-03', '2026-02']
    const { rows } = await asked({
      dimensions,
      order: { 'events.perPerson': 'desc' },
      timeDimensions: [{ dimension: 'events.time', compareDateRange }],
    })
    expect(rows.map((row: object) => Object.keys(row).sort())).toEqual(
      Array(3).fill(['compareDateRange', 'events.name']),
    )
    expect(rows.map((row: Record<string, string>) => row['events.name'])).toEqual(['c', 'a', 'b'])
  })
})

describe('the time zone of a query', () => {
  it('reads its dates, begins its buckets and shows its times', async () => {
    await engine.load([
      storedEvent({ at: '2026-03-09T19:00:00Z' }),
      storedEvent({ at: '2026-03-10T19:00:00Z' }),
    ])
    const { rows } = await asked({
      measures: ['events.count'],
      timeDimensions: [{ dimension: 'events.time', granularity: 'day', dateRange: '2026-03-10' }],
      timezone: 'Asia/Kolkata',
    })
    expect(rows).toEqual([{ 'events.time.day': '2026-03-10T00:00:00.000+05:30', 'events.count': 1 }])
  })
})

describe('filled buckets', () => {
  const days = (dateRange: string | string[], granularity: 'day' | 'hour' | 'month' = 'day') => [
    { dimension: 'events.time', granularity, dateRange },
  ]

  it('stand for each combination of the dimensions that occurs, with 0 and null', async () => {
    await engine.load([
      storedEvent({ name: 'a', at: '2026-03-01T12:00:00Z' }),
      storedEvent({ name: 'b', at: '2026-03-03T12:00:00Z', labels: { x: '1' } }),
    ])
    const { rows } = await asked({
      measures: ['events.count', 'events.perPerson', 'purchases.revenue'],
      timeDimensions: days(['2026-03-01', '2026-03-03']),
      fill: true,
    })
    expect(rows.map(Object.values)).toEqual([
      ['2026-03-01T00:00:00.000+00:00', 1, 1, 0],
      ['2026-03-02T00:00:00.000+00:00', 0, null, 0],
      ['2026-03-03T00:00:00.000+00:00', 1, 1, 0],
    ])
    const grouped = await asked({
      measures: ['events.count'],
      dimensions: ['events.name', 'events.label.x'],
      timeDimensions: days(['2026-03-02', '2026-03-03']),
      fill: true,
      total: true,
    })
    expect(grouped.rows.map(Object.values)).toEqual([
      ['2026-03-02T00:00:00.000+00:00', 'b', '1', 0],
      ['2026-03-03T00:00:00.000+00:00', 'b', '1', 1],
    ])
    expect(grouped.body).toMatchObject({ total: 2 })
  })

  it('stand for nothing but time where nothing is stored, over changes of the clock (Q22)', async () => {
    const hours = async (timezone: string, date: string | string[]) =>
      (
        await asked({ measures: ['events.count'], timeDimensions: days(date, 'hour'), fill: true, timezone })
      ).rows.map((row: Record<string, string>) => row['events.time.hour']?.slice(11, 16))
    expect(await hours('UTC', '2026-03-29')).toHaveLength(24)
    expect(await hours('Europe/Paris', '2026-03-29')).toHaveLength(23)
    expect(await hours('Europe/Paris', '2026-10-25')).toHaveLength(25)
    // Half an hour is left out, or comes twice: a row shows the first instant of its hour, or of its part of one.
    const clock = {
      spring: ['00:00', '01:00', '02:30', '03:00'],
      autumn: ['00:00', '01:00', '01:30', '02:00'],
    }
    const lordHowe = async (range: string | string[]) =>
      (await hours('Australia/Lord_Howe', range)).slice(0, 4)
    expect(await lordHowe('2026-10-04')).toEqual(clock.spring)
    expect(await lordHowe('2026-04-05')).toEqual(clock.autumn)
    const [change, end] = ['2026-10-03T15:30:00Z', '2026-10-03T17:00:00Z']
    for (const from of [change, '2026-10-03T15:40:00Z']) {
      expect(await lordHowe([from, end])).toEqual(clock.spring.slice(2))
    }
    const whole = await asked({ measures: ['events.count'], timeDimensions: days('2026-03-29'), fill: true })
    expect(whole.rows).toHaveLength(1)
    const none = await asked({
      measures: ['events.count'],
      dimensions: ['events.name'],
      timeDimensions: days('2026-03-29'),
      fill: true,
    })
    expect(none.rows).toEqual([])
  })

  it('belong to the range that they lie in', async () => {
    await engine.load([storedEvent({ name: 'a', at: '2026-03-01T12:00:00Z' })])
    const { rows } = await asked({
      measures: ['events.count'],
      timeDimensions: [
        {
          dimension: 'events.time',
          granularity: 'month',
          compareDateRange: ['2026-03', ['2026-01', '2026-02']],
        },
      ],
      fill: true,
    })
    expect(rows.map(Object.values)).toEqual([
      ['2026-03-01 - 2026-03-31', '2026-03-01T00:00:00.000+00:00', 1],
      ['2026-01-01 - 2026-02-28', '2026-01-01T00:00:00.000+00:00', 0],
      ['2026-01-01 - 2026-02-28', '2026-02-01T00:00:00.000+00:00', 0],
    ])
  })

  it.each<[string, Partial<Query>, number, string]>([
    ['nothing to fill', { dimensions: ['events.name'] }, 9103, 'fill: there are no buckets to fill'],
    [
      'an open range',
      { timeDimensions: [{ dimension: 'events.time', granularity: 'day' }] },
      9103,
      'fill: buckets are filled within',
    ],
    [
      'two axes',
      { dimensions: ['events.time.month'], timeDimensions: days('2026-03') },
      9103,
      'fill: buckets are filled along one time',
    ],
    [
      'too many buckets',
      { timeDimensions: days('2020', 'hour').map((one) => ({ ...one, granularity: 'second' as const })) },
      19,
      'at most 50000',
    ],
  ])('are refused for %s', async (_, query, code, message) => {
    const { status, body } = await asked({ measures: ['events.count'], ...query, fill: true })
    expect({ status, code: body.error_code }).toEqual({ status: 400, code })
    expect(body.message).toContain(message)
  })

  it('are 50,000 rows at most, of all combinations together', async () => {
    await engine.load(named(51, '2026-01-01T00:30:00Z'))
    const query = {
      measures: ['events.count'],
      dimensions: ['events.name'],
      fill: true,
      limit: 50_000,
    }
    const fits = await asked({ ...query, timeDimensions: days(['2026-01-01', '2026-02-09'], 'hour') })
    expect(fits.rows).toHaveLength(51 * 40 * 24)
    const { status, body } = await asked({
      ...query,
      timeDimensions: days(['2026-01-01', '2026-02-10'], 'hour'),
    })
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: 19 })
    expect(body.message).toContain('needs more rows than it may use')
  })
})
