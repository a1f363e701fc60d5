import { permissionNames } from '@millrace/contract/permissions.ts'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Context } from '../../src/boot/context.ts'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { createTeamStore } from '../../src/features/identity/people/teams/team-store.ts'
import { createPrincipal } from '../../src/features/identity/sessions/principal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { newId } from '../../src/platform/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { callerToken, openTestService } from '../support/service.ts'

interface Datasource {
  id: string
  name: string
  sampleData?: true
  resourceGroupIds: string[]
}

let database: TestDatabase
let app: FastifyInstance
let context: Context
let company: { companyId: string; teamId: string }
const caller = { companyId: '', teamIds: [] as string[] }
let uses: { id: string; name: string }[] = []
let onAppend: () => Promise<unknown> = async () => {}

beforeAll(async () => {
  database = await createTestDatabase()
  company = await database.transaction((tx) => insertCompany(tx, 'Acme'))
  let sequence = 1
  ;({ app, context } = await openTestService(database, {
    clock: systemClock,
    // Only counted: nobody loads these events.
    log: {
      id: 'sample',
      reserve(count: number) {
        sequence += count
        return sequence - count
      },
      async append() {
        await onAppend()
      },
      state: () => ({ refusing: undefined }),
      close: async () => {},
    } as never,
    listUsesOfDatasource: async () => uses,
    findPrincipal: async () =>
      createPrincipal({
        ...{ email: 'ada@example.com', roleId: newId(), clientId: newId(), tokenId: newId() },
        ...{ userId: newId(), permissions: permissionNames },
        ...caller,
      }),
  }))
  as(company.companyId, company.teamId)
})

afterAll(async () => {
  await app.close()
  await database.close()
})

function as(companyId: string, ...teamIds: string[]): void {
  Object.assign(caller, { companyId, teamIds })
}

async function ask<T>(
  method: InjectOptions['method'] & string,
  url: string,
): Promise<{ code: number; data: T }> {
  const reply = await app.inject({ method: method as 'GET', url: `/v2${url}`, headers: callerToken })
  return reply.json()
}

const path = '/entities/company/sample-data'
const listed = async () => (await ask<Datasource[]>('GET', '/datasources')).data
const kept = () => context.services.collector.totals.kept

describe('sample data', () => {
  test('fills a datasource of its own by the rules of all events, once', async () => {
    const before = kept()
    const [first, same] = await Promise.all([ask<Datasource>('POST', path), ask<Datasource>('POST', path)])
    expect(first).toMatchObject({
      code: 200,
      data: { name: 'Sample shop', sampleData: true, resourceGroupIds: [company.teamId] },
    })
    expect(same.data.id).toBe(first.data.id)
    const { dropped, bot } = context.services.collector.totals
    expect(kept() - before).toBeGreaterThan(27_000)
    expect(dropped).toBeGreaterThan(0)
    expect(bot).toBe(60)
    const after = kept()
    expect((await ask<Datasource>('POST', path)).data.id).toBe(first.data.id)
    expect(kept()).toBe(after)
    expect(await listed()).toMatchObject([{ id: first.data.id, sampleData: true }])
  })

  test('is sent again where a process has ended half way', async () => {
    await database.pool.query("update datasources set sample_data = 'filling' where sample_data is not null")
    const before = kept()
    expect((await ask('POST', path)).code).toBe(200)
    expect(kept() - before).toBeGreaterThan(27_000)
  })

  test('is the company’s: another team that asks for it sees the same one', async () => {
    const [{ id } = { id: '' }] = await listed()
    const press = newId()
    await createTeamStore(database.db).insert({ id: press, companyId: company.companyId, name: 'Press' })
    as(company.companyId, press)
    expect(await listed()).toEqual([])
    expect((await ask<Datasource>('POST', path)).data.id).toBe(id)
    expect(await listed()).toMatchObject([{ id, resourceGroupIds: [company.teamId, press].toSorted() }])
    as(company.companyId)
    expect(await ask('POST', path)).toMatchObject({ code: 400 })
  })

  test('says what keeps it from being filled, and is filled by the next try', async () => {
    const other = await database.transaction((tx) => insertCompany(tx, 'Other'))
    as(other.companyId, other.teamId)
    onAppend = () => Promise.reject(new Error('the disk is full'))
    expect(await ask('POST', path)).toMatchObject({ code: 503, error_code: 1005 })
    onAppend = async () => {}
    const before = kept()
    expect((await ask('POST', path)).code).toBe(200)
    expect(kept() - before).toBeGreaterThan(27_000)
    expect((await ask('DELETE', path)).code).toBe(200)
  })

  test('is gone where it is deleted while it is filled, and its maker is told', async () => {
    const third = await database.transaction((tx) => insertCompany(tx, 'Third'))
    as(third.companyId, third.teamId)
    onAppend = () => {
      onAppend = async () => {}
      return ask('DELETE', path)
    }
    expect(await ask('POST', path)).toMatchObject({ code: 404, error_code: 1000 })
    expect(await listed()).toEqual([])
  })

  test('goes with all its events, whoever of the company asks, and can be made anew', async () => {
    as(company.companyId, newId())
    const { rows } = await database.pool.query<{ id: string }>(
      "select id from datasources where company_id = $1 and sample_data = 'filled'",
      [company.companyId],
    )
    const id = rows[0]?.id
    uses = [{ id: newId(), name: 'Banner' }]
    expect(await ask('DELETE', path)).toMatchObject({ code: 409 })
    uses = []
    expect(await ask('DELETE', path)).toMatchObject({ code: 200, data: {} })
    expect(await ask('DELETE', path)).toMatchObject({ code: 200, data: {} })
    const purges = await database.pool.query('select 1 from event_purges where datasource_id = $1', [id])
    expect(purges.rowCount).toBe(1)
    as(company.companyId, company.teamId)
    expect(await listed()).toEqual([])
    const anew = await ask<Datasource>('POST', path)
    expect(anew.data.id).not.toBe(id)
  })

  test('is in the audit log as every datasource is', async () => {
    const { rows } = await database.pool.query<{ action: string; details: Record<string, unknown> }>(
      'select action, details from audit_entries where company_id = $1 and error is null order by id',
      [company.companyId],
    )
    expect(rows).toMatchObject([
      { action: 'datasource-create', details: { sampleData: true } },
      { action: 'datasource-delete' },
      { action: 'datasource-create' },
    ])
  })
})
