import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOriginCache } from '../../src/features/identity/sessions/clients/origin-cache.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { type Auth, createAuth } from '../support/auth.ts'
import { createFakeTime } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { openTestService } from '../support/service.ts'

/** Which pages of other origins may read what the interface answers (CORS). */

const origin = 'https://app.example'
const foreignOrigins = [
  'https://evil.example',
  'null',
  'https://app.example.evil.example',
  'https://app.example:8443',
  'http://app.example',
  'https://APP.example',
  'https://app.example/',
  'https://app.example, https://evil.example',
  '*',
  '',
]

let relational: TestDatabase
let auth: Auth
let token: string
let clientId: string

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
  await auth.addUser('ada@example.com')
  const made = { name: 'Pages', grants: [], redirectUris: [], origins: [origin, 'http://127.0.0.1:5173'] }
  clientId = (await auth.clients.createClient(made)).id
  token = (await auth.signIn('ada@example.com')).json().access_token
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

const ask = (
  method: Method,
  url: string,
  headers: Record<string, string>,
  payload?: string,
  remoteAddress = '192.0.2.77',
) => auth.app.inject({ method, url, headers, remoteAddress, ...(payload === undefined ? {} : { payload }) })

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const bearer = () => ({ authorization: `Bearer ${token}` })

/** Replies of every kind, and of everything that can refuse a request before a handler has it. */
const replies: readonly (readonly [
  string,
  number,
  (headers: Record<string, string>) => ReturnType<typeof ask>,
])[] = [
  ['an answer', 200, (headers) => ask('GET', '/v2/entities/users/me', { ...bearer(), ...headers })],
  ['no token', 401, (headers) => ask('GET', '/v2/entities/users/me', headers)],
  [
    'a token that has ended',
    401,
    (headers) => ask('GET', '/v2/entities/users/me', { ...headers, authorization: 'Bearer x' }),
  ],
  ['no permission', 403, (headers) => ask('GET', '/v2/entities/users', { ...bearer(), ...headers })],
  ['an unknown path', 404, (headers) => ask('GET', '/v2/nothing', { ...bearer(), ...headers })],
  ['another method', 405, (headers) => ask('PUT', '/v2/entities/users/me', { ...bearer(), ...headers })],
  [
    'an unknown parameter',
    400,
    (headers) => ask('GET', '/v2/entities/users/me/authenticator?x=1', { ...bearer(), ...headers }),
  ],
  ['an address that is none', 400, (headers) => ask('GET', '/v2/%ff', { ...bearer(), ...headers })],
  [
    'a bad token request',
    400,
    (headers) => ask('POST', '/v2/auth/token', { ...form, ...headers }, 'grant_type=x'),
  ],
  [
    'an unknown client',
    401,
    (headers) =>
      ask(
        'POST',
        '/v2/auth/token',
        { ...form, ...headers },
        'grant_type=refresh_token&client_id=x&refresh_token=y',
      ),
  ],
  [
    'a body in another format',
    415,
    (headers) => ask('POST', '/v2/auth/token', { 'content-type': 'text/xml', ...headers }, '<x/>'),
  ],
  [
    'a large body',
    413,
    (headers) => ask('POST', '/v2/auth/token', { ...form, ...headers }, 'x'.repeat(70_000)),
  ],
  [
    'a revocation',
    200,
    (headers) => ask('POST', '/v2/oauth/revoke', { ...form, ...headers }, `client_id=${clientId}&token=x`),
  ],
  [
    'a bad revocation',
    400,
    (headers) => ask('POST', '/v2/oauth/revoke', { ...form, ...headers }, `client_id=${clientId}`),
  ],
  ['the metadata', 200, (headers) => ask('GET', '/.well-known/oauth-authorization-server', headers)],
]

describe.each(replies)('%s', (name, status, send) => {
  test('can be read by a page of a registered origin, with the headers that it needs', async () => {
    for (const known of [origin, 'http://127.0.0.1:5173']) {
      const { statusCode, headers } = await send({ origin: known })
      expect(statusCode).toBe(status)
      expect(headers).toMatchObject({
        'access-control-allow-origin': known,
        'access-control-expose-headers': 'Retry-After, ETag, WWW-Authenticate, Location, X-Millrace-Warnings',
      })
      expect(String(headers.vary)).toMatch(/\borigin\b/i)
      expect(headers['access-control-allow-credentials']).toBeUndefined()
    }
  })

  test('is for no other page', async () => {
    for (const foreign of foreignOrigins) {
      const { statusCode, headers } = await send({ origin: foreign })
      expect(statusCode).toBe(status)
      const open = name === 'the metadata' ? '*' : undefined
      expect(headers['access-control-allow-origin']).toBe(open)
      expect(headers['access-control-expose-headers']).toBeUndefined()
      expect(headers['access-control-allow-credentials']).toBeUndefined()
      expect(String(headers.vary)).toMatch(/\borigin\b/i)
    }
  })

  test('says even without an origin that it depends on one', async () => {
    const { headers } = await send({})
    expect(String(headers.vary)).toMatch(/\borigin\b/i)
  })
})

test('too many failed sign-ins can be read, with the time to wait', async () => {
  await auth.addUser('slow@example.com')
  const guess = (more: Record<string, string> = {}) =>
    ask(
      'POST',
      '/v2/auth/token',
      { ...form, ...more },
      new URLSearchParams({
        grant_type: 'password',
        client_id: auth.clientId,
        username: 'slow@example.com',
        password: 'not the password',
      }).toString(),
    )
  let reply = await guess({ origin })
  for (let i = 0; i < 12 && reply.statusCode === 401; i++) {
    expect(reply.headers['access-control-allow-origin']).toBe(origin)
    reply = await guess({ origin })
  }
  expect(reply.statusCode).toBe(429)
  expect(reply.headers['retry-after']).toMatch(/^\d+$/)
  expect(reply.headers['access-control-allow-origin']).toBe(origin)
})

describe('a preflight', () => {
  const preflight = (url: string, more: Record<string, string> = {}) =>
    ask('OPTIONS', url, {
      origin,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization,content-type,if-match,idempotency-key',
      ...more,
    })
  const paths = [
    '/v2/entities/users/me',
    '/v2/auth/token',
    '/v2/oauth/revoke',
    '/v2/nothing',
    '/v2/entities/users/me?x=1',
  ]

  test.each(paths)('to %s is answered for a registered origin, without a token', async (url) => {
    const { statusCode, headers, body } = await preflight(url)
    expect([statusCode, body]).toEqual([204, ''])
    expect(headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'Authorization, Content-Type, If-Match, Idempotency-Key',
      'access-control-max-age': '600',
      vary: 'Origin',
    })
    expect(headers['access-control-allow-credentials']).toBeUndefined()
  })

  test.each(paths)('to %s says nothing to another', async (url) => {
    for (const foreign of foreignOrigins) {
      const { statusCode, headers } = await preflight(url, { origin: foreign })
      expect([404, 405]).toContain(statusCode)
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      expect(headers.vary).toBe('Origin, Accept-Language')
    }
  })

  test('is one only with the method that it asks for', async () => {
    const { statusCode, headers } = await ask('OPTIONS', '/v2/auth/token', { origin })
    expect([statusCode, headers.allow]).toEqual([405, 'POST'])
  })

  test('that is not framed as one request is refused like any other', async () => {
    const reply = await preflight('/v2/entities/users/me', { 'transfer-encoding': 'gzip' })
    expect(reply.statusCode).toBe(400)
  })
})

test.each([
  '/v2/oauth/authorize',
  '/v2/oauth/check-email',
  '/v2/oauth/sign-in',
  '/v2/oauth/consent',
  '/v2/oauth/forgot-password',
  '/v2/sso/saml/login',
  '/v2/scim/v2/Users',
  '/v2',
  '/',
])('%s is for no page of another origin, registered or not', async (url) => {
  for (const method of ['GET', 'POST', 'OPTIONS'] as const) {
    const { headers } = await ask(method, url, { origin, 'access-control-request-method': 'GET' })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  }
})

const allowed = async (of: string, url = '/v2/entities/users/me'): Promise<unknown> =>
  (await ask('GET', url, { ...bearer(), origin: of })).headers['access-control-allow-origin']

test('an origin that is added or removed counts within a second, also when no notice comes', async () => {
  const late = 'https://late.example'
  expect(await allowed(late)).toBeUndefined()
  await auth.clients.updateOrigins(clientId, { added: [late], removed: [] })
  auth.time.advance(800)
  expect(await allowed(late)).toBe(late)
  await auth.clients.updateOrigins(clientId, { added: [], removed: [late] })
  auth.time.advance(800)
  expect(await allowed(late)).toBeUndefined()
  expect(await allowed(origin)).toBe(origin)
})

test('an origin ends with its client, but not while another one has it', async () => {
  const shared = 'https://shared.example'
  const make = async () =>
    (await auth.clients.createClient({ name: 'x', grants: [], redirectUris: [], origins: [shared] })).id
  const ids = [await make(), await make()]
  const seen: unknown[] = []
  for (const id of [undefined, ...ids]) {
    await relational.pool.query('update oauth_clients set active = false where id = $1', [id])
    auth.time.advance(800)
    seen.push(await allowed(shared))
  }
  expect(seen).toEqual([shared, shared, undefined])
})

test('every process hears of it at once', async () => {
  const elsewhere = await openTestService(relational)
  try {
    const heard = 'https://heard.example'
    expect(await elsewhere.context.allowsOrigin(heard)).toBe(false)
    const made = { name: 'x', grants: [], redirectUris: [], origins: [heard] }
    const { id } = await auth.clients.createClient(made)
    // The clock stands still: nothing but the notice can have ended what was remembered.
    await expect.poll(() => elsewhere.context.allowsOrigin(heard), { interval: 20 }).toBe(true)
    await auth.clients.updateOrigins(id, { added: [], removed: [heard] })
    await expect.poll(() => elsewhere.context.allowsOrigin(heard), { interval: 20 }).toBe(false)
  } finally {
    await elsewhere.app.close()
  }
})

test('many requests at once ask the store once', async () => {
  let asked = 0
  const time = createFakeTime()
  const listOrigins = async () => {
    asked++
    return [origin]
  }
  const cache = createOriginCache(listOrigins, silentLogger, time.clock)
  await Promise.all(Array.from({ length: 50 }, (_, i) => cache.has(`https://${i}.example`)))
  expect(asked).toBe(1)
  time.advance(800)
  await cache.has(origin)
  expect(asked).toBe(2)
})

test('while the store cannot be asked the last answer holds', async () => {
  const time = createFakeTime()
  let isDown = false
  const listOrigins = async () => {
    if (isDown) throw new Error('down')
    return [origin]
  }
  const cache = createOriginCache(listOrigins, silentLogger, time.clock)
  expect(await cache.has(origin)).toBe(true)
  isDown = true
  time.advance(800)
  expect([await cache.has(origin), await cache.has('https://evil.example')]).toEqual([true, false])
})

test('the cookie of the web application is not for pages of other origins, of the same site neither', async () => {
  const { headers } = await ask('OPTIONS', '/v2/auth/token', {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-csrf-protection',
  })
  expect(String(headers['access-control-allow-headers']).toLowerCase()).not.toContain('x-csrf-protection')
})
