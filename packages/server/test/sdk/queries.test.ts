import { type Client, createClient } from '@millrace/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest'
import { openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent } from '../support/statistics-events.ts'

let engine: StatisticsEngine
let app: StatisticsApp
let client: Client

beforeAll(async () => {
  engine = await openStatisticsEngine()
  app = await openStatisticsApp(engine.columnar)
  const baseUrl = await app.app.listen({ port: 0, host: '127.0.0.1' })
  client = createClient({ baseUrl, accessToken: 'c'.repeat(43), maxRetries: 0 })
})
afterAll(async () => {
  await app.app.close()
  await engine.close()
})

/** Rows of the stream, counted and not kept. */
async function countOf(rows: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const _ of rows) count++
  return count
}

describe('a query', () => {
  beforeEach(async () => {
    await engine.empty()
    await engine.load([
      storedEvent({ at: '2026-03-10T12:00:00Z', name: 'purchase', value: '12.5', country: 'FR' }),
      storedEvent({ at: '2026-03-11T12:00:00Z', name: 'purchase', value: '7', country: 'DE' }),
      storedEvent({ at: '2026-03-11T12:00:00Z', name: 'page_view' }),
    ])
  })

  it('gives rows with a key for each member that it names, typed', async () => {
    const { rows, warnings } = await client.query({
      measures: ['purchases.count', 'purchases.revenue'],
      timeDimensions: [
        { dimension: 'purchases.time', granularity: 'day', dateRange: ['2026-03-10', '2026-03-11'] },
      ],
    })
    expect(rows).toEqual([
      {
        'purchases.time.day': '2026-03-10T00:00:00.000+00:00',
        'purchases.count': 1,
        'purchases.revenue': 12.5,
      },
      { 'purchases.time.day': '2026-03-11T00:00:00.000+00:00', 'purchases.count': 1, 'purchases.revenue': 7 },
    ])
    expect(warnings).toEqual([])
    const [row] = rows
    if (!row) throw new Error('no row')
    expectTypeOf(row['purchases.revenue']).toEqualTypeOf<number | null>()
    expectTypeOf(row['purchases.time.day']).toEqualTypeOf<string | null>()
    expectTypeOf<keyof typeof row>().toEqualTypeOf<
      'purchases.count' | 'purchases.revenue' | 'purchases.time.day'
    >()
  })

  it('gives null for an absent value and false for a boolean', async () => {
    const { rows } = await client.query({
      measures: ['events.count'],
      dimensions: ['events.country'],
      order: [['events.country', 'asc']],
    })
    expect(rows).toContainEqual({ 'events.country': null, 'events.count': 1 })
    expectTypeOf(rows)
      .items.toHaveProperty('events.country')
      .toEqualTypeOf<string | number | boolean | null>()
  })

  it('has the compared range in each row, and no key of a time without a granularity', async () => {
    const { rows } = await client.query({
      measures: ['purchases.count'],
      timeDimensions: [{ dimension: 'purchases.time', compareDateRange: ['2026-03-10', '2026-03-11'] }],
    })
    expect(rows.map((row) => row['purchases.count'])).toEqual([1, 1])
    expect(new Set(rows.map((row) => row.compareDateRange)).size).toBe(2)
    expectTypeOf(rows).items.toHaveProperty('compareDateRange').toEqualTypeOf<string>()
    expectTypeOf<keyof (typeof rows)[number]>().toEqualTypeOf<'purchases.count' | 'compareDateRange'>()
  })

  it('takes constants, and members that are known only when it runs', async () => {
    const constant = { measures: ['events.count'], dimensions: ['events.name'], limit: 1 } as const
    const { rows, warnings } = await client.query(constant)
    expect(rows).toHaveLength(1)
    expectTypeOf(rows).items.toHaveProperty('events.count').toEqualTypeOf<number | null>()
    expect(warnings).toMatchObject([{ path: 'limit' }])
    const measures: string[] = ['events.count']
    const found = await client.query({ measures, total: true })
    expect(found).toEqual({ rows: [{ 'events.count': 3 }], warnings: [], total: 1 })
    expectTypeOf(found.rows).items.toHaveProperty('anything').toEqualTypeOf<number | null>()
  })

  it('has types that refuse what no query has', () => {
    const wrong = () =>
      client.query({
        // @ts-expect-error: there is no such operator
        filters: [{ member: 'events.name', operator: 'is', values: ['a'] }],
        // @ts-expect-error: there is no such unit
        timeDimensions: [{ dimension: 'events.time', granularity: 'days' }],
      })
    expect(wrong).toBeTypeOf('function')
  })

  it('says which member is wrong', async () => {
    await expect(client.query({ measures: ['events.cuont'] })).rejects.toMatchObject({
      name: 'ValidationError',
      errorName: 'unknownMember',
      errors: [{ path: 'measures.0', message: expect.stringContaining('events.count') }],
    })
  })

  it('gives CSV', async () => {
    const query = { measures: ['events.count'], dimensions: ['events.name'], filters: [], timeDimensions: [] }
    const csv = 'events.name,events.count\r\npurchase,2\r\npage_view,1\r\n'
    expect(await new Response(await client.runQuery.csv({ body: query })).text()).toBe(csv)
    expect(await client.runQuery({ body: query, query: { format: 'csv' } })).toBe(csv)
    expect(await countOf(client.runQuery.rows({ body: query }))).toBe(2)
  })

  it('warns before its first streamed row', async () => {
    const order: unknown[] = []
    const filters = [{ member: 'events.label.stroe', operator: 'equals' as const, values: ['fr'] }]
    const rows = client.streamRows(
      { measures: ['events.count'], filters },
      { onWarnings: (warnings) => order.push(...warnings.map(({ path }) => path)) },
    )
    for await (const row of rows) order.push(row)
    expect(order).toEqual(['filters.0', { 'events.count': 0 }])
  })

  it('throws before the first streamed row where it is wrong', async () => {
    await expect(countOf(client.streamRows({ measures: ['events.cuont'] }))).rejects.toMatchObject({
      errorName: 'unknownMember',
    })
  })
})

describe('a result of 100,000 rows', () => {
  const count = 100_000
  const byUrl = { measures: ['events.count'], dimensions: ['events.url'] } as const

  beforeAll(async () => {
    await engine.empty()
    for (let from = 0; from < count; from += 20_000) {
      await engine.load(
        Array.from({ length: 20_000 }, (_, i) => storedEvent({ url: `https://shop.example/é/${from + i}` })),
      )
    }
  })

  it('is streamed whole, each row once', async () => {
    const seen = new Set<unknown>()
    let sum = 0
    for await (const row of client.streamRows(byUrl)) {
      expectTypeOf(row['events.count']).toEqualTypeOf<number | null>()
      seen.add(row['events.url'])
      sum += row['events.count'] ?? 0
    }
    expect(seen.size).toBe(count)
    expect(seen.has('https://shop.example/é/99999')).toBe(true)
    expect(sum).toBe(count)
  })

  it('ends with the loop that reads it, also when its caller aborts', async () => {
    const rows = client.streamRows(byUrl)
    for await (const row of rows) {
      expect(row['events.count']).toBe(1)
      break
    }
    expect(await rows.next()).toEqual({ done: true, value: undefined })
    const leaving = new AbortController()
    const reason = new Error('left')
    let read = 0
    const reading = (async () => {
      for await (const _ of client.streamRows(byUrl, { signal: leaving.signal })) {
        read++
        if (read === 10) leaving.abort(reason)
      }
    })()
    await expect(reading).rejects.toBe(reason)
    expect(read).toBeLessThan(count)
    expect(await countOf(client.streamRows({ measures: ['events.count'] }))).toBe(1)
  })
})
