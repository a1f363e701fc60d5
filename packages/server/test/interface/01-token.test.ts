import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Auth, type Body, createAuth, goodPassword } from '../support/auth.ts'
import { day, hour, minute, second } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let auth: Auth

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
  await auth.addUser('ada@example.com')
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

let people = 0
/** A user with whose address no other test has failed to sign in. */
async function addFreshUser(password = goodPassword): Promise<string> {
  const email = `person${++people}@example.com`
  await auth.addUser(email, password)
  return email
}

const failed = (status: number, error: string, errorCode: number) => ({
  code: status,
  status: 'fail',
  program: 'millrace',
  version: expect.any(String),
  error,
  error_code: errorCode,
  error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
  message: expect.any(String),
  datetime: expect.stringMatching(/Z$/),
  data: expect.any(Object),
})

describe('password grant', () => {
  test('T18: answers a bare token body that nobody may store', async () => {
    const reply = await auth.signIn('ada@example.com')
    expect(reply.statusCode).toBe(200)
    expect(reply.json()).toEqual({
      access_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      refresh_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
    })
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    })
  })

  test('T05: takes a form as ordinary OAuth clients send it', async () => {
    const form = new URLSearchParams({
      grant_type: 'password',
      client_id: auth.clientId,
      username: 'ada@example.com',
      password: goodPassword,
      scope: '',
    })
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }
    expect((await auth.post(form.toString(), { headers })).statusCode).toBe(200)
    form.append('username', 'bob@example.com')
    const twice = await auth.post(form.toString(), { headers })
    expect(twice.json()).toEqual(failed(400, 'invalid_request', 2000))
    const broken = await auth.post('grant_type=password&username=%ff', { headers })
    expect(broken.json()).toEqual(failed(400, 'invalid_request', 2000))
  })

  test('takes the client from HTTP Basic, and challenges in kind when it is unknown', async () => {
    const body = { grant_type: 'password', username: 'ada@example.com', password: goodPassword }
    const basic = (id: string) => ({ authorization: `Basic ${Buffer.from(`${id}:`).toString('base64')}` })
    expect((await auth.post(body, { headers: basic(auth.clientId) })).statusCode).toBe(200)
    const unknown = await auth.post(body, { headers: basic('nobody') })
    expect(unknown.statusCode).toBe(401)
    expect(unknown.headers['www-authenticate']).toBe('Basic realm="millrace"')
    const both = await auth.post({ ...body, client_id: 'f'.repeat(24) }, { headers: basic(auth.clientId) })
    expect(both.json()).toEqual(failed(400, 'invalid_request', 2000))
  })

  test.each<[string, Body | string, number, string, number]>([
    ['T03: no grant_type', { grant_type: undefined }, 400, 'invalid_request', 2000],
    [
      'T03: grant_type client_credentials',
      { grant_type: 'client_credentials' },
      400,
      'unsupported_grant_type',
      2001,
    ],
    ['T03: grant_type PASSWORD', { grant_type: 'PASSWORD' }, 400, 'unsupported_grant_type', 2001],
    ['T03: grant_type toString', { grant_type: 'toString' }, 400, 'unsupported_grant_type', 2001],
    ['T03: grant_type as an array', { grant_type: ['password'] }, 400, 'invalid_request', 2000],
    ['no username', { username: undefined }, 400, 'invalid_request', 2000],
    ['an empty password', { password: '' }, 400, 'invalid_request', 2000],
    ['a password that is a number', { password: 12 }, 400, 'invalid_request', 2000],
    ['T04: fields of both grants', { refresh_token: 'x' }, 400, 'invalid_request', 2000],
    ['T07: U+0000 in the username', { username: 'ada@example.com\0' }, 400, 'invalid_request', 1],
    ['half a surrogate pair', { password: '\ud800' }, 400, 'invalid_request', 1],
    ['T02: no client_id', { client_id: undefined }, 401, 'invalid_client', 2004],
    ['T02: an unknown client_id', { client_id: '0123456789abcdef01234567' }, 401, 'invalid_client', 2004],
    ['T02: SQL as client_id', { client_id: "' or 1=1 --" }, 401, 'invalid_client', 2004],
    ['an array as body', '[]', 400, 'invalid_request', 2000],
    ['a truncated body', '{"grant_type":"password"', 400, 'invalid_request', 2],
    ['a body over the limit', `{"password":"${'x'.repeat(1_100_000)}"}`, 413, 'invalid_request', 11],
  ])('%s is refused', async (_name, change, status, error, errorCode) => {
    const whole = {
      grant_type: 'password',
      client_id: auth.clientId,
      username: 'ada@example.com',
      password: goodPassword,
    }
    const reply = await auth.post(typeof change === 'string' ? change : { ...whole, ...change })
    expect(reply.json()).toEqual(failed(status, error, errorCode))
    expect(reply.statusCode).toBe(status)
    expect(reply.headers['cache-control']).toBe('no-store')
  })

  test('T05: refuses multipart bodies with 415', async () => {
    const multipart = await auth.post('x', { headers: { 'content-type': 'multipart/form-data; boundary=x' } })
    expect(multipart.json()).toMatchObject({ code: 415, error: 'invalid_request' })
  })

  test('takes parameters that it does not know for nothing, and a client_id in capitals for the same', async () => {
    const more = await auth.post({
      grant_type: 'password',
      client_id: auth.clientId.toUpperCase(),
      username: 'ada@example.com',
      password: goodPassword,
      audience: ['x'],
    })
    expect(more.statusCode).toBe(200)
  })

  test('H02: a token in the address counts for nothing', async () => {
    const { access_token } = (await auth.signIn('ada@example.com')).json()
    const reply = await auth.app.inject(`/v2/entities/users/me?access_token=${access_token}`)
    expect(reply.statusCode).toBe(401)
  })

  test('T02: refuses inactive clients and grants that the client may not use', async () => {
    const narrow = await auth.clients.createClient({
      name: 'narrow',
      grants: ['refresh_token'],
      redirectUris: [],
    })
    const body = { grant_type: 'password', username: 'ada@example.com', password: goodPassword }
    const unauthorized = await auth.post({ ...body, client_id: narrow.id })
    expect(unauthorized.json()).toEqual(failed(400, 'unauthorized_client', 2002))
    await relational.pool.query('update oauth_clients set active = false where id = $1', [narrow.id])
    const inactive = await auth.post({ ...body, client_id: narrow.id })
    expect(inactive.json()).toEqual(failed(401, 'invalid_client', 2004))
  })

  test.each([
    ['one character', 'x'],
    ['leading and trailing spaces', '  in the middle  '],
    ['128 emoji', '🐎'.repeat(128)],
    ['4,096 bytes', 'é'.repeat(2048)],
  ])('T06: verifies a password of %s exactly as received', async (_name, password) => {
    const email = await addFreshUser()
    const { cheapPasswords } = await import('../support/auth.ts')
    const hash = await cheapPasswords().withHasher((hasher) => hasher.hash(password))
    await relational.pool.query('update users set password_hash = $1 where email = $2', [hash, email])
    expect((await auth.signIn(email, password)).statusCode).toBe(200)
    expect((await auth.signIn(email, `${password.slice(0, -1)}`)).statusCode).not.toBe(200)
    expect((await auth.signIn(email, ` ${password.trim()}x`)).statusCode).not.toBe(200)
  })

  test('T06: takes composed and decomposed letters for the same', async () => {
    const email = await addFreshUser('zwölf Äpfel für Zoë'.normalize('NFC'))
    expect((await auth.signIn(email, 'zwölf Äpfel für Zoë'.normalize('NFD'))).statusCode).toBe(200)
  })

  test('T07: finds a person by an address in any case of ASCII and by nothing else that looks like it', async () => {
    await auth.addUser('kim@example.com')
    expect((await auth.signIn('KIM@Example.COM')).statusCode).toBe(200)
    for (const username of [
      '\u212aim@example.com',
      'k\u0131m@example.com',
      ' kim@example.com',
      'kim@example.com ',
    ])
      expect((await auth.signIn(username)).statusCode).toBe(401)
  })

  test('hashes again at sign-in when the cost has changed, and keeps the session', async () => {
    const email = await addFreshUser()
    const { createPasswords } = await import('../../src/platform/crypto/passwords.ts')
    const dearer = await createAuth(relational, {
      passwords: createPasswords({ cost: { memory: 128, passes: 1, lanes: 1 } }),
    })
    const reply = await dearer.signIn(email)
    expect(reply.statusCode).toBe(200)
    expect((await dearer.get(reply.json().access_token)).statusCode).toBe(200)
    const { rows } = await relational.pool.query('select password_hash from users where email = $1', [email])
    expect(rows[0].password_hash).toContain('m=128,')
    expect((await auth.signIn(email)).statusCode).toBe(200)
    await dearer.app.close()
  })

  test('T10: of 500 sign-ins at once some succeed, the others are sent away with 503 at once', async () => {
    const email = await addFreshUser()
    const replies = await Promise.all(Array.from({ length: 500 }, () => auth.signIn(email)))
    const statuses = replies.map(({ statusCode }) => statusCode)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(36)
    const refused = replies.find(({ statusCode }) => statusCode !== 200)
    expect(refused?.json()).toEqual(failed(503, 'temporarily_unavailable', 2007))
    expect(refused?.headers['retry-after']).toBe('1')
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
    expect((await auth.signIn(email)).statusCode).toBe(200)
  })
})

describe('lifetimes', () => {
  test('an access token is valid for an hour and not a moment longer', async () => {
    const { access_token } = (await auth.signIn('ada@example.com')).json()
    auth.time.advance(3599 * second)
    expect((await auth.get(access_token)).statusCode).toBe(200)
    auth.time.advance(999)
    expect((await auth.get(access_token)).statusCode).toBe(200)
    auth.time.advance(1)
    expect((await auth.get(access_token)).statusCode).toBe(401)
  })

  test('T12: a refresh token is valid until 30 days after the last access token, exactly', async () => {
    const { refresh_token } = (await auth.signIn('ada@example.com')).json()
    auth.time.advance(30 * day - 1)
    const last = await auth.refresh(refresh_token)
    expect(last.json()).toMatchObject({ refresh_token, token_type: 'Bearer', expires_in: 3600 })
    auth.time.advance(30 * day)
    const late = await auth.refresh(refresh_token)
    expect(late.json()).toEqual(failed(400, 'invalid_grant', 2003))
  })

  test('refreshing on day 29 keeps the token until day 59', async () => {
    const { refresh_token } = (await auth.signIn('ada@example.com')).json()
    auth.time.advance(29 * day)
    expect((await auth.refresh(refresh_token)).statusCode).toBe(200)
    auth.time.advance(30 * day - minute)
    expect((await auth.refresh(refresh_token)).statusCode).toBe(200)
  })

  test('T12: a clock that is set back shortens no lifetime and makes nothing valid again', async () => {
    const { refresh_token } = (await auth.signIn('ada@example.com')).json()
    auth.time.advance(-hour)
    expect((await auth.refresh(refresh_token)).statusCode).toBe(200)
    auth.time.advance(30 * day + hour - 1)
    expect((await auth.refresh(refresh_token)).statusCode).toBe(200)
  })
})

describe('refresh grant', () => {
  test('T13: two at the same time both succeed and both access tokens work', async () => {
    const { refresh_token } = (await auth.signIn('ada@example.com')).json()
    const replies = await Promise.all(Array.from({ length: 20 }, () => auth.refresh(refresh_token)))
    expect(new Set(replies.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
    for (const reply of replies) expect((await auth.get(reply.json().access_token)).statusCode).toBe(200)
    expect(new Set(replies.map((reply) => reply.json().access_token)).size).toBe(20)
  })

  test('T11: refuses whatever is no refresh token of this client, and moves no end', async () => {
    const { access_token, refresh_token } = (await auth.signIn('ada@example.com')).json()
    const other = await auth.clients.createClient({ name: 'other', grants: [], redirectUris: [] })
    auth.time.advance(30 * day - 1)
    const refused = [
      await auth.refresh(refresh_token, other.id),
      await auth.refresh(access_token),
      await auth.refresh(refresh_token.slice(0, -1)),
      await auth.refresh(`${refresh_token}x`),
      await auth.refresh("' or '1'='1"),
      await auth.refresh('x'.repeat(60_000)),
    ]
    expect((await auth.refresh('x'.repeat(1_000_000))).statusCode).toBe(413)
    for (const reply of refused) expect(reply.json()).toEqual(failed(400, 'invalid_grant', 2003))
    auth.time.advance(1)
    expect((await auth.refresh(refresh_token)).statusCode).toBe(400)
  })

  test('T15: refuses after a new password that the operator set', async () => {
    const email = await addFreshUser()
    const { refresh_token } = (await auth.signIn(email)).json()
    await auth.accounts.setPassword(email, 'another field of poppies')
    expect((await auth.refresh(refresh_token)).json()).toEqual(failed(400, 'invalid_grant', 2003))
  })

  test('T11: an access token is no refresh token and a refresh token no access token', async () => {
    const { refresh_token } = (await auth.signIn('ada@example.com')).json()
    expect((await auth.get(refresh_token)).statusCode).toBe(401)
  })

  test('T17: stores hashes only', async () => {
    const { access_token, refresh_token } = (await auth.signIn('ada@example.com')).json()
    for (const table of ['access_tokens', 'refresh_tokens', 'users', 'leaky_buckets']) {
      const { rows } = await relational.pool.query(`select t::text as line from ${table} t`)
      const all = rows.map(({ line }) => line).join('\n')
      for (const secret of [access_token, refresh_token]) {
        expect(all).not.toContain(secret)
        expect(all).not.toContain(Buffer.from(secret, 'base64url').toString('hex'))
      }
    }
  })

  test('sweeps what has ended', async () => {
    await auth.signIn('ada@example.com')
    auth.time.advance(31 * day)
    for (let i = 0; i < 20; i++) await auth.signIn('ada@example.com')
    const { rows } = await relational.pool.query('select count(*)::int as n from refresh_tokens')
    expect(rows[0].n).toBeLessThan(40)
  })
})

describe('T19: the cookie refresh_token', () => {
  const body = () => ({ grant_type: 'refresh_token', client_id: auth.clientId })

  test.each([
    ['from the same origin', { 'sec-fetch-site': 'same-origin' }, 200],
    ['by the origin alone', { origin: 'http://localhost:80' }, 200],
    ['from another origin of the same site', { 'sec-fetch-site': 'same-site' }, 400],
    ['from another site', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:80' }, 400],
    ['from a link or the address bar', { 'sec-fetch-site': 'none' }, 400],
    ['from another origin', { origin: 'http://evil.example' }, 400],
    ['from an opaque origin', { origin: 'null' }, 400],
    ['with no word of where it comes from', {}, 400],
  ])('%s', async (_name, headers, status) => {
    const { refresh_token } = (await auth.signIn('ada@example.com')).json()
    const sent = { host: 'localhost:80', cookie: `a=b; refresh_token=${refresh_token}`, ...headers }
    const reply = await auth.post(body(), { headers: sent as unknown as Record<string, string> })
    expect(reply.statusCode).toBe(status)
    if (status !== 200) return expect(reply.json()).toEqual(failed(400, 'invalid_request', 2000))
    expect(reply.json()).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600 })
    const attributes = (path: string) => `Max-Age=2592000; Path=${path}; HttpOnly; SameSite=Lax`
    expect(reply.headers['set-cookie']).toEqual(
      ['/v2/auth/token', '/v2/oauth/revoke'].map(
        (path) => `refresh_token=${refresh_token}; ${attributes(path)}`,
      ),
    )
  })

  test('does not outrank the body', async () => {
    const { refresh_token } = (await auth.signIn('ada@example.com')).json()
    const headers = {
      cookie: `refresh_token=${refresh_token}`,
      'sec-fetch-site': 'same-origin',
    }
    const reply = await auth.post({ ...body(), refresh_token: 'x' }, { headers })
    expect(reply.json()).toEqual(failed(400, 'invalid_grant', 2003))
  })
})
