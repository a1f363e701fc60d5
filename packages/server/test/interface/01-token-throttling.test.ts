import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { defaultPolicy } from '../../src/features/identity/sign-in/passwords/sign-in-throttle.ts'
import { type Auth, createAuth, type TokenCall } from '../support/auth.ts'
import { minute, second } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const owner = 'owner@example.com'
const attacker = { from: '203.0.113.9' }
const home = { from: '192.0.2.1' }

let relational: TestDatabase
let auth: Auth
let warnings: unknown[]

const logger = pino(
  { level: 'warn', base: null, timestamp: false },
  { write: (line: string) => void warnings.push(JSON.parse(line)) },
)

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational, { logger })
  await auth.addUser(owner)
})

beforeEach(async () => {
  warnings = []
  await relational.pool.query('delete from leaky_buckets')
  await relational.pool.query('delete from refresh_tokens')
  await relational.pool.query('delete from familiar_origins')
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

async function fail(times: number, username = owner, call: TokenCall = attacker): Promise<void> {
  for (let i = 0; i < times; i++) expect((await auth.signIn(username, 'wrong', call)).statusCode).toBe(401)
}

test.each([
  ['an account', owner],
  ['an address that nobody has', 'nobody@example.com'],
  ['no address', 'x'],
])(
  'T08: ten failures on %s are answered 429 with the time to wait, doubling from 1 s to 15 min',
  async (_name, username) => {
    await fail(10, username)
    const waits: number[] = []
    for (let i = 0; i < 13; i++) {
      const refused = await auth.signIn(username, 'wrong', attacker)
      expect(refused.statusCode).toBe(429)
      const wait = Number(refused.headers['retry-after'])
      expect(refused.json()).toMatchObject({
        error: 'too_many_attempts',
        error_code: 2006,
        code: 429,
        data: { retryAfter: wait },
      })
      auth.time.advance(wait * second - 1)
      expect((await auth.signIn(username, 'wrong', attacker)).statusCode).toBe(429)
      auth.time.advance(1)
      await fail(1, username)
      waits.push(wait)
    }
    // While one waits for minutes the failures drain too, one in 15 minutes.
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 512, 900, 900])
  },
)

test('the right password does not get in while the attempt has to wait, and clears the failures after', async () => {
  await fail(10)
  expect((await auth.signIn(owner, undefined, attacker)).statusCode).toBe(429)
  auth.time.advance(second)
  expect((await auth.signIn(owner, undefined, attacker)).statusCode).toBe(200)
  await fail(9)
  expect((await auth.signIn(owner, undefined, attacker)).statusCode).toBe(200)
})

test('nine failures, or ten over hours, cost nothing', async () => {
  await fail(9)
  auth.time.advance(60 * minute)
  await fail(3)
  expect((await auth.signIn(owner, undefined, attacker)).statusCode).toBe(200)
})

test('T08: failures from one address do not lock the owner out elsewhere, however many', async () => {
  for (let round = 0; round < 60; round++) {
    const reply = await auth.signIn(owner, 'wrong', attacker)
    if (reply.statusCode === 429) auth.time.advance(Number(reply.headers['retry-after']) * second)
  }
  expect((await auth.signIn(owner, undefined, home)).statusCode).toBe(200)
})

test('addresses of one /64 are one address, and IPv4 written as IPv6 is IPv4', async () => {
  await fail(5, owner, { from: '2001:db8:1:2::1' })
  await fail(5, owner, { from: '2001:db8:1:2:ffff:0:0:9' })
  expect((await auth.signIn(owner, undefined, { from: '2001:db8:1:2::77' })).statusCode).toBe(429)
  expect((await auth.signIn(owner, undefined, { from: '2001:db8:1:3::1' })).statusCode).toBe(200)
  await fail(10, 'x@example.com', { from: '198.51.100.1' })
  expect((await auth.signIn('x@example.com', 'x', { from: '::ffff:198.51.100.1' })).statusCode).toBe(429)
})

test('T08: an owner with a session refreshes on, and signs in from beside the attacker', async () => {
  const { refresh_token } = (await auth.signIn(owner, undefined, attacker)).json()
  await fail(10)
  expect((await auth.signIn(owner, undefined, attacker)).statusCode).toBe(429)
  expect((await auth.refresh(refresh_token, undefined, attacker)).statusCode).toBe(200)
  const headers = {
    cookie: `refresh_token=${refresh_token}`,
    'sec-fetch-site': 'same-origin',
  }
  await fail(9, owner, { ...attacker, headers })
  expect((await auth.signIn(owner, undefined, { ...attacker, headers })).statusCode).toBe(200)
  // The session of another user proves nothing, and one's own is no licence to guess.
  await auth.addUser('other@example.com')
  const stranger = (await auth.signIn('other@example.com', undefined, home)).json()
  const foreign = { ...headers, cookie: `refresh_token=${stranger.refresh_token}` }
  expect((await auth.signIn(owner, undefined, { ...attacker, headers: foreign })).statusCode).toBe(429)
  await fail(10, owner, { ...attacker, headers })
  expect((await auth.signIn(owner, undefined, { ...attacker, headers })).statusCode).toBe(429)
})

test('T08: an account guessed at from many addresses lets in where its owner has a session, and others in time', async () => {
  await auth.signIn(owner, undefined, home)
  for (let i = 0; i < 100; i++) await fail(1, owner, { from: `198.51.100.${i}` })
  const refused = await auth.signIn(owner, undefined, { from: '198.51.100.200' })
  expect(refused.statusCode).toBe(429)
  expect((await auth.signIn(owner, undefined, home)).statusCode).toBe(200)
  expect(warnings).toMatchObject([{ budget: 'account' }])
  auth.time.advance(Number(refused.headers['retry-after']) * second)
  expect((await auth.signIn(owner, undefined, { from: '198.51.100.200' })).statusCode).toBe(200)
})

test('T09: one password tried on many accounts from one address is stopped, whether the accounts exist or not', async () => {
  for (let i = 0; i < 50; i++) await fail(1, `user${i}@example.com`)
  expect((await auth.signIn('user51@example.com', 'wrong', attacker)).statusCode).toBe(429)
  expect((await auth.signIn(owner, 'wrong', attacker)).statusCode).toBe(429)
  expect((await auth.signIn(owner, undefined, home)).statusCode).toBe(200)
  expect(warnings).toMatchObject([{ budget: 'address' }])
})

test('T09: one password tried from many addresses exhausts the budget of all, except where a user has a session', async () => {
  const policy = { ...defaultPolicy, everything: { free: 30, drainSeconds: 1, maxDelaySeconds: 60 } }
  const small = await createAuth(relational, { logger, throttlePolicy: policy })
  await small.signIn(owner, undefined, home)
  for (let i = 0; i < 30; i++) {
    const reply = await small.signIn(`user${i}@example.com`, 'wrong', { from: `198.51.100.${i}` })
    expect(reply.statusCode).toBe(401)
  }
  expect((await small.signIn(owner, undefined, { from: '198.51.100.99' })).statusCode).toBe(429)
  expect((await small.signIn(owner, undefined, home)).statusCode).toBe(200)
  expect(warnings).toMatchObject([{ budget: 'everything' }])
  await small.app.close()
})

test('what was counted is known to every process and after a restart', async () => {
  await fail(10)
  const restarted = await createAuth(relational)
  expect((await restarted.signIn(owner, undefined, attacker)).statusCode).toBe(429)
  await restarted.app.close()
})

test('guesses sent all at once count as well: hardly more than the free ones are ever hashed', async () => {
  const replies = await Promise.all(Array.from({ length: 36 }, () => auth.signIn(owner, 'wrong', attacker)))
  const guessed = replies.filter(({ statusCode }) => statusCode === 401).length
  expect(guessed).toBeGreaterThanOrEqual(10)
  expect(guessed).toBeLessThanOrEqual(13)
})

test('the company sees once a minute that an account is held, and nobody sees that of an unknown one', async () => {
  const held = async () => {
    const { rows } = await relational.pool.query<{ company_id: string | null; details: { reason: string } }>(
      "select company_id, details from audit_entries where error = 'tooManyAttempts' order by at, id",
    )
    return rows.map(({ company_id, details }) => [company_id, details.reason])
  }
  await auth.addUser('held@example.com')
  const before = (await held()).length
  for (const username of ['held@example.com', 'nobody2@example.com']) {
    await fail(10, username)
    await Promise.all(Array.from({ length: 5 }, () => auth.signIn(username, 'wrong', attacker)))
  }
  expect((await held()).slice(before)).toEqual([
    [auth.companyId, 'held'],
    [null, 'held'],
  ])
})
