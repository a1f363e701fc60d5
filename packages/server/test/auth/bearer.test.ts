import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccessCache } from '../../src/features/identity/sessions/access/access-cache.ts'
import { watchAccessChanges } from '../../src/features/identity/sessions/access/access-changes.ts'
import { createAccessStore } from '../../src/features/identity/sessions/access/access-store.ts'
import type { Principal } from '../../src/features/identity/sessions/principal.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { type Auth, createAuth, goodPassword } from '../support/auth.ts'
import { createFakeTime } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let auth: Auth
let accessToken: string

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
  await auth.addUser('ada@example.com', undefined, 'viewer')
  accessToken = (await auth.signIn('ada@example.com')).json().access_token
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

const bodyOf = (body: string): string => body.replace(/"datetime":"[^"]+"/, '')

describe('the header Authorization', () => {
  test.each<[string, Record<string, string | string[]>]>([
    ['is absent', {}],
    ['is empty', { authorization: '' }],
    ['is Basic', { authorization: 'Basic x' }],
    ['is Bearer alone', { authorization: 'Bearer' }],
    ['is Bearer and a space', { authorization: 'Bearer ' }],
    ['has two words after Bearer', { authorization: 'Bearer a b' }],
    ['is a token in a cookie', { cookie: 'access_token=x' }],
  ])('%s: 401 with the bare challenge', async (_name, headers) => {
    const reply = await auth.app.inject({ url: '/v2/entities/users/me', headers })
    expect(reply.statusCode).toBe(401)
    expect(reply.headers['www-authenticate']).toBe('Bearer')
    expect(reply.json()).toMatchObject({ status: 'fail', code: 401, error_code: 3, data: {} })
  })

  test('a token without its scheme is refused', async () => {
    const reply = await auth.app.inject({
      url: '/v2/entities/users/me',
      headers: { authorization: accessToken },
    })
    expect(reply.statusCode).toBe(401)
  })

  test('two of them are refused even when both are good', async () => {
    await auth.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = auth.app.server.address() as { port: number }
    const { request } = await import('node:http')
    const statusWith = (headers: string[]) =>
      new Promise((resolve, reject) => {
        const call = request({ port, host: '127.0.0.1', path: '/v2/entities/users/me', headers }, (reply) => {
          reply.resume()
          resolve(reply.statusCode)
        })
        call.on('error', reject).end()
      })
    const good = ['Authorization', `Bearer ${accessToken}`]
    expect(await statusWith(['Host', 'x', ...good])).toBe(200)
    expect(await statusWith(['Host', 'x', ...good, ...good])).toBe(401)
  })

  test('the scheme may be written in any case', async () => {
    const headers = { authorization: `bEARER ${accessToken}` }
    expect((await auth.app.inject({ url: '/v2/entities/users/me', headers })).statusCode).toBe(200)
  })

  test('unknown, ended, revoked and foreign tokens are answered alike', async () => {
    await auth.addUser('eve@example.com')
    const revoked = (await auth.signIn('eve@example.com')).json()
    await auth.accounts.disableUser('eve@example.com')
    const tokens = [
      'x',
      'x'.repeat(43),
      `scim_${'x'.repeat(43)}`,
      revoked.access_token,
      revoked.refresh_token,
    ]
    const replies = await Promise.all(tokens.map((token) => auth.get(token)))
    for (const reply of replies) {
      expect(reply.statusCode).toBe(401)
      expect(reply.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
      expect(bodyOf(reply.body)).toBe(bodyOf(replies[0]?.body ?? ''))
    }
  })

  test('is looked at before the body and before the permission', async () => {
    const reply = await auth.app.inject({ method: 'GET', url: '/v2/entities/users', headers: {} })
    expect(reply.statusCode).toBe(401)
  })
})

describe('the principal', () => {
  test('says who it is, for which company and in which teams', async () => {
    const { rows } = await relational.pool.query('select id from teams where company_id = $1', [
      auth.companyId,
    ])
    expect(await auth.cache.find(accessToken)).toMatchObject({
      userId: expect.stringMatching(/^[0-9a-f]{24}$/),
      companyId: auth.companyId,
      clientId: auth.clientId,
      tokenId: expect.stringMatching(/^[0-9a-f]{24}$/),
      teamIds: rows.map(({ id }) => id),
      email: 'ada@example.com',
      roleId: expect.stringMatching(/^[0-9a-f]{24}$/),
    })
    expect((await auth.get(accessToken)).headers['cache-control']).toBe('no-store')
  })

  test('a route needs its permission; a change of the role counts from the next request', async () => {
    await auth.addUser('owner@example.com', goodPassword, 'admin')
    const rename = () => auth.call(accessToken, 'PATCH', '/v2/entities/company', { name: 'Acme' })
    const refused = await rename()
    expect(refused.statusCode).toBe(403)
    expect(refused.json()).toMatchObject({ error_code: 4, data: { resource: 'company', action: 'update' } })
    const { rows } = await relational.pool.query(
      "insert into roles (id, company_id, name) values ($1, $2, 'keeper') returning id",
      ['a'.repeat(24), auth.companyId],
    )
    await relational.pool.query('insert into role_permissions values ($1, $2, $3)', [
      rows[0].id,
      'company',
      'update',
    ])
    await relational.pool.query("update users set role_id = $1 where email = 'ada@example.com'", [rows[0].id])
    auth.time.advance(1000)
    expect((await rename()).statusCode).toBe(200)
    await relational.pool.query('delete from role_permissions where role_id = $1', [rows[0].id])
    auth.time.advance(1000)
    expect((await rename()).statusCode).toBe(403)
  })

  test.each([
    ['admin', ['company:update', 'user:delete', 'statistics:export'], []],
    ['editor', ['workflow:create', 'statistics:access', 'company:read'], ['company:update', 'user:read']],
    ['viewer', ['workflow:read', 'statistics:access'], ['workflow:create', 'statistics:export', 'user:read']],
  ])('a built-in role %s', async (role, allowed, refused) => {
    await auth.addUser(`${role}@example.com`, undefined, role)
    const token = (await auth.signIn(`${role}@example.com`)).json().access_token
    const principal = (await auth.cache.find(token)) as Principal
    const can = (pair: string) => principal.can(...(pair.split(':') as Parameters<Principal['can']>))
    for (const pair of allowed) expect([pair, can(pair)]).toEqual([pair, true])
    for (const pair of [...refused, 'toString:toString']) expect([pair, can(pair)]).toEqual([pair, false])
  })
})

describe('what is remembered', () => {
  test('a hundred thousand requests ask the store once a second at most', async () => {
    let asked = 0
    const { findAccess } = createAccessStore(relational)
    const time = createFakeTime()
    const cache = createAccessCache((hashes) => {
      asked++
      return findAccess(hashes)
    }, time.clock)
    await cache.find(accessToken)
    for (let i = 0; i < 100_000; i++) {
      if (i % 1_000 === 0) time.advance(50)
      await cache.find(accessToken)
    }
    // Five seconds have passed, and what is renewed is asked for a little before it is a second old.
    expect(asked).toBeLessThanOrEqual(2 + 5_000 / 800)
  })

  test('requests at the same time ask the store once', async () => {
    let asked = 0
    const cache = createAccessCache((hashes) => {
      asked++
      return createAccessStore(relational).findAccess(hashes)
    })
    const principals = await Promise.all(Array.from({ length: 50 }, () => cache.find(accessToken)))
    expect(asked).toBe(1)
    expect(new Set(principals).size).toBe(1)
  })

  test('is forgotten within a second even if no notice comes', async () => {
    const time = createFakeTime()
    let answer: Principal | undefined = { userId: 'x' } as Principal
    const cache = createAccessCache(
      async () => [answer && { principal: answer, remainingMs: 3_600_000 }],
      time.clock,
    )
    expect(await cache.find('token')).toBeDefined()
    answer = undefined
    time.advance(999)
    expect(await cache.find('token')).toBeUndefined()
  })

  test('made-up tokens are asked about together, and displace none that is known', async () => {
    const statements: number[] = []
    const cache = createAccessCache(async (hashes) => {
      statements.push(hashes.length)
      return createAccessStore(relational).findAccess(hashes)
    }, createFakeTime().clock)
    expect(await cache.find(accessToken)).toBeDefined()
    for (let i = 0; i < 12; i++) {
      const found = Array.from({ length: 1_000 }, (_, n) => cache.find(`made up ${i} ${n}`, '192.0.2.1'))
      expect(new Set(await Promise.all(found))).toEqual(new Set([undefined]))
    }
    const asked = statements.length
    expect(asked, 'of 12,000 tokens').toBeLessThan(600)
    expect(await cache.find(accessToken)).toBeDefined()
    expect(await cache.find('made up 11 999', '192.0.2.1')).toBeUndefined()
    expect(statements).toHaveLength(asked)
  })

  test('one address with made-up tokens is refused before it keeps the tokens of others from the store', async () => {
    const hold = Promise.withResolvers<void>()
    const cache = createAccessCache(async (hashes) => {
      await hold.promise
      return createAccessStore(relational).findAccess(hashes)
    })
    const attack = Array.from({ length: 1_300 }, (_, n) => cache.find(`made up ${n}`, '192.0.2.1'))
    const outcomes = Promise.allSettled(attack)
    const other = cache.find(accessToken, '198.51.100.1')
    hold.resolve()
    expect(await other).toBeDefined()
    const refused = (await outcomes).flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(refused).toHaveLength(101)
    expect(refused[0]).toMatchObject({ errorName: 'unavailable', data: { retryAfter: 1 } })
  })

  test('a store that fails is asked again by the next request', async () => {
    let fails = true
    const cache = createAccessCache(async () => {
      if (fails) throw new Error('down')
      return [{ principal: { userId: 'x' } as Principal, remainingMs: 1000 }]
    })
    await expect(cache.find('token')).rejects.toThrow('down')
    fails = false
    expect(await cache.find('token')).toBeDefined()
  })

  test('a revocation reaches another process at once, and again after its connection was cut', async () => {
    await auth.addUser('kate@example.com')
    // Its clock stands still: only a notice can make it forget.
    const cache = createAccessCache(createAccessStore(relational).findAccess, createFakeTime().clock)
    let notices = 0
    const onChange = () => {
      notices++
      cache.forget()
    }
    const watch = watchAccessChanges({ pool: relational.pool, onChange, log: silentLogger })
    try {
      await expect.poll(() => notices).toBe(1)
      const first = (await auth.signIn('kate@example.com')).json().access_token
      expect(await cache.find(first)).toBeDefined()
      await auth.accounts.setPassword('kate@example.com', 'quite another password')
      await expect.poll(() => cache.find(first), { interval: 5 }).toBeUndefined()

      const before = notices
      await relational.pool.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and datname = current_database()",
      )
      await expect.poll(() => notices).toBeGreaterThan(before)
      const second = (await auth.signIn('kate@example.com', 'quite another password')).json().access_token
      expect(await cache.find(second)).toBeDefined()
      await auth.accounts.disableUser('kate@example.com')
      await expect.poll(() => cache.find(second), { interval: 5 }).toBeUndefined()
    } finally {
      await watch.close()
    }
  })

  test.each([
    ['a role changes', "insert into role_permissions select id, 'x', 'y' from roles limit 1"],
    [
      'a membership changes',
      'delete from team_members where user_id = (select max(user_id) from team_members)',
    ],
    ['a client is switched off', 'update oauth_clients set active = not active'],
    ['a user is deleted', "delete from users where email = 'ada@example.com'"],
  ])('a notice comes when %s', async (_name, statement) => {
    let notices = 0
    const onChange = () => void notices++
    const watch = watchAccessChanges({ pool: relational.pool, onChange, log: silentLogger })
    await expect.poll(() => notices).toBe(1)
    await relational.pool.query(statement)
    await expect.poll(() => notices).toBeGreaterThanOrEqual(2)
    await watch.close()
  })
})
