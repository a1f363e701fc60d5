import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { defaultPolicy } from '../../src/features/identity/sign-in/passwords/sign-in-throttle.ts'
import { type DeriveArgon2id, deriveArgon2id } from '../../src/platform/crypto/argon2id.ts'
import { createPasswords } from '../../src/platform/crypto/passwords.ts'
import { type Auth, createAuth, goodPassword, type TokenCall } from '../support/auth.ts'
import { oneTimeCode, turnOnAuthenticator } from '../support/authenticator.ts'
import { walkToPassword } from '../support/authorization.ts'
import { day, second } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { statementsOf } from '../support/statements.ts'

/** What attackers who fail on purpose can keep others from, and what they learn by it. */

const cost = { memory: 64, passes: 1, lanes: 1 }
const everything = { free: 84, drainSeconds: 1, maxDelaySeconds: 60 }
const policy = { ...defaultPolicy, everything }

let relational: TestDatabase
let auth: Auth
let hashes = 0

const derive: DeriveArgon2id = (parameters) => {
  hashes++
  return deriveArgon2id(parameters)
}

const home = '192.0.2.1'
const elsewhere = '192.0.2.99'

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational, {
    passwords: createPasswords({ cost, derive }),
    throttlePolicy: policy,
  })
})

beforeEach(async () => {
  for (const table of ['leaky_buckets', 'refresh_tokens', 'familiar_origins'])
    await relational.pool.query(`delete from ${table}`)
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

const statusOf = async (username: string, password: string | undefined, call: TokenCall) =>
  (await auth.signIn(username, password, call)).statusCode

/** 28 addresses fail three times each, on an account of each their own: enough to hold everybody. */
async function holdEverybody(): Promise<void> {
  for (let address = 0; address < 28; address++)
    for (let i = 0; i < 3; i++)
      expect(await statusOf(`x${address}@example.com`, 'wrong', { from: `198.51.100.${address}` })).toBe(401)
}

describe('one network that is held', () => {
  const held = '203.0.113.9'
  const crowd = 60

  /** Sends wrong passwords from one address over and over, as many at a time as kept connections. */
  async function whileCrowded(app: Auth, work: () => Promise<void>): Promise<Record<string, number>> {
    const seen: Record<string, number> = {}
    let over = false
    const connections = Array.from({ length: crowd }, async () => {
      while (!over) {
        const { statusCode } = await app.signIn('owner@example.com', 'wrong', { from: held })
        seen[statusCode] = (seen[statusCode] ?? 0) + 1
      }
    })
    try {
      await work()
    } finally {
      over = true
      await Promise.all(connections)
    }
    return seen
  }

  test('keeps no user elsewhere from signing in, and costs no hash', async () => {
    for (let i = 0; i < 50; i++)
      expect(await statusOf(`u${i}@example.com`, 'wrong', { from: held })).toBe(401)
    const names = Array.from({ length: 10 }, (_, i) => `colleague${i}@example.com`)
    for (const name of names) await auth.addUser(name)
    hashes = 0
    const statuses: number[] = []
    const seen = await whileCrowded(auth, async () => {
      for (const [i, name] of names.entries())
        statuses.push(await statusOf(name, undefined, { from: `192.0.2.${10 + i}` }))
    })
    expect(statuses).toEqual(names.map(() => 200))
    expect(hashes).toBe(names.length)
    expect(seen[429]).toBeGreaterThan(0)
    expect(Object.keys(seen).filter((status) => !['429', '503'].includes(status))).toEqual([])
  })

  test('keeps nobody from a place even while its guesses are still hashed', async () => {
    const slow = createPasswords({
      cost,
      async derive(parameters) {
        await sleep(5)
        return deriveArgon2id(parameters)
      },
    })
    const allowance = { free: 100_000, drainSeconds: 1, maxDelaySeconds: 1 }
    const free = { ...policy, accountFromAddress: allowance, address: allowance, account: allowance }
    const lenient = { ...free, site: allowance, everything: allowance }
    const app = await createAuth(relational, { passwords: slow, throttlePolicy: lenient })
    await app.addUser('busy@example.com')
    await whileCrowded(app, async () => {
      for (let i = 0; i < 10; i++)
        expect((await app.signIn('busy@example.com', undefined, { from: elsewhere })).statusCode).toBe(200)
    })
    await app.app.close()
  })

  test('keeps no user elsewhere from giving a one-time code', async () => {
    await auth.addUser('two-steps@example.com')
    const token = (await auth.signIn('two-steps@example.com', undefined, { from: home })).json().access_token
    const { secret } = await turnOnAuthenticator(auth, token)
    for (let i = 0; i < 50; i++) await statusOf(`u${i}@example.com`, 'wrong', { from: held })
    const statuses: number[] = []
    await whileCrowded(auth, async () => {
      for (let i = 0; i < 3; i++) {
        auth.time.advance(30 * second)
        const body = {
          grant_type: 'password',
          client_id: auth.clientId,
          username: 'two-steps@example.com',
          password: goodPassword,
          'x-otp-code': oneTimeCode(auth, secret),
        }
        statuses.push((await auth.post(body, { from: elsewhere })).statusCode)
      }
    })
    expect(statuses).toEqual([200, 200, 200])
  })
})

describe('while everybody is held', () => {
  const owner = 'familiar@example.com'

  beforeAll(async () => {
    await auth.addUser(owner)
    await auth.addUser('other@example.com')
  })

  test('a user signs in from where they have signed in, at the token endpoint and on the pages, and nowhere else', async () => {
    expect(await statusOf(owner, undefined, { from: home })).toBe(200)
    await relational.pool.query('delete from refresh_tokens')
    await holdEverybody()
    expect(await statusOf(owner, undefined, { from: elsewhere })).toBe(429)
    expect((await walkToPassword(auth, owner, goodPassword, {}, elsewhere)).page.status).toBe(429)
    expect(await statusOf(owner, undefined, { from: home })).toBe(200)
    expect((await walkToPassword(auth, owner, goodPassword, {}, home)).page.status).toBe(303)
    auth.time.advance(31 * day)
    await holdEverybody()
    expect(await statusOf(owner, undefined, { from: home })).toBe(429)
  })

  test('a user signs in with the browser that they have signed in with, from wherever it is', async () => {
    const { browser, page } = await walkToPassword(auth, owner, goodPassword, {}, home)
    expect(page.status).toBe(303)
    const line = [page.reply.headers['set-cookie'] ?? []]
      .flat()
      .find((each) => /^millrace_device=/.test(String(each)))
    expect(line).toMatch(/^millrace_device=[\w-]{43}; Max-Age=7776000; Path=\/v2; HttpOnly; SameSite=Lax/)
    const cookie = `millrace_device=${browser.cookies.get('millrace_device')}`
    const call = { from: elsewhere, headers: { cookie } }
    await holdEverybody()
    expect(await statusOf(owner, undefined, call)).toBe(200)
    // It is this user's alone, and has few guesses of its own.
    expect(await statusOf('other@example.com', undefined, call)).toBe(429)
    await relational.pool.query('delete from familiar_origins where kind = $1', ['network'])
    for (let i = 0; i < 10; i++) expect(await statusOf(owner, 'wrong', call)).toBe(401)
    expect(await statusOf(owner, undefined, call)).toBe(429)
  })

  test('each sign-in gives the browser another secret, and a new password ends all', async () => {
    const { browser } = await walkToPassword(auth, owner, goodPassword, {}, home)
    const callWith = (value: string | undefined) => ({
      from: elsewhere,
      headers: { cookie: `millrace_device=${value}` },
    })
    const first = browser.cookies.get('millrace_device')
    const again = await walkToPassword(auth, owner, goodPassword, {}, home, browser)
    expect(again.page.status).toBe(303)
    const second = browser.cookies.get('millrace_device')
    expect(second).not.toBe(first)
    await relational.pool.query('delete from familiar_origins where kind = $1', ['network'])
    await holdEverybody()
    expect(await statusOf(owner, undefined, callWith(first))).toBe(429)
    expect(await statusOf(owner, undefined, callWith(second))).toBe(200)
    await auth.accounts.setPassword(owner, 'another field of 7')
    expect(await statusOf(owner, 'another field of 7', callWith(second))).toBe(429)
    await auth.accounts.setPassword(owner, goodPassword)
  })

  test('no more than 20 networks of a user are familiar, the latest', async () => {
    for (let i = 0; i < 25; i++) {
      expect(await statusOf(owner, undefined, { from: `192.0.2.${100 + i}` })).toBe(200)
      auth.time.advance(second)
    }
    const { rows } = await relational.pool.query('select count(*)::int as count from familiar_origins')
    expect(rows).toEqual([{ count: 20 }])
    await holdEverybody()
    expect(await statusOf(owner, undefined, { from: '192.0.2.104' })).toBe(429)
    expect(await statusOf(owner, undefined, { from: '192.0.2.105' })).toBe(200)
  })

  test('from a network where some users are known, no answer and no work tells which', async () => {
    expect(await statusOf(owner, undefined, { from: home })).toBe(200)
    await holdEverybody()
    const tries: { reply: unknown; hashes: number; statements: string[] }[] = []
    for (const name of [owner, 'other@example.com', 'nobody@example.com', 'no address']) {
      hashes = 0
      let reply: unknown
      const statements = await statementsOf(async () => {
        const { statusCode, headers, body } = await auth.signIn(name, 'wrong', { from: home })
        reply = {
          statusCode,
          headers: { ...headers, date: '' },
          body: body.replace(/"datetime":"[^"]+"/, ''),
        }
      })
      const alike = statements.map((text) => text.replace(/^(insert into "audit_entries").*/s, '$1'))
      tries.push({ reply, hashes, statements: alike })
    }
    expect(tries[0]).toMatchObject({ reply: { statusCode: 429 }, hashes: 1 })
    for (const each of tries) expect(each).toEqual(tries[0])
    // The right password of another user is not taken there either.
    expect(await statusOf('other@example.com', undefined, { from: home })).toBe(429)
  })

  test('guesses from a familiar network are few there too', async () => {
    expect(await statusOf(owner, undefined, { from: home })).toBe(200)
    await holdEverybody()
    for (let i = 0; i < 10; i++) expect(await statusOf(owner, 'wrong', { from: home })).toBe(429)
    expect(await statusOf(owner, undefined, { from: home })).toBe(429)
  })
})

describe('addresses of IPv6', () => {
  test('1,000 of one /64 are one', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 1000; i++)
      statuses.push(
        await statusOf(`v6-${i}@example.com`, 'wrong', { from: `2001:db8:1:2::${(i + 1).toString(16)}` }),
      )
    expect(statuses.filter((status) => status === 401)).toHaveLength(50)
    expect(statuses.slice(50).every((status) => status === 429)).toBe(true)
    await auth.addUser('v4@example.com')
    expect(await statusOf('v4@example.com', undefined, { from: elsewhere })).toBe(200)
  })

  test('many /64 of one /48 are held together before everybody is', async () => {
    const app = await createAuth(relational)
    const statusOf = async (username: string, password: string | undefined, from: string) =>
      (await app.signIn(username, password, { from })).statusCode
    const statuses: number[] = []
    for (let i = 0; i < 300; i++)
      statuses.push(await statusOf(`site-${i}@example.com`, 'wrong', `2001:db8:2:${i.toString(16)}::1`))
    expect(statuses.filter((status) => status === 401)).toHaveLength(200)
    await app.addUser('v6@example.com')
    expect(await statusOf('v6@example.com', undefined, '2001:db8:2:ffff::1')).toBe(429)
    expect(await statusOf('v6@example.com', undefined, '2001:db8:3::1')).toBe(200)
    await app.app.close()
  })
})
