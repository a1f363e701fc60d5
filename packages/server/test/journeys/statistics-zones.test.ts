import type { Granularity } from '@millrace/contract/resources/query.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findDimension } from '../../src/features/analytics/catalogue/catalogue.ts'
import { createBuckets, formOf } from '../../src/features/analytics/query/compile/compile-groupings.ts'
import { createParameters } from '../../src/features/analytics/query/compile/parameters.ts'
import type { Grouping } from '../../src/features/analytics/query/query.ts'
import { createResultWriter } from '../../src/features/analytics/query/result-writer.ts'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import { isFull } from '../support/long.ts'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { type StoredEvent, storedEvent } from '../support/statistics-events.ts'
import { createOracle } from '../support/statistics-oracle.ts'
import { bucketOf, isoIn } from '../support/statistics-oracle-time.ts'

const long = isFull(import.meta.filename)

const second = 1_000
const hour = 3_600_000
const day = 24 * hour

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

/** Instants at which the wall clock of a zone is changed, found by reading clocks alone. */
function changesOf(zone: string, from: number, to: number): number[] {
  const offset = (instant: number) => isoIn(instant, zone).slice(-6)
  const changes: number[] = []
  for (let start = from; start < to; start += 6 * day) {
    let [before, after] = [start, start + 6 * day]
    if (offset(before) === offset(after)) continue
    while (after - before > second) {
      const middle = Math.floor((before + after) / (2 * second)) * second
      if (offset(middle) === offset(before)) before = middle
      else after = middle
    }
    changes.push(after)
  }
  return changes
}

const granularities = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const

function groupingBy(granularity: Granularity): Grouping {
  const dimension = findDimension('events.time')
  if (!dimension) throw new Error('events have a time')
  return { key: granularity, dimension, granularity }
}

/** The buckets of instants as rows show them, computed by the engine. */
async function bucketsOf(name: string, instants: readonly number[]): Promise<Record<string, string>[]> {
  const zone = openZone(name)
  const buckets = createBuckets(zone, [{ from: Math.min(...instants), to: Math.max(...instants) + 1 }])
  const parameters = createParameters()
  const times = parameters.bind('Array(Int64)', instants)
  const columns = granularities.map((each) => buckets.sql(groupingBy(each), 'time', parameters))
  const rows = await engine.columnar.query<{ cells: string[] }>({
    ...parameters.statement(
      `SELECT [${columns.map((sql) => `toString(${sql})`).join(', ')}] AS cells
          FROM (SELECT arrayJoin(arrayZip(${times}, arrayEnumerate(${times}))) AS each,
            fromUnixTimestamp64Milli(each.1, 'UTC') AS time) ORDER BY each.2`,
    ),
    settings: { enable_extended_results_for_datetime_functions: 1 },
  })
  const shape = granularities.map((key) => ({ key, form: formOf(groupingBy(key)) }))
  const writer = createResultWriter('ndjson', { columns: shape, rangeLabels: [] }, zone)
  const text = writer.rows(rows.map(({ cells }) => cells))
  return text
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row))
}

const zonesOfNode = Intl.supportedValuesOf('timeZone')
/** A part of the zones each, so that the parts share the time that one test may take; the first part, or all. */
const parts = 24
const tested = Array.from({ length: long ? parts : 1 }, (_, part) => part)

describe('buckets', () => {
  it.each(tested)(
    'are those of the wall clock around every change from 2000 to 2027 in a part of the zones of Node, %i',
    async (part) => {
      const zones = zonesOfNode.filter((_, i) => i % parts === part)
      for (const zone of zones) {
        const changes = changesOf(zone, Date.UTC(2000, 0), Date.UTC(2028, 0))
        const around = changes.flatMap((at) => [
          at - 11 * hour,
          at - second,
          at,
          at + 59 * 60 * second,
          at + 13 * hour,
        ])
        // In a range with many changes, with one, and with none.
        const last = changes.at(-1) ?? Date.UTC(2026, 10)
        const ranges = [
          [Date.UTC(2000, 0), ...around],
          [last - day, last, last + hour],
          [last + 600 * second],
        ]
        for (const instants of ranges) {
          const shown = await bucketsOf(zone, instants)
          const wanted = instants.map((instant) =>
            Object.fromEntries(granularities.map((each) => [each, bucketOf(instant, each, zone)])),
          )
          expect(shown, zone).toEqual(wanted)
        }
      }
    },
  )

  it('reach from the first hours of 1970 to the last of 2099', async () => {
    const instants = [
      0,
      5 * hour,
      Date.UTC(1971, 0, 1),
      Date.UTC(1972, 0, 7, 0, 44, 30),
      Date.UTC(2100, 0) - 1,
    ]
    for (const zone of ['America/Los_Angeles', 'Asia/Gaza', 'Pacific/Kiritimati']) {
      const shown = await bucketsOf(zone, instants)
      expect(
        shown.map((each) => each.day),
        zone,
      ).toEqual(instants.map((each) => bucketOf(each, 'day', zone)))
      expect(
        shown.map((each) => each.year),
        zone,
      ).toEqual(instants.map((each) => bucketOf(each, 'year', zone)))
    }
  })
})

/** Events on both sides of a few changes of a zone, and of midnights near them. */
function eventsAround(changes: readonly number[]): StoredEvent[] {
  const minutes = [-2_880, -1_440, -725, -61, -31, -1, 0, 29, 31, 59, 61, 119, 600, 725, 1_440, 2_880]
  return changes.flatMap((at, i) =>
    minutes.map((each, j) =>
      storedEvent({ time: at + each * 60 * second + (j % 3) * second, tmpId: `device-${i}-${j % 4}` }),
    ),
  )
}

describe('a query', () => {
  const asked: readonly Granularity[] = long ? granularities : ['hour', 'day', 'week']

  beforeEach(() => engine.empty())

  it.each([
    ['America/Vancouver', 2025],
    ['America/Edmonton', 2025],
    ['Africa/Casablanca', 2025],
    ['Africa/El_Aaiun', 2026],
    ['America/Coyhaique', 2024],
    ['Pacific/Apia', 2011],
    ['Pacific/Kwajalein', 1993],
    ['America/Santiago', 2026],
    ['Asia/Beirut', 2026],
    ['Australia/Lord_Howe', 2026],
    ['America/St_Johns', 2010],
    ['Asia/Kathmandu', 1985],
  ])('in %s counts by the days of its wall clock in %i', async (zone, year) => {
    app.timezone = zone
    const changes = changesOf(zone, Date.UTC(year, 0), Date.UTC(year + 2, 0))
    const events = eventsAround([...changes, Date.UTC(year + 1, 10, 15)])
    await engine.load(events)
    const oracle = createOracle(events)
    const measures = ['events.count', 'events.sessions']
    for (const granularity of asked) {
      for (const dateRange of [undefined, [`${year}-01-01`, `${year + 1}-12-31`]]) {
        if (dateRange === undefined && (granularity === 'second' || granularity === 'minute')) continue
        if (dateRange !== undefined && granularity === 'second') continue
        if (dateRange !== undefined && granularity === 'minute') continue
        const time = { dimension: 'events.time', granularity, ...(dateRange && { dateRange }) }
        const query = { measures, dimensions: [], filters: [], timeDimensions: [time], limit: 10_000 }
        expect(await app.rows(query), granularity).toEqual(oracle.rows(query, zone))
      }
    }
  })

  it('of a day that a zone left out finds nothing, and those next to it are whole', async () => {
    app.timezone = 'Pacific/Apia'
    const change = Date.parse('2011-12-30T10:00:00Z')
    await engine.load([storedEvent({ time: change - hour }), storedEvent({ time: change + hour })])
    const of = (...dateRange: string[]) =>
      app.rows({ measures: ['events.count'], timeDimensions: [{ dimension: 'events.time', dateRange }] })
    expect(await of('2011-12-30', '2011-12-30')).toEqual([{ 'events.count': 0 }])
    expect(await of('2011-12-29', '2011-12-30')).toEqual([{ 'events.count': 1 }])
    expect(await of('2011-12-30', '2011-12-31')).toEqual([{ 'events.count': 1 }])
  })
})
