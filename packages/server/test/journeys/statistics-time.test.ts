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
