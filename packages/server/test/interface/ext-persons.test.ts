import type { PersonErasure, PersonMatch } from '@millrace/contract/resources/person-data.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { createQueryLimiter } from '../../src/features/analytics/query/query-limiter.ts'
import { digestsOf } from '../../src/features/events/persons/person-digests.ts'
import { newId } from '../../src/platform/ids.ts'
import {
  callerToken,
  type Envelope,
  openStatisticsApp,
  type StatisticsApp,
} from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent, testCompany } from '../support/statistics-events.ts'
import { useStatistics } from '../support/statistics-interface.ts'
import { until } from '../support/until.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})
beforeEach(() => {
  app.caller.permissions = ['company:update', 'statistics:export']
})

async function ask<T>(method: 'GET' | 'POST', path: string, body?: object, at = app) {
  const response = await at.app.inject({
    method,
    url: `/v2/entities/persons/${path}`,
    headers: { ...callerToken, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { payload: JSON.stringify(body) }),
  })
  const isJson = String(response.headers['content-type']).startsWith('application/json')
  const envelope = (isJson ? response.json() : {}) as Envelope
  return {
    ...envelope,
    status: response.statusCode,
    text: response.body,
    data: envelope.data as T,
  }
}

const search = (body: object) => ask<PersonMatch>('POST', 'search', body)
const erase = (body: object) => ask<PersonErasure>('POST', 'erase', body)

const hour = (n: number) => `2026-03-01T${String(n).padStart(2, '0')}:00:00.000Z`

async function load(): Promise<void> {
  await engine.load([
    storedEvent({ at: hour(1), tmpId: 'phone' }),
    storedEvent({ at: hour(2), tmpId: 'phone', clientId: 'ada', name: 'identify' }),
    storedEvent({
      at: hour(3),
      tmpId: 'tablet',
      clientId: 'ada',
      name: 'purchase',
      transId: 'T1',
      value: '5',
    }),
    storedEvent({ at: hour(4), tmpId: 'tablet', clientId: 'bob' }),
    storedEvent({ at: hour(5), tmpId: 'tablet', clientId: 'eve' }),
    storedEvent({ at: hour(6), tmpId: 'phone', clientId: 'ada', company: otherCompany }),
  ])
}

describe('what is stored of a person', () => {
  it('is counted, of all its devices and of no other company', async () => {
    await load()
    expect(await search({ clientIds: ['ada'] })).toMatchObject({
      status: 200,
      data: {
        ...{ events: 3, purchases: 1, persons: 1, devices: 2 },
        ...{ earliest: hour(1), latest: hour(3), confirm: null },
      },
    })
    expect((await search({ orders: ['T1'] })).data).toMatchObject({ events: 3, persons: 1 })
    expect((await search({ tmpIds: ['tablet'] })).data).toMatchObject({
      ...{ events: 3, persons: 3, confirm: 'erase 3 persons' },
    })
    expect((await search({ clientIds: ['nobody'] })).data).toMatchObject({
      ...{ events: 0, persons: 0, earliest: null, latest: null, confirm: null },
    })
  })

  it('is exported line by line, with what the lines are and where they end', async () => {
    await load()
    const { status, text } = await ask('POST', 'export', { clientIds: ['ada'] })
    expect(status).toBe(200)
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.map(({ table }) => table)).toEqual([
      ...['about', 'event', 'event', 'event', 'order', 'binding', 'end'],
    ])
    expect(lines[0]).toMatchObject({ clientIds: ['ada'], devices: ['phone'] })
    expect(lines[3]).toMatchObject({ name: 'purchase', tmp_id: 'tablet', trans_id: 'T1', value: 5 })
    expect(text).not.toMatch(/bob/)
    expect(text).not.toContain(testCompany)
  })

  it('is not told without saying who is meant', async () => {
    for (const path of ['search', 'export', 'erase']) {
      for (const body of [
        {},
        { clientIds: [] },
        { clientIds: [''] },
        { clientIds: 'ada' },
        { name: 'ada' },
      ]) {
        expect(await ask('POST', path, body)).toMatchObject({ status: 400, error_code: 1 })
      }
    }
  })

  it('waits for a place among the queries of the company', async () => {
    const queryLimiter = createQueryLimiter({ running: 1, waiting: 0 })
    const busy = await openStatisticsApp(engine.columnar, { queryLimiter })
    busy.caller.permissions = app.caller.permissions
    const leave = await queryLimiter.enter(testCompany)
    try {
      for (const path of ['search', 'export', 'erase']) {
        const body = { clientIds: ['ada'] }
        expect(await ask('POST', path, body, busy)).toMatchObject({ status: 429, data: { retryAfter: 2 } })
      }
      leave()
      expect(await ask('POST', 'export', { clientIds: ['ada'] }, busy)).toMatchObject({ status: 200 })
      expect(await ask('POST', 'search', { clientIds: ['ada'] }, busy)).toMatchObject({ status: 200 })
    } finally {
      await busy.app.close()
    }
  })

  it('is told of identifiers that fit into a request', async () => {
    const clientIds = Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(512, '\u20ac'))
    expect(await search({ clientIds, tmpIds: clientIds })).toMatchObject({ status: 400, error_code: 1039 })
    expect(await search({ clientIds: [...clientIds, 'one more'] })).toMatchObject({
      status: 400,
      error_code: 1,
    })
    expect(await search({ clientIds: ['x'.repeat(513)] })).toMatchObject({ status: 400, error_code: 1 })
  })

  it('is told of as many devices as a request can name', async () => {
    await engine.load(
      Array.from({ length: 5_001 }, (_, n) =>
        storedEvent({ at: hour(7), tmpId: `device ${n}`, clientId: 'robot', name: 'identify' }),
      ),
    )
    for (const path of ['search', 'export', 'erase']) {
      expect(await ask('POST', path, { clientIds: ['robot'] })).toMatchObject({
        ...{ status: 400, error_code: 1039, data: { limit: 5_000 } },
      })
    }
  })
})

it('an event of an erased person is dropped, and every other one is taken', async () => {
  const [id, salt] = [newId(), '3c0f9ad2-6f0e-4d7b-8f3b-7d1c3f0b8a11']
  const person = { clientIds: ['ada'], tmpIds: ['tablet'], anonymous: ['phone'], emails: [] }
  await app.sql('update companies set person_salt = $2 where id = $1', [testCompany, salt])
  await app.sql(`insert into datasources (id, company_id, name) values ($1, $2, 'Shop')`, [id, testCompany])
  await app.sql(
    `insert into erased_identifiers (company_id, digest, refuse_until)
     select $1, unnest($2::text[]), now() + interval '1 day'`,
    [testCompany, digestsOf(person, salt)],
  )
  const counted = async (what: string) => {
    const { body } = await app.app.inject({ url: '/metrics' })
    return Number(new RegExp(`^millrace_collector_events_${what}_total (\\d+)`, 'm').exec(body)?.[1])
  }
  const send = async (tmpId: string, clientId?: string) => {
    const event = { key: testCompany, v: 1, name: 'page_view', url: '', data: {}, eventId: newId() }
    const before = await counted('dropped')
    const { statusCode } = await app.app.inject({
      method: 'POST',
      url: `/collect/${id}/tracker`,
      payload: { ...event, tmpId, ...(clientId && { clientId }) },
    })
    expect(statusCode).toBe(200)
    return (await counted('dropped')) - before
  }
  // The erasure tells every process.
  await erase({ clientIds: ['ada'] })
  await until(async () => (await send('elsewhere', 'ada')) === 1)
  expect([await send('phone'), await send('tablet'), await send('tablet', 'bob')]).toEqual([1, 1, 1])
  expect([await send('elsewhere'), await send('phone', 'bob'), await send('ada', 'tablet')]).toEqual([
    0, 0, 0,
  ])
})

describe('an erasure', () => {
  it('is queued, read and listed, and tells nothing of the person', async () => {
    const { status, data, text } = await erase({ clientIds: ['ada'], refuseDays: 7 })
    expect({ status, data }).toMatchObject({
      status: 200,
      data: { state: 'queued', finishedAt: null, removed: null, requestedBy: app.readerId },
    })
    expect(text).not.toContain('ada')
    expect((await ask('GET', `erasures/${data.id.toUpperCase()}`)).data).toEqual(data)
    expect((await ask<PersonErasure[]>('GET', 'erasures')).data).toContainEqual(data)
    expect(await ask('GET', `erasures/${'f'.repeat(24)}`)).toMatchObject({ status: 404, error_code: 1040 })
  })

  it('of several persons asks for their number', async () => {
    await load()
    const refused = { status: 409, error_code: 1038, data: { persons: 3, confirm: 'erase 3 persons' } }
    for (const confirm of [undefined, 'erase 2 persons', 'yes']) {
      expect(await erase({ tmpIds: ['tablet'], ...(confirm && { confirm }) })).toMatchObject(refused)
    }
    expect(await erase({ tmpIds: ['tablet'], confirm: 'erase 3 persons' })).toMatchObject({ status: 200 })
    expect(await erase({ clientIds: ['ada', 'bob', 'eve'] })).toMatchObject({ status: 200 })
  })

  it.each([{ refuseDays: 0 }, { refuseDays: 366 }, { refuseDays: '30' }])(
    'is not made with %j',
    async (fields) => {
      expect(await erase({ clientIds: ['ada'], ...fields })).toMatchObject({ status: 400, error_code: 1 })
    },
  )
})
