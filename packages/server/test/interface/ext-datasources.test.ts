import { permissionNames } from '@millrace/contract/permissions.ts'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createQueryLimiter } from '../../src/features/analytics/query/query-limiter.ts'
import { insertDatasource } from '../../src/features/datasources/datasource-service.ts'
import { createDatasourceStore } from '../../src/features/datasources/datasource-store.ts'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { createTeamStore } from '../../src/features/identity/people/teams/team-store.ts'
import { createPrincipal } from '../../src/features/identity/sessions/principal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { newId } from '../../src/platform/ids.ts'
import { createTestColumnar, type TestEngine } from '../support/columnar.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { callerToken, openTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

interface Envelope {
  code: number
  message: string
  error_code?: number
  data: Record<string, unknown> & Record<string, unknown>[]
  paginationCount?: number
  paginationPage?: number
  paginationLimit?: number
}

let database: TestDatabase
let columnar: TestEngine
let store: ReturnType<typeof createDatasourceStore>
let app: FastifyInstance

let company: { companyId: string; teamId: string }
let other: { companyId: string; teamId: string }
/** Two more teams of the first company. */
let shop: string
let press: string
const queryLimiter = createQueryLimiter({ running: 1, waiting: 2 })
/** Whose requests are made; tests change it. */
const caller = { companyId: '', teamIds: [] as string[] }

beforeAll(async () => {
  database = await createTestDatabase()
  columnar = await createTestColumnar()
  company = await database.transaction((tx) => insertCompany(tx, 'Acme'))
  other = await database.transaction((tx) => insertCompany(tx, 'Other'))
  shop = newId()
  press = newId()
  for (const [id, name] of [
    [shop, 'Shop'],
    [press, 'Press'],
  ] as const) {
    await createTeamStore(database.db).insert({ id, companyId: company.companyId, name })
  }
  store = createDatasourceStore(database.db)
  ;({ app } = await openTestService(database, {
    columnar,
    clock: systemClock,
    queryLimiter,
    findPrincipal: async () =>
      createPrincipal({
        email: 'ada@example.com',
        roleId: '65f0c0ffee5ca1ab1e0ddba4',
        userId: newId(),
        clientId: newId(),
        tokenId: newId(),
        permissions: permissionNames,
        ...caller,
      }),
  }))
})

afterAll(async () => {
  await app.close()
  await columnar.close()
  await database.close()
})

function as(companyId: string, ...teamIds: string[]): void {
  Object.assign(caller, { companyId, teamIds })
}

async function call(
  method: InjectOptions['method'] & string,
  url: string,
  payload?: object,
): Promise<Envelope> {
  const reply = await app.inject({
    method: method as 'GET',
    url: `/v2/datasources${url}`,
    headers: callerToken,
    ...(payload === undefined ? {} : { payload }),
  })
  return reply.json()
}

async function create(name: string, ...teams: string[]): Promise<string> {
  const made = await call('POST', '', teams.length > 0 ? { name, resourceGroupIds: teams } : { name })
  if (made.code !== 200) throw new Error(made.message)
  return String(made.data.id)
}

describe('creating and listing', () => {
  test('creates a tracking datasource for the teams named, or for all teams of the caller', async () => {
    as(company.companyId, shop, company.teamId)
    const made = await call('POST', '', { name: 'Web', resourceGroupIds: [shop.toUpperCase()] })
    expect(made).toMatchObject({
      code: 200,
      data: {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        companyId: company.companyId,
        name: 'Web',
        mode: 'ingester',
        type: 'analytics',
        status: 'published',
        resourceGroupIds: [shop],
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
    })
    const all = await call('POST', '', { name: 'All' })
    expect(all.data.resourceGroupIds).toEqual([company.teamId, shop].sort())
  })

  test('takes back what it answered', async () => {
    as(company.companyId, shop)
    const made = await call('POST', '', { name: 'Copy' })
    expect(await call('POST', '', made.data)).toMatchObject({ code: 200, data: { name: 'Copy' } })
  })

  test('refuses teams that are unknown, of another company, or not the caller’s, and callers without a team', async () => {
    as(company.companyId, shop)
    const make = (...teams: string[]) => call('POST', '', { name: 'X', resourceGroupIds: teams })
    expect(await make(shop, 'f'.repeat(24))).toMatchObject({ code: 400, data: { teamIds: ['f'.repeat(24)] } })
    expect(await make(other.teamId)).toMatchObject({ code: 400, data: { teamIds: [other.teamId] } })
    expect(await make(shop, press)).toMatchObject({ code: 403, data: { teamIds: [press] } })
    expect(await make()).toMatchObject({ code: 400 })
    as(company.companyId)
    expect(await call('POST', '', { name: 'X' })).toMatchObject({ code: 400, error_code: 1 })
  })

  test.each([[{}], [{ name: '' }], [{ name: 'x'.repeat(51) }], [{ name: 5 }], [{ name: 'X', nmae: 'Y' }]])(
    'refuses %j',
    async (body) => {
      as(company.companyId, shop)
      expect(await call('POST', '', body)).toMatchObject({ code: 400, error_code: 1 })
    },
  )

  test('lists page by page what the teams of the caller see, the oldest first', async () => {
    as(company.companyId, press)
    const made = []
    for (const name of ['A', 'B', 'C']) made.push(await create(name))
    expect(await call('GET', '?perPage=2')).toMatchObject({
      code: 200,
      data: [{ id: made[0] }, { id: made[1] }],
      paginationCount: 3,
      paginationPage: 1,
      paginationLimit: 2,
    })
    expect((await call('GET', '?perPage=2&page=2')).data).toMatchObject([{ id: made[2] }])
    expect(await call('GET', '?page=9')).toMatchObject({ code: 200, data: [], paginationCount: 3 })
    for (const query of ['?page=0', '?perPage=101', '?page=1.5', '?page=01', '?limit=5']) {
      expect(await call('GET', query)).toMatchObject({ code: 400 })
    }
    as(other.companyId, other.teamId, press)
    expect(await call('GET', '')).toMatchObject({ data: [], paginationCount: 0 })
    as(company.companyId)
    expect(await call('GET', '')).toMatchObject({ data: [], paginationCount: 0 })
  })

  test('lists those of a name, a mode and a team alone', async () => {
    as(company.companyId, shop, press)
    const { companyId } = company
    const rows = newId()
    await store.insert({ id: rows, companyId, name: 'List 100% rows', kind: 'worker', teamIds: [shop] })
    const events = await create('list of events', press)
    const listed = async (query: string) => {
      const { data, paginationCount } = await call('GET', `?perPage=100&${query}`)
      expect(paginationCount).toBe(data.length)
      return data.map(({ id }) => id)
    }
    expect(await listed('name=LIST')).toEqual([rows, events])
    expect(await listed('name=list&mode=worker')).toEqual([rows])
    expect(await listed('name=list&mode=ingester')).toEqual([events])
    expect(await listed(`name=list&resourceGroupId=${press.toUpperCase()}`)).toEqual([events])
    expect(await listed('name=0%25 r')).toEqual([rows])
    expect(await listed('name=_ist')).toEqual([])
    expect(await listed('name=list&sortBy=name&sortOrder=desc')).toEqual([events, rows])
    expect(await listed('name=list&sortBy=createdAt')).toEqual([events, rows])
    expect(await listed(`resourceGroupId=${other.teamId}`)).toEqual([])
    as(company.companyId, press)
    expect(await listed('name=list')).toEqual([events])
    expect(await listed(`name=list&resourceGroupId=${shop}`)).toEqual([])
    expect(await call('GET', '?mode=proxy')).toMatchObject({ code: 400, error_code: 1 })
  })

  test('keeps its mode and type, and says so', async () => {
    as(company.companyId, shop)
    const { data } = await call('POST', '', { name: 'Kept' })
    const { mode, type } = data
    expect(await call('PATCH', `/${data.id}`, { mode, type, name: 'Same' })).toMatchObject({ code: 200 })
    for (const [field, value] of [
      ['mode', 'worker'],
      ['type', 'product'],
    ] as const) {
      expect(await call('PATCH', `/${data.id}`, { name: 'Other', [field]: value })).toMatchObject({
        code: 400,
        error_code: 1034,
        message: `${field} stays ${data[field]}: create another datasource instead`,
      })
    }
    expect(await call('GET', `/${data.id}`)).toMatchObject({ data: { name: 'Same', mode, type } })
  })
})

describe('who sees a datasource', () => {
  test.each(['logs', 'counters'])(
    'answers 404 for %s to other companies and teams as for none',
    async (what) => {
      as(company.companyId, shop)
      const id = await create('Seen', shop)
      expect(await call('GET', `/${id}/${what}`)).toMatchObject({ code: 200 })
      expect(await call('GET', `/${id.toUpperCase()}/${what}`)).toMatchObject({ code: 200 })
      const absent = await call('GET', `/${'f'.repeat(24)}/${what}`)
      expect(absent).toMatchObject({ code: 404, error_code: 1000, data: { id: 'f'.repeat(24) } })
      const strangers: [string, string[]][] = [
        [company.companyId, [press]],
        [company.companyId, []],
        [other.companyId, [other.teamId]],
        [other.companyId, [shop]],
      ]
      for (const [companyId, teams] of strangers) {
        as(companyId, ...teams)
        const { message, error_code: errorCode, data } = await call('GET', `/${id}/${what}`)
        expect({ message, errorCode, data }).toEqual({
          message: absent.message,
          errorCode: absent.error_code,
          data: { id },
        })
      }
      as(company.companyId, shop)
      expect(await call('GET', `/${id.slice(1)}/${what}`)).toMatchObject({ code: 400 })
    },
  )

  test('hides a deleted one from people and from the collector, and a paused one from the collector', async () => {
    as(company.companyId, shop)
    const id = await create('Short-lived', shop)
    expect(await store.findState(id)).toEqual({
      id,
      companyId: company.companyId,
      kind: 'tracking',
      status: 'active',
      consent: 'ignore',
      countries: true,
    })
    const setCountries = (countries: boolean) =>
      database.pool.query('update companies set countries = $1 where id = $2', [countries, company.companyId])
    await setCountries(false)
    expect(await store.findState(id)).toMatchObject({ status: 'active', countries: false })
    await setCountries(true)
    await database.pool.query(`update datasources set status = 'paused' where id = $1`, [id])
    expect(await store.findState(id)).toMatchObject({ status: 'paused' })
    expect((await call('GET', '?perPage=100')).data).toContainEqual(
      expect.objectContaining({ id, status: 'paused' }),
    )
    await database.pool.query(`update datasources set status = 'deleted' where id = $1`, [id])
    expect(await store.findState(id)).toMatchObject({ status: 'deleted' })
    expect(await call('GET', `/${id}/counters`)).toMatchObject({ code: 404 })
    expect((await call('GET', '?perPage=100')).data).not.toContainEqual(expect.objectContaining({ id }))
    expect(await store.findState('f'.repeat(24))).toBeUndefined()
  })

  test('takes the events of a deleted one out of every answer at once, those that are kept for a while too', async () => {
    as(company.companyId, shop)
    const [stays, goes] = [await create('Stays', shop), await create('Goes', shop)]
    for (const id of [stays, goes, goes]) {
      await columnar.command({
        sql: `INSERT INTO events (company, datasource, time, name, tmp_id)
              VALUES ({company: String}, {id: String}, '2026-01-01 00:00:00', 'page_view', 'device')`,
        params: { company: company.companyId, id },
      })
    }
    await columnar.command({
      sql: `INSERT INTO label_keys (company, source, key, datasource)
            VALUES ({company: String}, 'events', 'both', {stays: String}),
              ({company: String}, 'events', 'both', {goes: String}), ({company: String}, 'events', 'own', {goes: String})`,
      params: { company: company.companyId, stays, goes },
    })
    const labels = async (): Promise<string[]> => {
      const reply = await app.inject({ url: '/v2/statistics/meta', headers: callerToken })
      return [...new Set(reply.body.match(/events\.label\.\w+/g))].sort()
    }
    const query = {
      dimensions: [],
      timeDimensions: [],
      measures: ['events.count'],
      filters: [{ member: 'events.datasource', operator: 'equals', values: [stays, goes] }],
    }
    const count = async (): Promise<unknown> => {
      const reply = await app.inject({
        method: 'POST',
        url: '/v2/statistics/query',
        headers: callerToken,
        payload: query,
      })
      return reply.statusCode === 200 ? JSON.parse(reply.json().data) : reply.json()
    }
    expect(await count()).toEqual([{ 'events.count': 3 }])
    expect(await labels()).toEqual(['events.label.both', 'events.label.own'])
    expect(await call('DELETE', `/${goes}`)).toMatchObject({ code: 200 })
    expect(await count()).toEqual([{ 'events.count': 1 }])
    expect(await labels()).toEqual(['events.label.both'])
  })

  test('is made for the teams that are given by those who are in none', async () => {
    const { id } = await database.transaction((tx) =>
      insertDatasource(tx, { companyId: other.companyId, name: 'W', teamIds: [other.teamId] }),
    )
    as(other.companyId, other.teamId)
    expect((await call('GET', '')).data).toMatchObject([{ id, name: 'W', resourceGroupIds: [other.teamId] }])
  })
})

describe('consent', () => {
  test('is looked at where it is required, and of tracking datasources alone', async () => {
    as(company.companyId, shop)
    const id = await create('Consented', shop)
    expect(await call('GET', `/${id}`)).toMatchObject({ data: { consent: 'ignore' } })
    expect(await call('PATCH', `/${id}`, { consent: 'require' })).toMatchObject({
      code: 200,
      data: { consent: 'require' },
    })
    expect(await call('PATCH', `/${id}`, { consent: 'always' })).toMatchObject({ code: 400 })
    const { companyId } = company
    const displays = await insertDatasource(database.db, {
      ...{ companyId, name: 'Displays', kind: 'workflow_events', teamIds: [shop] },
    })
    expect(await call('GET', `/${displays.id}`)).not.toHaveProperty('data.consent')
    const message = 'is of tracking datasources: this one has type workflow_events'
    expect(await call('PATCH', `/${displays.id}`, { consent: 'require' })).toMatchObject({
      code: 400,
      data: { errors: [{ path: 'consent', message }] },
    })
  })
})

describe('what became of events', () => {
  test('counters are zero before the first event and add up afterwards', async () => {
    as(company.companyId, shop)
    const id = await create('Counted', shop)
    const nothing = { sent: 0, accepted: 0, changed: 0, dropped: 0, bot: 0, duplicate: 0, updatedAt: null }
    expect((await call('GET', `/${id}/counters`)).data).toEqual({ datasourceId: id, ...nothing })
    await database.pool.query(
      `insert into datasource_counters (company_id, datasource_id, accepted, changed, dropped, bot, duplicate, updated_at)
       values ($1, $2, 3000000000, 7, 40, 200, 10, '2026-01-31T12:00:00Z')`,
      [company.companyId, id],
    )
    expect((await call('GET', `/${id}/counters`)).data).toEqual({
      datasourceId: id,
      sent: 3_000_000_250,
      accepted: 3_000_000_000,
      changed: 7,
      dropped: 40,
      bot: 200,
      duplicate: 10,
      updatedAt: '2026-01-31T12:00:00.000Z',
    })
  })

  test('the log lists its lines page by page, the newest first, by kind, rule and time', async () => {
    as(company.companyId, shop)
    const id = await create('Logged', shop)
    // Lines live for 30 days.
    const noon = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 43_200_000
    const at = (milliseconds: number) => new Date(noon + milliseconds).toISOString()
    const lines = [
      [1, noon, 'dropped', 'key-mismatch', 'key', '"6#fx"', 3],
      [2, noon, 'changed', 'client-id-placeholder', 'clientId', '"null"', 1],
      [3, noon + 60_000, 'bot', 'crawler', '', 'googlebot', 500],
      [4, noon + 3_600_000, 'dropped', 'ids-none-left', 'data.ids', 'list of 0', 1],
      [1_700_000_000_000_005, noon + 7_200_000, 'refused', 'body-empty', '', 'The body is empty', 2],
    ] as const
    for (const [datasource, companyId] of [
      [id, company.companyId],
      [id, other.companyId],
      [newId(), company.companyId],
    ]) {
      for (const [seq, received, kind, rule, path, sample, count] of lines) {
        await columnar.command({
          sql: `insert into datasource_log (company, datasource, seq, received, kind, rule, path, sample, count)
                select {company: String}, {datasource: String}, {seq: UInt64},
                  fromUnixTimestamp64Milli({received: Int64}), {kind: String}, {rule: String}, {path: String},
                  {sample: String}, {count: UInt64}`,
          params: {
            company: companyId ?? '',
            datasource: datasource ?? '',
            seq,
            received,
            kind,
            rule,
            path,
            sample,
            count,
          },
        })
      }
    }
    const log = async (query: string) => {
      const { data, paginationCount } = await call('GET', `/${id}/logs${query}`)
      return { rules: data.map(({ rule }) => rule), count: paginationCount }
    }
    // One at a time and two that wait: a person who asks in a loop does not hold up other companies.
    const leave = await queryLimiter.enter(company.companyId)
    let refused = 0
    const crowd = Array.from({ length: 8 }, async () => {
      const { code } = await call('GET', `/${id}/logs`)
      if (code === 429) refused++
      return code
    })
    await until(() => refused === 6)
    leave()
    expect((await Promise.all(crowd)).sort()).toEqual([200, 200, 429, 429, 429, 429, 429, 429])

    expect(await call('GET', `/${id}/logs?perPage=2`)).toMatchObject({
      code: 200,
      paginationCount: 5,
      paginationPage: 1,
      paginationLimit: 2,
      data: [
        {
          id: '1700000000000005',
          datasourceId: id,
          receivedAt: at(7_200_000),
          kind: 'refused',
          rule: 'body-empty',
          path: '',
          sample: 'The body is empty',
          count: 2,
        },
        { rule: 'ids-none-left', path: 'data.ids' },
      ],
    })
    expect(await log('?perPage=2&page=2')).toEqual({ rules: ['crawler', 'client-id-placeholder'], count: 5 })
    expect(await log('?page=4')).toEqual({ rules: [], count: 5 })
    expect(await log('?kind=dropped')).toEqual({ rules: ['ids-none-left', 'key-mismatch'], count: 2 })
    expect(await log('?rule=crawler')).toEqual({ rules: ['crawler'], count: 1 })
    expect(await log('?rule=unknown')).toEqual({ rules: [], count: 0 })
    expect(await log("?rule=x'%20or%20'1'%3D'1")).toEqual({ rules: [], count: 0 })
    expect(await log(`?from=${at(60_000)}&to=${at(3_600_000)}`)).toEqual({
      rules: ['crawler'],
      count: 1,
    })
    expect(await log(`?from=${at(7_200_000).replace('Z', '%2B01:00')}&kind=dropped`)).toEqual({
      rules: ['ids-none-left'],
      count: 1,
    })
    for (const query of ['?kind=nope', '?from=yesterday', '?rule=', '?order=asc']) {
      expect(await call('GET', `/${id}/logs${query}`)).toMatchObject({ code: 400 })
    }
  })
})
