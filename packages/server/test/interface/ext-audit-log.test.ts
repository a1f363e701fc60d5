import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordAudit } from '../../src/features/audit/audit-store.ts'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { newId } from '../../src/platform/ids.ts'
import { type Auth, createAuth, goodPassword } from '../support/auth.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
let auth: Auth
let adminId: string
let tokens: Record<'admin' | 'viewer' | 'roleKeeper' | 'teamKeeper' | 'stranger', string>

beforeAll(async () => {
  database = await createTestDatabase()
  auth = await createAuth(database)
  const { companyId } = auth
  adminId = (await auth.addUser('admin@example.com', undefined, 'admin')).id
  await auth.addUser('viewer@example.com')
  const other = await database.transaction((tx) => insertCompany(tx, 'Other'))
  await auth.accounts.createUser({
    companyId: other.companyId,
    email: 'eve@other.example',
    password: goodPassword,
    roleName: 'admin',
    teamNames: [],
  })
  for (const [name, resource] of [
    ['roleKeeper', 'role'],
    ['teamKeeper', 'team'],
  ] as const) {
    const roleId = newId()
    await database.pool.query('insert into roles (id, company_id, name) values ($1, $2, $3)', [
      roleId,
      companyId,
      name,
    ])
    await database.pool.query(`insert into role_permissions values ($1, $2, 'update')`, [roleId, resource])
    await auth.addUser(`${name.toLowerCase()}@example.com`, undefined, name)
  }
  const tokenOf = async (email: string): Promise<string> => (await auth.signIn(email)).json().access_token
  tokens = {
    admin: await tokenOf('admin@example.com'),
    viewer: await tokenOf('viewer@example.com'),
    roleKeeper: await tokenOf('rolekeeper@example.com'),
    teamKeeper: await tokenOf('teamkeeper@example.com'),
    stranger: await tokenOf('eve@other.example'),
  }
  for (let i = 0; i < 25; i++) {
    await recordAudit(database.db, {
      companyId,
      action: 'team-update',
      actor: { kind: 'user', id: adminId, name: 'admin@example.com' },
      target: { kind: 'team', id: `team-${i % 5}`, name: `=1+${i}` },
      details: { number: i },
      address: '192.0.2.7',
      ...(i % 10 === 0 ? { error: 'conflict' as const } : {}),
    })
  }
})

afterAll(async () => {
  await auth.app.close()
  await database.close()
})

const read = (query = '', token = tokens.admin) => auth.call(token, 'GET', `/v2/entities/audit-log${query}`)
const numbers = async (query: string): Promise<unknown[]> =>
  (await read(query)).json().data.map(({ details }: { details: { number: number } }) => details.number)

describe('reading', () => {
  test('the newest first, page by page, each entry whole', async () => {
    const reply = (await read('?action=team-update&perPage=10')).json()
    expect(reply).toMatchObject({ code: 200, paginationCount: 25, paginationPage: 1, paginationLimit: 10 })
    expect(reply.data[4]).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      category: 'users',
      action: 'team-update',
      actor: { kind: 'user', id: adminId, name: 'admin@example.com' },
      target: { kind: 'team', id: 'team-0', name: '=1+20' },
      outcome: 'failure',
      error: 'conflict',
      details: { number: 20 },
      address: '192.0.2.7',
    })
    expect(await numbers('?action=team-update&perPage=10&page=3')).toEqual([4, 3, 2, 1, 0])
    expect(await numbers('?action=team-update&page=9')).toEqual([])
  })

  test.each([
    ['?category=users&action=team-update&outcome=failure', [20, 10, 0]],
    ['?targetId=team-3', [23, 18, 13, 8, 3]],
    ['?targetId=team-3&outcome=failure', []],
    [`?category=authentication&targetId=team-3`, []],
    [`?targetId=x'%20or%20'1'%3D'1`, []],
  ])('%s', async (query, expected) => {
    expect(await numbers(query)).toEqual(expected)
  })

  test('by who did it, in capitals too', async () => {
    const reply = (await read(`?actorId=${adminId.toUpperCase()}&action=team-update`)).json()
    expect(reply.paginationCount).toBe(25)
    expect((await read(`?actorId=${newId()}`)).json().paginationCount).toBe(0)
  })

  test('by time: from an instant on, and before one', async () => {
    const all = (await read('?action=team-update&perPage=100')).json().data
    const { at } = all[10]
    const since = (await read(`?action=team-update&from=${at}`)).json().paginationCount
    const until = (await read(`?action=team-update&to=${at}`)).json().paginationCount
    expect(since + until).toBe(25)
    expect((await read(`?from=2999-01-01T00:00:00Z`)).json().paginationCount).toBe(0)
    expect((await read(`?to=1999-01-01T00:00:00Z`)).json().paginationCount).toBe(0)
  })

  test('pages with the same `to` stay, whatever is added', async () => {
    const to = new Date(Date.now() + 5).toISOString()
    const first = await numbers(`?action=team-update&to=${to}&perPage=5`)
    await new Promise((resolve) => setTimeout(resolve, 10))
    const actor = { kind: 'operator' } as const
    await recordAudit(database.db, { companyId: auth.companyId, action: 'role-update', actor })
    expect(await numbers(`?action=team-update&to=${to}&perPage=5`)).toEqual(first)
  })

  test.each([
    '?page=0',
    '?perPage=101',
    '?category=nope',
    '?action=nope',
    '?actorId=',
    `?actorId=${'x'.repeat(129)}`,
    '?actorId=a&actorId=b',
    '?targetId=%00',
    '?outcome=maybe',
    '?from=yesterday',
    '?to=2026-13-01T00:00:00Z',
    '?format=xml',
    '?companyId=x',
  ])('%s is 400', async (query) => {
    expect((await read(query)).json()).toMatchObject({ code: 400, error_code: 1 })
  })
})

describe('who may', () => {
  test.each(['admin', 'roleKeeper', 'teamKeeper'] as const)('%s reads', async (name) => {
    expect((await read('', tokens[name])).statusCode).toBe(200)
    // An export, which keeping roles or teams does not allow.
    expect((await read('?format=csv', tokens[name])).statusCode).toBe(name === 'admin' ? 200 : 403)
  })

  test('a user who may update neither users nor roles nor teams is refused, as CSV too', async () => {
    const reply = (await read('', tokens.viewer)).json()
    expect(reply).toMatchObject({ code: 403, error_code: 4 })
    expect(reply.message).toMatch(/User: update, Role: update or Team: update/)
    expect((await read('?format=csv', tokens.viewer)).json()).toMatchObject({ code: 403, error_code: 4 })
  })

  test('no user reads the log of another company', async () => {
    expect((await read('?perPage=100', tokens.stranger)).body).not.toContain('team-')
    expect((await read('?format=csv', tokens.stranger)).body).not.toContain('team-')
    expect((await read(`?targetId=team-3`, tokens.stranger)).json().paginationCount).toBe(0)
  })

  test('no token is 401', async () => {
    expect((await auth.app.inject({ url: '/v2/entities/audit-log' })).statusCode).toBe(401)
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('nobody changes it: %s is 405', async (method) => {
    expect((await auth.call(tokens.admin, method, '/v2/entities/audit-log')).statusCode).toBe(405)
  })
})

describe('as CSV', () => {
  test('all that match, the newest first, with formulas defused', async () => {
    const reply = await read('?format=csv&action=team-update')
    expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    expect(reply.headers['content-disposition']).toBe('attachment; filename="audit-log.csv"')
    expect(reply.headers['cache-control']).toBe('no-store')
    const [header, ...lines] = parse(reply.body) as string[][]
    expect(header).toEqual(
      'id,at,category,action,outcome,error,actorKind,actorId,actorName,targetKind,targetId,targetName,address,details'.split(
        ',',
      ),
    )
    expect(lines).toHaveLength(25)
    expect(lines.map((line) => JSON.parse(line[13] ?? '').number)).toEqual(
      Array.from({ length: 25 }, (_, i) => 24 - i),
    )
    expect(lines[0]?.slice(2)).toEqual([
      'users',
      'team-update',
      'success',
      '',
      'user',
      adminId,
      'admin@example.com',
      'team',
      'team-4',
      "'=1+24",
      '192.0.2.7',
      '{"number":24}',
    ])
  })

  test('more than one stretch is joined without a gap or a copy', async () => {
    const { companyId } = auth
    await database.pool.query(
      `insert into audit_entries (id, company_id, at, category, action, actor_kind, outcome)
       select lpad(to_hex(n), 24, '0'), $1, now() - make_interval(secs => n / 7), 'sso', 'sso-sign-in', 'user', 'success'
       from generate_series(1, 2500) n`,
      [companyId],
    )
    const lines = (parse((await read('?format=csv&category=sso')).body) as string[][]).slice(1)
    expect(lines).toHaveLength(2500)
    expect(new Set(lines.map(([id]) => id)).size).toBe(2500)
    const order = lines.map(([id, at]) => `${at} ${id}`)
    expect(order).toEqual(order.toSorted().reverse())
  })
})
