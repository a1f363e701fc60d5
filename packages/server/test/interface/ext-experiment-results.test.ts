import type { Experiment } from '@millrace/contract/resources/experiment.ts'
import type { ExperimentResults } from '@millrace/contract/resources/experiment-results.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { createQueryLimiter } from '../../src/features/analytics/query/query-limiter.ts'
import { experimentBody } from '../support/experiments.ts'
import { callerToken, openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent, testCompany } from '../support/statistics-events.ts'
import { useStatistics } from '../support/statistics-interface.ts'

const path = '/v2/statistics/experiments'
const hour = 3_600_000
const day = 24 * hour
const all = ['statistics:access', 'statistics:export', 'workflowSettings:create', 'workflowSettings:update']

let engine: StatisticsEngine
let app: StatisticsApp

useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

beforeEach(() => {
  app.caller.permissions = all
  app.now = Date.parse('2026-03-01T00:00:00Z')
})

async function post(address: string, body?: unknown): Promise<Experiment> {
  const reply = await app.app.inject({
    method: 'POST',
    url: address,
    headers: callerToken,
    ...(body === undefined ? {} : { payload: body as object }),
  })
  if (reply.statusCode !== 200) throw new Error(reply.body)
  return reply.json().data
}

async function get(address: string, accept?: string) {
  const headers = { ...callerToken, ...(accept === undefined ? {} : { accept }) }
  const reply = await app.app.inject({ method: 'GET', url: address, headers })
  const isJson = String(reply.headers['content-type']).startsWith('application/json')
  return {
    status: reply.statusCode,
    text: reply.body,
    type: reply.headers['content-type'],
    body: isJson ? reply.json() : {},
  }
}

/** A running experiment with events of its units, read 20 days later. */
async function running(units: Readonly<Record<string, readonly [units: number, buyers: number]>>) {
  const experiment = await post(path, experimentBody({ conversionWindowHours: 24 }))
  const { startedAt } = await post(`${path}/${experiment._id}/start`)
  const start = Date.parse(startedAt ?? '')
  await engine.load(
    Object.entries(units).flatMap(([variantId, [count, buyers]]) =>
      Array.from({ length: count }, (_, i) => {
        const tmpId = `${variantId}-${i}`
        const time = start + (i % 5) * day
        return [
          storedEvent({
            name: 'experiment_exposure',
            tmpId,
            time,
            labels: { experimentId: experiment._id, variantId },
          }),
          ...(i < buyers
            ? [storedEvent({ name: 'purchase', tmpId, time: time + hour, value: '10.00' })]
            : []),
        ]
      }).flat(),
    ),
  )
  app.now = start + 20 * day
  return `${path}/${experiment._id}`
}

describe('results', () => {
  it('are those of what is stored, with both tests', async () => {
    const address = await running({ control: [500, 50], treatment: [500, 100] })
    const { status, body } = await get(`${address}/results`)
    const results: ExperimentResults = body.data
    expect(status).toBe(200)
    expect(
      results.metrics[0]?.variants.map(({ units, conversions, rate }) => [units, conversions, rate]),
    ).toEqual([
      [500, 50, 0.1],
      [500, 100, 0.2],
    ])
    const comparison = results.metrics[0]?.variants[1]?.comparison
    expect(comparison?.fixedHorizon).toMatchObject({ safeWhenReadDaily: false })
    expect(comparison?.alwaysValid).toMatchObject({ safeWhenReadDaily: true })
    expect(results).toMatchObject({ validated: true, timezone: 'UTC', windows: 'complete' })
    expect(results.readAt).toBe(new Date(app.now).toISOString())
    expect(results.course).toHaveLength(5)
  })

  it('count open windows only where that is asked for', async () => {
    const address = await running({ control: [10, 2], treatment: [10, 4] })
    app.now -= 16 * day - hour / 2
    const complete = await get(`${address}/results`)
    const open = await get(`${address}/results?windows=all`)
    const units = ({ body }: typeof open) =>
      body.data.metrics[0].variants.map((each: { units: number }) => each.units)
    expect([units(complete), units(open)]).toEqual([
      [8, 8],
      [10, 10],
    ])
    expect((await get(`${address}/results?windows=some`)).status).toBe(400)
  })

  it('fill the outcome of a decision', async () => {
    const address = await running({ control: [500, 50], treatment: [500, 100] })
    const { data } = (await get(`${address}/results`)).body
    await post(`${address}/end`)
    const { outcome } = await post(`${address}/decide`, { routingVariantId: 'treatment' })
    const { alwaysValid } = data.metrics[0].variants[1].comparison
    expect(outcome).toMatchObject({
      validated: true,
      pValue: alwaysValid.adjusted.pValue,
      confidence: 1 - alwaysValid.adjusted.pValue,
      lift: { estimate: alwaysValid.lift.estimate, ...alwaysValid.adjusted.lift },
    })
  })

  it('are rows as CSV in the envelope, as bare CSV and as lines', async () => {
    const address = await running({ control: [10, 2], treatment: [10, 4] })
    const wrapped = await get(`${address}/results?format=csv`)
    const bare = await get(`${address}/results`, 'text/csv')
    expect(wrapped.body.data).toBe(bare.text)
    expect(bare.text.split('\r\n')[1]).toMatch(
      /^orders,unique_conversion,success,control,10,0,2,2,,0\.2,0\.2,/,
    )
    expect(bare.type).toBe('text/csv; charset=utf-8; header=present')
    const lines = await get(`${address}/results`, 'application/x-ndjson')
    expect(
      lines.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).variant),
    ).toEqual(['control', 'treatment'])
    expect((await get(`${address}/results`, 'image/png')).status).toBe(406)
  })

  it('are refused before the start, and of another company as of none (X01, X07)', async () => {
    const draft = await post(path, experimentBody())
    const early = await get(`${path}/${draft._id}/results`)
    expect([early.status, early.body.error_code, early.body.data]).toEqual([409, 9450, { id: draft._id }])
    const address = await running({ control: [1, 0] })
    app.caller.companyId = otherCompany
    const id = address.slice(path.length + 1)
    const absent = 'ffffffffffffffffffffffff'
    for (const asked of [id, absent]) {
      const reply = await get(`${path}/${asked}/results`)
      expect([reply.status, reply.body.error_code, reply.body.data]).toEqual([404, 9000, { id: asked }])
    }
    expect((await get(`${path}/no-id/results`)).status).toBe(400)
  })

  it('without units have null for what is not defined (X02)', async () => {
    const address = await running({})
    const { status, text, body } = await get(`${address}/results`)
    expect(status).toBe(200)
    expect(text).not.toMatch(/NaN|Infinity/)
    expect(body.data.metrics[0].variants[0]).toMatchObject({
      units: 0,
      rate: null,
      mean: null,
      estimate: null,
    })
    expect(body.data).toMatchObject({
      validated: false,
      sampleRatio: { pValue: null, holds: null },
      course: [],
    })
  })

  it('are read through the places of queries, and names of events never reach the text of a statement (Q02, X08)', async () => {
    const event = "x') OR 1=1 --"
    const metrics = [{ id: 'signups', kind: 'unique_conversion' as const, source: { event } }]
    const { _id } = await post(path, experimentBody({ metrics }))
    await post(`${path}/${_id}/start`)
    engine.statements.length = 0
    expect((await get(`${path}/${_id}/results`)).status).toBe(200)
    const [statement] = engine.statements
    expect(statement?.sql).not.toContain(event)
    expect(statement?.sql).not.toContain(_id)
    expect(Object.values(statement?.params ?? {})).toContainEqual([event])
    expect(statement?.readonly).toBe(true)
    expect(statement?.settings).toMatchObject({ max_execution_time: 30 })
    // Every scan of a table is of the company.
    const scans = statement?.sql.match(
      /FROM (events|identities|orders|purchases)\b[^\n]*\n\s*WHERE company = /g,
    )
    expect(scans).toHaveLength(
      statement?.sql.match(/FROM (events|identities|orders|purchases)\b/g)?.length ?? 0,
    )
  })
})

it('results wait for a place of the company like a query, and are refused when too many wait (Q16)', async () => {
  const gate = createQueryLimiter({ running: 1, waiting: 0 })
  const busy = await openStatisticsApp(engine.columnar, { queryLimiter: gate })
  busy.caller.permissions = all
  try {
    const asked = (method: 'GET' | 'POST', address: string, payload?: object) =>
      busy.app.inject({ method, url: address, headers: callerToken, ...(payload ? { payload } : {}) })
    const { _id } = (await asked('POST', path, experimentBody())).json().data
    await asked('POST', `${path}/${_id}/start`)
    const leave = await gate.enter(testCompany)
    const refused = await asked('GET', `${path}/${_id}/results`)
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '2'])
    leave()
    expect((await asked('GET', `${path}/${_id}/results`)).statusCode).toBe(200)
    // The place is free again.
    ;(await gate.enter(testCompany))()
  } finally {
    await busy.app.close()
  }
})

describe('a plan', () => {
  const plan = async (body: unknown) => {
    const { status, body: reply } = await app.post(body, { path: `${path}/plan` })
    return { status, reply }
  }

  it('says how many units find an effect', async () => {
    const { status, reply } = await plan({ baseline: { rate: 0.05 }, effect: 0.1, dailyUnits: 2_000 })
    expect(status).toBe(200)
    expect(reply.data).toMatchObject({ fixedHorizon: { days: 32 } })
  })

  it.each([
    [{ baseline: { rate: 0.5 }, effect: 0 }, 'effect'],
    [{ baseline: { rate: 0.5 }, effect: 1.5 }, 'effect'],
    [{ baseline: { rate: 0.5 }, effect: 0.1, allocations: [0.5, 0.6] }, 'allocations'],
    [{ baseline: { rate: 1 }, effect: 0.1 }, 'baseline'],
    [{ baseline: { rate: 0.5 }, effect: 1e9 }, 'effect'],
    [{ baseline: { rate: 0.5 }, effect: 0.1, power: 1 }, 'power'],
    [{ baseline: { rate: 0.5 }, effect: 0.1, alpha: 0 }, 'alpha'],
    [{ baseline: { rate: 0.5 }, effect: 0.1, dailyUnits: 0.5 }, 'dailyUnits'],
    [{ baseline: { rate: 0.5 }, effect: 0.1, allocations: Array(11).fill(1 / 11) }, 'allocations'],
  ])('names what is wrong (X09): %j', async (body, field) => {
    const { status, reply } = await plan(body)
    expect(status).toBe(400)
    expect(JSON.stringify(reply.data)).toContain(field)
  })
})
