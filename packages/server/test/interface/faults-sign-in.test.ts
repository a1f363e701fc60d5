import { type Logger, pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { defaultPolicy } from '../../src/features/identity/sign-in/passwords/sign-in-throttle.ts'
import { type DeriveArgon2id, deriveArgon2id } from '../../src/platform/crypto/argon2id.ts'
import { createPasswords } from '../../src/platform/crypto/passwords.ts'
import { type Auth, createAuth, goodPassword } from '../support/auth.ts'
import { requireByRows } from '../support/mandatory-domain.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { statementsOf } from '../support/statements.ts'

/** Rows of docs/faults.md about what a sign-in costs and what it tells. */

const cost = { memory: 64, passes: 1, lanes: 1 }

let relational: TestDatabase
let auth: Auth
/** What each hash since the last question was computed with, but for the password and the salt itself. */
let derived: unknown[] = []

const derive: DeriveArgon2id = (parameters) => {
  const { message: _message, nonce, ...rest } = parameters
  derived.push({ ...rest, saltBytes: nonce.length })
  return deriveArgon2id(parameters)
}

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational, { passwords: createPasswords({ cost, derive }) })
  await requireByRows(relational, auth.companyId, 'corp.example')
})

beforeEach(async () => {
  await relational.pool.query('delete from leaky_buckets')
  derived = []
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

describe('T01: who is refused', () => {
  const setStatus = (email: string, status: string) =>
    relational.pool.query('update users set status = $2 where email = $1', [email, status])

  /** Who tries, with what, and what the audit log says of it. */
  const kinds: readonly (readonly [string, string, () => Promise<unknown>, string])[] = [
    ['with a wrong password', 'wrong@example.com', async () => {}, 'wrong-password'],
    ['unknown', 'nobody@example.com', async () => {}, 'unknown-user'],
    ['of no address at all', '\u212aim', async () => {}, 'unknown-user'],
    [
      'disabled',
      'disabled@example.com',
      () => auth.accounts.disableUser('disabled@example.com'),
      'deactivated',
    ],
    ['deleted', 'deleted@example.com', () => setStatus('deleted@example.com', 'deleted'), 'unknown-user'],
    ['invited', 'invited@example.com', () => setStatus('invited@example.com', 'invited'), 'invited'],
    ['bound to single sign-on', 'bound@corp.example', async () => {}, 'sso-required'],
    [
      'without a password',
      'none@example.com',
      () => relational.pool.query(`update users set password_hash = null where email = 'none@example.com'`),
      'no-password',
    ],
  ]

  beforeAll(async () => {
    for (const [, email, prepare, reason] of kinds) {
      if (reason !== 'unknown-user' || email.startsWith('deleted')) await auth.addUser(email)
      await prepare()
    }
  })

  const attempt = (email: string) =>
    auth.signIn(email, email.startsWith('wrong') ? 'not the password' : goodPassword)
  /** A reply without the time that it was given at. */
  const lasting = ({ statusCode, headers, body }: Awaited<ReturnType<typeof attempt>>) => ({
    statusCode,
    headers: { ...headers, date: '' },
    body: body.replace(/"datetime":"[^"]+"/, ''),
  })

  test.each(kinds)('%s, gets the same bytes for the same work', async (_kind, email, _prepare, reason) => {
    const wrong = lasting(await attempt('wrong@example.com'))
    const [known] = derived
    derived = []
    const reply = await attempt(email)
    expect(reply.statusCode).toBe(401)
    expect(reply.json()).toMatchObject({ code: 401, error: 'invalid_grant', error_code: 2005 })
    expect(lasting(reply)).toEqual(wrong)
    expect(derived).toEqual([known])
    const { rows } = await relational.pool.query(
      `select action, outcome, details->>'reason' as reason from audit_entries order by at desc, id desc limit 1`,
    )
    const action = reason === 'sso-required' ? 'sso-required' : 'sign-in'
    expect(rows).toEqual([{ action, outcome: 'failure', reason }])
  })

  test('costs the store the same statements', async () => {
    const shapes: string[][] = []
    for (const [, email] of kinds) shapes.push(await statementsOf(() => attempt(email)))
    // An entry of the audit log has a target or none.
    const alike = shapes.map((shape) =>
      shape.map((text) => text.replace(/^(insert into "audit_entries").*/s, '$1')),
    )
    expect(alike[0]?.length).toBeGreaterThan(5)
    for (const shape of alike) expect(shape).toEqual(alike[0])
  })
})

test('T02: an unknown client, and one that may not use the grant, are refused before anything is hashed', async () => {
  await auth.addUser('ada@example.com')
  const narrow = await auth.clients.createClient({
    name: 'narrow',
    grants: ['refresh_token'],
    redirectUris: [],
  })
  derived = []
  for (const client_id of ['f'.repeat(24), narrow.id]) {
    const body = { grant_type: 'password', client_id, username: 'ada@example.com', password: goodPassword }
    expect([400, 401]).toContain((await auth.post(body)).statusCode)
  }
  expect(derived).toEqual([])
})

test('T06: a password over 4,096 bytes is refused before it is hashed', async () => {
  const reply = await auth.signIn('ada@example.com', 'é'.repeat(2049))
  expect(reply.json()).toMatchObject({ code: 400, error: 'invalid_request', error_code: 2000 })
  expect(derived).toEqual([])
})

test('T09: an exhausted budget of all sign-ins raises an alarm in the log, once a minute, that names nobody', async () => {
  const lines: string[] = []
  const logger: Logger = pino(
    { level: 'warn', base: null },
    { write: (line: string) => void lines.push(line) },
  )
  const policy = { ...defaultPolicy, everything: { free: 5, drainSeconds: 1, maxDelaySeconds: 60 } }
  const watched = await createAuth(relational, { logger, throttlePolicy: policy })
  const spray = async (i: number) =>
    (await watched.signIn(`user${i}@example.com`, 'one for all', { from: `198.51.100.${i}` })).statusCode
  for (let i = 0; i < 5; i++) expect(await spray(i)).toBe(401)
  for (let i = 5; i < 20; i++) expect(await spray(i)).toBe(429)
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      level: 40,
      time: expect.any(Number),
      budget: 'everything',
      msg: expect.stringContaining('failed sign-ins'),
    },
  ])
  await watched.app.close()
})

test('T10: of 500 sign-ins at once no more than four are hashed at a time, and 32 wait', async () => {
  let underWay = 0
  let most = 0
  let hashes = 0
  let isHeld = false
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const slow = createPasswords({
    cost,
    async derive(parameters) {
      most = Math.max(most, ++underWay)
      hashes++
      if (isHeld) await released
      return deriveArgon2id(parameters).finally(() => underWay--)
    },
  })
  const crowded = await createAuth(relational, { passwords: slow })
  const email = `crowd-${crypto.randomUUID()}@example.com`
  await crowded.addUser(email)
  hashes = 0
  isHeld = true
  // All others have been refused by then, however slow the database is.
  let refusals = 0
  const replies = await Promise.all(
    Array.from({ length: 500 }, async () => {
      const reply = await crowded.signIn(email)
      if (reply.statusCode === 503 && ++refusals === 500 - 36) release()
      return reply.statusCode
    }),
  )
  expect(most).toBe(4)
  expect(hashes).toBe(36)
  expect(replies.toSorted()).toEqual([...Array(36).fill(200), ...Array(464).fill(503)])
  await crowded.app.close()
})
