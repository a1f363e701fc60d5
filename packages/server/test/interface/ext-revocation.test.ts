import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Auth, type Body, createAuth } from '../support/auth.ts'
import { hour } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { openTestService } from '../support/service.ts'

const email = 'ada@example.com'
let relational: TestDatabase
let auth: Auth

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
  await auth.addUser(email)
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString()

const post = (payload: Body | string, headers: Record<string, string> = {}) =>
  auth.app.inject({
    method: 'POST',
    url: '/v2/oauth/revoke',
    headers: {
      'content-type': typeof payload === 'string' ? 'application/x-www-form-urlencoded' : 'application/json',
      ...headers,
    },
    payload,
  })

const revoke = (token: string, more: Record<string, string> = {}) =>
  post(form({ client_id: auth.clientId, token, ...more }))

const signIn = async (): Promise<{ access_token: string; refresh_token: string }> =>
  (await auth.signIn(email)).json()

const refused = (error: string, errorCode: number) => ({
  status: 'fail',
  error,
  error_code: errorCode,
  error_description: expect.any(String),
})

/** Whether the token opens anything, past what this process remembers of it. */
const opens = async (accessToken: string): Promise<boolean> => {
  auth.cache.forget()
  return (await auth.get(accessToken)).statusCode === 200
}

test('a refresh token takes its session along, and no other one', async () => {
  const session = await signIn()
  const other = await signIn()
  const later = (await auth.refresh(session.refresh_token)).json()
  const reply = await revoke(session.refresh_token)
  expect([reply.statusCode, reply.body, reply.headers['cache-control']]).toEqual([200, '', 'no-store'])
  expect((await auth.refresh(session.refresh_token)).json()).toMatchObject(refused('invalid_grant', 2003))
  expect([await opens(session.access_token), await opens(later.access_token)]).toEqual([false, false])
  expect(await opens(other.access_token)).toBe(true)
  expect((await auth.refresh(other.refresh_token)).statusCode).toBe(200)
})

test('an access token ends alone', async () => {
  const session = await signIn()
  const later = (await auth.refresh(session.refresh_token)).json()
  expect((await revoke(session.access_token)).statusCode).toBe(200)
  expect([await opens(session.access_token), await opens(later.access_token)]).toEqual([false, true])
  expect((await auth.refresh(session.refresh_token)).statusCode).toBe(200)
})

test.each(['refresh_token', 'access_token', 'id_token', ''])(
  'the hint "%s" changes nothing, wrong ones too',
  async (token_type_hint) => {
    const session = await signIn()
    expect((await revoke(session.access_token, { token_type_hint })).statusCode).toBe(200)
    expect(await opens(session.access_token)).toBe(false)
  },
)

test('a JSON body and the client of an Authorization header do as well', async () => {
  const [one, two] = [await signIn(), await signIn()]
  expect((await post({ client_id: auth.clientId, token: one.refresh_token })).statusCode).toBe(200)
  const basic = `Basic ${Buffer.from(`${auth.clientId}:`).toString('base64')}`
  const reply = await post(form({ token: two.refresh_token }), { authorization: basic })
  expect(reply.statusCode).toBe(200)
  expect([await opens(one.access_token), await opens(two.access_token)]).toEqual([false, false])
})

test.each([
  ['unknown', 'A'.repeat(43)],
  ['of another form', 'x'],
  ['with bytes that no token has', '\u{1f511}'],
])('a token that is %s is answered like one that was revoked', async (_, token) => {
  const reply = await revoke(token)
  expect([reply.statusCode, reply.body]).toEqual([200, ''])
})

test('a token may be revoked twice and after its end', async () => {
  const session = await signIn()
  auth.time.advance(2 * hour)
  for (const token of [session.access_token, session.refresh_token, session.refresh_token])
    expect((await revoke(token)).statusCode).toBe(200)
})

test('a client cannot revoke what another one was given', async () => {
  const session = await signIn()
  const other = await auth.clients.createClient({ name: 'other', grants: [], redirectUris: [] })
  for (const token of [session.access_token, session.refresh_token]) {
    const reply = await revoke(token, { client_id: other.id })
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject(refused('invalid_grant', 2003))
  }
  expect(await opens(session.access_token)).toBe(true)
  expect((await auth.refresh(session.refresh_token)).statusCode).toBe(200)
})

test.each<[string, Body | string, number, string]>([
  ['no token', { client_id: 'CLIENT' }, 400, 'invalid_request'],
  ['an empty token', 'client_id=CLIENT&token=', 400, 'invalid_request'],
  ['a token that is no text', { client_id: 'CLIENT', token: 1 }, 400, 'invalid_request'],
  ['a token that is given twice', 'client_id=CLIENT&token=a&token=b', 400, 'invalid_request'],
  ['a body that is a list', [] as unknown as Body, 400, 'invalid_request'],
  ['no client', { token: 'x' }, 401, 'invalid_client'],
  ['an unknown client', { client_id: '0123456789abcdef01234567', token: 'x' }, 401, 'invalid_client'],
  ['bytes that are no UTF-8', 'client_id=CLIENT&token=%ff', 400, 'invalid_request'],
])('%s is refused', async (_, body, status, error) => {
  const reply = await post(JSON.parse(JSON.stringify(body).replace('CLIENT', auth.clientId)))
  expect(reply.statusCode).toBe(status)
  expect(reply.json()).toMatchObject({ status: 'fail', error, code: status })
  if (status === 401) expect(reply.headers['www-authenticate']).toBeDefined()
})

test('every process knows within a second', async () => {
  const session = await signIn()
  const elsewhere = await openTestService(relational)
  try {
    const find = () => elsewhere.context.access.find(session.access_token)
    expect(await find()).toBeDefined()
    await revoke(session.refresh_token)
    await expect.poll(find, { interval: 20 }).toBeUndefined()
  } finally {
    await elsewhere.app.close()
  }
})
