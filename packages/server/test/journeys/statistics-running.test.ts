import { Readable } from 'node:stream'
import { filterOperators, granularities, type Query } from '@millrace/contract/resources/query.ts'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createQueryLimiter, type QueryLimiter } from '../../src/features/analytics/query/query-limiter.ts'
import { type Columnar, ColumnarError } from '../../src/platform/stores/columnar.ts'
import { openColumnar } from '../../src/platform/stores/columnar-client.ts'
import { times } from '../support/long.ts'
import { callerToken, openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent } from '../support/statistics-events.ts'
import { until } from '../support/until.ts'

const runs = times(1_000, 150)

let engine: StatisticsEngine
let app: StatisticsApp
const opened: StatisticsApp[] = []

beforeAll(async () => {
  engine = await openStatisticsEngine()
  app = await openStatisticsApp(engine.columnar)
})

afterAll(async () => {
  await app.app.close()
  await engine.close()
})

beforeEach(() => engine.empty())

afterEach(async () => {
  for (const each of opened.splice(0)) await each.app.close()
})

async function openWith(
  columnar: Columnar,
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

describe('any query', () => {
  it('of known members is answered or refused, never failed', { timeout: 600_000 + 300 * runs }, async () => {
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
      { numRuns: runs },
    )
    expect(seen.get(200)).toBeGreaterThan(runs / 60)
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

  async function streamed(columnar: Columnar, gate = createQueryLimiter()) {
    const streaming = await openWith(columnar, { queryLimiter: gate })
    const { outcomes } = streaming
    const address = await streaming.app.listen({ port: 0, host: '127.0.0.1' })
    const leaving = new AbortController()
    const response = await fetch(`${address}/v2/statistics/query`, {
      method: 'POST',
      body: JSON.stringify(counted),
      headers: { 'content-type': 'application/json', ...callerToken, accept: 'application/x-ndjson' },
      signal: leaving.signal,
    })
    return { response, outcomes, leaving }
  }

  it('is stopped after its time with 504', async () => {
    const slow = await openWith(asking(endless), { queryLimits: { seconds: 1, memoryBytes: 1024 ** 3 } })
    const { status, body } = await slow.post(counted)
    expect(slow.outcomes).toEqual(['timeout'])
    expect({ status, data: body.data, code: body.error_code }).toEqual({
      status: 504,
      data: { limitSeconds: 1 },
      code: 18,
    })
    await until(async () => (await runningInEngine()) === 0)
  })

  it('is stopped at its memory with 400', async () => {
    const large = await openWith(asking('SELECT groupArray(number) FROM numbers(100000000)'), {
      queryLimits: { seconds: 30, memoryBytes: 50_000_000 },
    })
    const { status, body } = await large.post(counted)
    expect({ status, data: body.data }).toEqual({ status: 400, data: { limit: 'memory' } })
    expect(body.message).toContain('shorten its dateRange')
  })

  it('ends within a second when the caller leaves, and frees its place', async () => {
    const gate = createQueryLimiter()
    let entered = 0
    const enter: QueryLimiter['enter'] = (...entry) => {
      entered++
      return gate.enter(...entry)
    }
    const slow = await openWith(asking(endless), { queryLimiter: { enter } })
    const address = await slow.app.listen({ port: 0, host: '127.0.0.1' })
    const leaving = new AbortController()
    const ask = (limit: number) =>
      fetch(`${address}/v2/statistics/query`, {
        method: 'POST',
        // Equal ones would wait for one of them.
        body: JSON.stringify({ ...counted, limit }),
        headers: {
          'content-type': 'application/json',
          ...callerToken,
          accept: limit % 2 === 0 ? 'application/json' : 'text/csv',
        },
        signal: leaving.signal,
      }).catch((error: Error) => error.name)
    const asked = Array.from({ length: 64 }, (_, i) => ask(i + 1))
    await until(async () => entered === 64 && (await runningInEngine()) === 4)
    const refused = await slow.post(counted)
    expect(refused.status).toBe(429)
    expect(refused.headers['retry-after']).toBe('2')
    leaving.abort()
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['AbortError']))
    await until(async () => (await runningInEngine()) === 0)
    for (let place = 0; place < 4; place++) await gate.enter(slow.caller.companyId)
    expect(slow.outcomes.toSorted()).toEqual([...Array(64).fill('cancelled'), 'refused'])
  })

  it('frees its place when the caller leaves while rows come', async () => {
    const gate = createQueryLimiter({ running: 1, waiting: 0 })
    const { response, outcomes, leaving } = await streamed(asking('SELECT number FROM numbers(900000)'), gate)
    expect(response.status).toBe(200)
    await response.body?.getReader().read()
    leaving.abort()
    await until(() => outcomes.length === 1)
    expect(outcomes).toEqual(['cancelled'])
    await gate.enter(app.caller.companyId)
  })

  it('does not end well when it fails while rows come', async () => {
    async function* failing() {
      for (let i = 0; i < 100; i++) yield '["1"]\n'.repeat(1_000)
      throw new ColumnarError(241, 'MEMORY_LIMIT_EXCEEDED', 'too much')
    }
    const { response, outcomes } = await streamed({
      ...engine.columnar,
      stream: async () => Readable.from(failing()),
    })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    expect(outcomes).toEqual(['refused'])
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
