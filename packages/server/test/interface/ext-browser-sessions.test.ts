import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Auth, type Body, createAuth, testOrigin, testRedirectUri } from '../support/auth.ts'
import { authorizationFor, codeOf, verifier } from '../support/authorization.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { createRotation } from '../support/rotation.ts'
import { openTestService } from '../support/service.ts'

/** What a page that signs users in is promised (docs/faults.md, T19 and T22 to T24). */

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const ownPage = { 'sec-fetch-site': 'same-origin' }
const crossSite = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
const refused = { code: 400, error: 'invalid_grant' }

let relational: TestDatabase
let auth: Auth
let email: string
let userId: string
let people = 0

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
})
beforeEach(async () => {
  email = `ada${++people}@example.com`
  userId = (await auth.addUser(email)).id
})
afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

const post = (url: string, payload: Body, headers: Record<string, string> = {}) =>
  auth.app.inject({
    method: 'POST',
    url,
    payload,
    headers: { ...ownPage, 'user-agent': firefox, ...headers },
  })
const exchangeFor = (code: string, headers = {}, clientId = auth.clientId) =>
  post(
    '/v2/auth/token',
    {
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      redirect_uri: testRedirectUri,
      code_verifier: verifier,
      refresh_token_in: 'cookie',
    },
    headers,
  )
const refresh = (cookie: string, headers = {}, clientId = auth.clientId) =>
  post('/v2/auth/token', { grant_type: 'refresh_token', client_id: clientId }, { cookie, ...headers })
const signOut = (cookie: string, headers = {}, clientId = auth.clientId) =>
  post('/v2/oauth/revoke', { client_id: clientId }, { cookie, ...headers })

/** The cookie that a browser has after an answer. */
function cookieOf(reply: LightMyRequestResponse): string {
  const set = [reply.headers['set-cookie'] ?? []].flat()
  const values = new Set(set.map((each) => each.split(';')[0]))
  expect([reply.statusCode, set.length, values.size]).toEqual([200, 2, 1])
  return [...values].join('')
}

async function signIn(clientId = auth.clientId): Promise<{ cookie: string; token: string }> {
  const reply = await exchangeFor(await codeOf(auth, email, { client_id: clientId }), {}, clientId)
  return { cookie: cookieOf(reply), token: reply.json().access_token }
}
const opens = async (token: string): Promise<boolean> => {
  auth.cache.forget()
  return (await auth.get(token)).statusCode === 200
}

describe('the refresh token of a page of the service', () => {
  test('is in a cookie that no script reads, and in no body', async () => {
    const reply = await exchangeFor(await codeOf(auth, email))
    expect(Object.keys(reply.json())).toEqual(['access_token', 'token_type', 'expires_in'])
    for (const [i, path] of ['/v2/auth/token', '/v2/oauth/revoke'].entries())
      expect(reply.headers['set-cookie']?.[i]).toMatch(
        new RegExp(`^refresh_token=[\\w-]{43}; Max-Age=2592000; Path=${path}; HttpOnly; SameSite=Lax$`),
      )
    const cookie = cookieOf(reply)
    const refreshed = await refresh(cookie)
    expect(Object.keys(refreshed.json())).toEqual(['access_token', 'token_type', 'expires_in'])
    expect(cookieOf(refreshed)).toBe(cookie)
  })

  test('is given and taken for pages of the service alone, before anything is done', async () => {
    const code = await codeOf(auth, email)
    for (const headers of [
      crossSite,
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': '', origin: 'null' },
    ])
      expect((await exchangeFor(code, headers)).json()).toMatchObject({ code: 400, error: 'invalid_request' })
    // The code was not used up.
    const cookie = cookieOf(await exchangeFor(code))
    for (const headers of [crossSite, { 'sec-fetch-site': 'same-site' }]) {
      for (const reply of [await refresh(cookie, headers), await signOut(cookie, headers)]) {
        expect(reply.json()).toMatchObject({ code: 400, error: 'invalid_request' })
        expect(reply.headers['set-cookie']).toBeUndefined()
      }
    }
    expect((await refresh(cookie)).statusCode).toBe(200)
  })

  test('is secure behind https, where a browser without Fetch Metadata names the origin of the service', async () => {
    const origin = 'https://stats.example'
    const { app } = await openTestService(relational, { environment: { MILLRACE_PUBLIC_URL: origin } })
    try {
      const { cookie } = await signIn()
      const payload = { grant_type: 'refresh_token', client_id: auth.clientId }
      const from = (headers: Record<string, string>) =>
        app.inject({ method: 'POST', url: '/v2/auth/token', payload, headers: { cookie, ...headers } })
      for (const other of [{}, { origin: 'http://stats.example' }, { origin: 'https://evil.example' }])
        expect((await from(other)).statusCode).toBe(400)
      const set = [(await from({ origin })).headers['set-cookie'] ?? []].flat()
      expect(set.map((each) => each.endsWith('; HttpOnly; SameSite=Lax; Secure'))).toEqual([true, true])
    } finally {
      await app.close()
    }
  })

  test('is asked for with a code alone, in one word', async () => {
    const code = await codeOf(auth, email)
    const fields = { client_id: auth.clientId, refresh_token_in: 'cookie' }
    const password = { grant_type: 'password', username: email, password: 'x', ...fields }
    expect((await post('/v2/auth/token', password)).json()).toMatchObject({ error: 'invalid_request' })
    const other = {
      ...authorizationFor(auth),
      grant_type: 'authorization_code',
      code,
      refresh_token_in: 'body',
    }
    const reply = await post('/v2/auth/token', { ...other, code_verifier: verifier })
    expect(reply.json()).toMatchObject({
      error: 'invalid_request',
      message: expect.stringMatching(/must be cookie/),
    })
  })

  test('signs out by the cookie, and nothing of the session works again', async () => {
    const { cookie, token } = await signIn()
    const reply = await signOut(cookie)
    expect(cookieOf(reply)).toBe('refresh_token=')
    expect(reply.headers['set-cookie']?.[0]).toContain('Max-Age=0')
    expect((await refresh(cookie)).json()).toMatchObject(refused)
    expect(await opens(token)).toBe(false)
    expect((await signOut(cookie)).statusCode).toBe(200)
    expect((await auth.auditTrail()).at(-1)).toBe('sign-out success')
  })

  test('of one client is nothing to another, and the session stays', async () => {
    const other = await auth.clients.createClient({ name: 'other', grants: [], redirectUris: [] })
    const { cookie } = await signIn()
    expect((await refresh(cookie, {}, other.id)).json()).toMatchObject(refused)
    expect((await signOut(cookie, {}, other.id)).json()).toMatchObject(refused)
    expect((await refresh(cookie)).statusCode).toBe(200)
  })

  test('does not count beside one that another host has set for its domain', async () => {
    const [mine, planted] = [await signIn(), await signIn()]
    for (const cookie of [`${planted.cookie}; ${mine.cookie}`, `${mine.cookie}; ${planted.cookie}`]) {
      expect((await refresh(cookie)).json()).toMatchObject({ error: 'invalid_request' })
      expect((await signOut(cookie)).json()).toMatchObject({ error: 'invalid_request' })
    }
    for (const { cookie } of [mine, planted]) expect((await refresh(cookie)).statusCode).toBe(200)
  })

  test('ends with its user', async () => {
    const { cookie } = await signIn()
    await relational.pool.query(`update users set status = 'disabled' where id = $1`, [userId])
    expect((await refresh(cookie)).json()).toMatchObject(refused)
    await relational.pool.query('delete from users where id = $1', [userId]).catch(() => {})
    expect((await refresh(cookie)).json()).toMatchObject(refused)
  })

  test('of a client that rotates is another one each time, and an old one ends the session', async () => {
    const { clientId } = await createRotation(auth, relational, `bob${people}@example.com`)
    const { cookie, token } = await signIn(clientId)
    const next = cookieOf(await refresh(cookie, {}, clientId))
    expect(next).not.toBe(cookie)
    auth.time.advance(31_000)
    expect((await refresh(cookie, {}, clientId)).json()).toMatchObject(refused)
    expect((await refresh(next, {}, clientId)).json()).toMatchObject(refused)
    expect(await opens(token)).toBe(false)
  })

  test('is never sent by pages of origins that may read answers', async () => {
    const origin = 'https://app.example'
    await auth.clients.createClient({ name: 'spa', grants: [], redirectUris: [], origins: [origin] })
    const { cookie } = await signIn()
    auth.time.advance(1_000)
    const asked = { origin, 'access-control-request-method': 'POST' }
    const replies = [
      await auth.app.inject({ method: 'OPTIONS', url: '/v2/auth/token', headers: asked }),
      await refresh(cookie, { 'sec-fetch-site': 'cross-site', origin }),
    ]
    for (const { headers } of replies) {
      expect(headers['access-control-allow-origin']).toBe(origin)
      expect(headers['access-control-allow-credentials']).toBeUndefined()
    }
  })
})

describe('sessions of one’s own', () => {
  const url = '/v2/entities/users/me/sessions'
  const listOf = async (token: string) => (await auth.get(token, url)).json().data

  test('are listed with what tells them apart, those of others never', async () => {
    const first = await signIn()
    auth.time.advance(60_000)
    const second = (await auth.signIn(email, undefined, { from: '2001:db8:1:2::3' })).json()
    await auth.addUser(`other-${email}`)
    await auth.signIn(`other-${email}`)
    expect(await listOf(first.token)).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        clientId: auth.clientId,
        clientName: 'web',
        createdAt: expect.any(String),
        lastUsedAt: expect.any(String),
        network: '2001:db8:1:2::/64',
        browser: null,
        os: null,
        current: false,
      },
      expect.objectContaining({ network: '127.0.0.1', browser: 'Firefox', os: 'Linux', current: true }),
    ])
    auth.time.advance(60_000)
    await refresh(first.cookie)
    const sorted = await listOf(second.access_token)
    expect(sorted.map(({ current }: { current: boolean }) => current)).toEqual([false, true])
    expect(sorted[0].lastUsedAt > sorted[0].createdAt).toBe(true)
  })

  test('end one by one, with all their tokens and in every process', async () => {
    const [mine, lost] = [await signIn(), await signIn()]
    const elsewhere = await openTestService(relational)
    try {
      expect(await elsewhere.context.access.find(lost.token)).toBeDefined()
      const { id } = (await listOf(mine.token)).find((each: { current: boolean }) => !each.current)
      await auth.addUser(`other-${email}`)
      const { access_token: others } = (await auth.signIn(`other-${email}`)).json()
      expect((await auth.call(others, 'DELETE', `${url}/${id}`)).json()).toMatchObject({ error_code: 2019 })
      expect((await auth.call(mine.token, 'DELETE', `${url}/${id.toUpperCase()}`)).statusCode).toBe(200)
      await expect.poll(() => elsewhere.context.access.find(lost.token)).toBeUndefined()
      expect((await refresh(lost.cookie)).json()).toMatchObject(refused)
      expect(await opens(mine.token)).toBe(true)
      const { rows } = await relational.pool.query(
        `select action, details from audit_entries where actor_id = $1 and action = 'sign-out'`,
        [userId],
      )
      expect(rows).toEqual([{ action: 'sign-out', details: { sessionId: id, clientId: auth.clientId } }])
      expect((await auth.call(mine.token, 'DELETE', `${url}/${id}`)).json()).toMatchObject({
        error_code: 2019,
      })
    } finally {
      await elsewhere.app.close()
    }
  })
})

test('a client returns to a path of the service at whatever address the service has', async () => {
  const { id } = await auth.clients.createClient({ name: 'console', grants: [], redirectUris: ['/console/'] })
  const open = async (redirectUri: string): Promise<number> => {
    const asked = new URLSearchParams(authorizationFor(auth, { client_id: id, redirect_uri: redirectUri }))
    return (await auth.app.inject({ url: `/v2/oauth/authorize?${asked}` })).statusCode
  }
  expect(await open(`${testOrigin}/console/`)).toBe(200)
  for (const other of ['/console/', 'https://evil.example/console/', `${testOrigin}/console`])
    expect(await open(other)).toBe(400)
  for (const path of ['//evil.example', '/a/../b', '/a\\b', '/a?b'])
    await expect(auth.clients.createClient({ name: 'x', grants: [], redirectUris: [path] })).rejects.toThrow(
      /full address/,
    )
})

test('the client of the first start returns to the console of the service', async () => {
  const empty = await createTestDatabase()
  const { app, context } = await openTestService(empty)
  try {
    const asked = authorizationFor(auth, {
      client_id: context.installation.clientId,
      redirect_uri: `${testOrigin}/console/`,
    })
    expect((await app.inject({ url: `/v2/oauth/authorize?${new URLSearchParams(asked)}` })).statusCode).toBe(
      200,
    )
  } finally {
    await app.close()
    await empty.close()
  }
})
