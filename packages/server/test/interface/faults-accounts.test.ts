import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPasswordLinkStore } from '../../src/features/identity/people/passwords/password-link-store.ts'
import { createMailService } from '../../src/features/mail/mail-service.ts'
import { createMailStore } from '../../src/features/mail/mail-store.ts'
import { newSecret } from '../../src/platform/crypto/secrets.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import {
  type AccountsApp,
  createAccountsApp,
  origin,
  type Person,
  requireSingleSignOn,
  secretIn,
} from '../support/accounts.ts'
import { goodPassword } from '../support/auth.ts'
import { oneTimeCode, turnOnAuthenticator } from '../support/authenticator.ts'
import { hour, minute } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { statementsOf } from '../support/statements.ts'

/** Inputs and faults of docs/faults.md that are about passwords. */

let relational: TestDatabase
let app: AccountsApp
let admin: Person
let stranger: Person

const newPassword = 'ten thousand geese'
const from = { address: '192.0.2.9' }

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
  admin = await app.person('admin')
  stranger = await app.person('admin', app.other.companyId)
})

beforeEach(async () => {
  await app.takeMails()
  await app.audit()
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

const ask = (email: unknown, token = admin.token) =>
  app.call(token, 'POST', '/users/password-reset', { email })
const askPage = (email: string, address = '198.51.100.1') =>
  app.services.passwordLinks.requestReset({ email, address })
const inspect = (secret: string) => app.services.passwordLinks.inspect(secret)
const redeem = (secret: string, password = newPassword) =>
  app.services.passwordLinks.redeem(secret, password, from)
const invalid = { errorName: 'invalidLink' }

async function secretFor(person: Person): Promise<string> {
  expect(await ask(person.email)).toMatchObject({ status: 200 })
  return secretIn((await app.lastMail()).text)
}

test.each([{}, { authorization: 'Bearer' }, { authorization: `Bearer ${'A'.repeat(43)}` }])(
  'P01: without a token a reset is refused (%j)',
  async (headers) => {
    const person = await app.person()
    const reply = await app.app.inject({
      method: 'POST',
      url: '/v2/entities/users/password-reset',
      headers: headers as Record<string, string>,
      payload: { email: person.email },
    })
    expect(reply.statusCode).toBe(401)
    expect(await app.takeMails()).toEqual([])
  },
)

describe('P02', () => {
  test('an unknown address and one of another company are the same failure, by the same statements', async () => {
    const replies: unknown[] = []
    const statements: string[][] = []
    for (const email of ['nobody@example.com', stranger.email]) {
      statements.push(
        await statementsOf(async () => {
          const { status, code, message, error_code, data } = await ask(email)
          expect(data).toEqual({ email })
          replies.push({ status, code, message, error_code })
        }),
      )
    }
    expect(replies[0]).toMatchObject({ status: 404, error_code: 2020 })
    expect(replies[1]).toEqual(replies[0])
    expect(statements[1]).toEqual(statements[0])
    expect(await app.takeMails()).toEqual([])
  })

  test('the public page does the same for those who exist, those who do not, and those who asked too often', async () => {
    const person = await app.person()
    const disabled = await app.person()
    await relational.pool.query(`update users set status = 'disabled' where id = $1`, [disabled.id])
    const shapes: string[][] = []
    for (const email of [person.email, 'nobody@example.com', disabled.email, 'no address'])
      shapes.push(await statementsOf(() => askPage(email, `198.51.100.${shapes.length + 100}`)))
    for (let i = 0; i < 5; i++) await askPage(person.email, `198.51.100.${i + 150}`)
    shapes.push(await statementsOf(() => askPage(person.email, '198.51.100.199')))
    // A mail is kept or taken back by one statement each, and an entry of the audit log has a target or none.
    const alike = shapes.map((shape) =>
      shape.map((text) =>
        text
          .replace(/^(release|rollback to) savepoint/, 'end savepoint')
          .replace(/^(insert into "audit_entries").*/, '$1'),
      ),
    )
    expect(alike[0]?.length).toBeGreaterThan(8)
    for (const shape of alike) expect(shape).toEqual(alike[0])
    expect(await app.takeMails()).toHaveLength(5)
  })

  test('requests for one address wait for each other, whether a user has it or not', async () => {
    const person = await app.person()
    const countWaiting = async () => {
      const { rows } = await relational.pool.query(
        `select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
      )
      return rows[0].n
    }
    for (const email of [person.email, 'nobody-at-once@example.com', 'no address']) {
      const asked: Promise<void>[] = []
      await relational.transaction(async (tx) => {
        await createPasswordLinkStore(tx).lockAddress(email)
        for (const i of [1, 2]) asked.push(askPage(email, `198.51.100.${i + 200}`))
        await expect.poll(countWaiting).toBe(2)
      })
      await Promise.all(asked)
    }
    expect(await app.takeMails()).toHaveLength(2)
  })
})

test.each([
  'ada',
  'ada@',
  '@example.com',
  'ada@example.com,eve@evil.example',
  'ada@example.com eve@evil.example',
  'ada@example.com\r\nBcc: eve@evil.example',
  '"x@evil.example y"@example.com',
  'ada(comment(nested(again)))@example.com',
  `${'('.repeat(5000)}@example.com`,
  'Ada <ada@example.com>',
  'ada@exampſe.com',
  'ada@\u212Aexample.com',
  ['ada@example.com'],
  { address: 'ada@example.com' },
  null,
  5,
])('P03: %j is no address, and nothing is mailed', async (email) => {
  expect(await ask(email)).toMatchObject({ status: 400, error_code: 1 })
  if (typeof email === 'string') await askPage(email)
  expect(await app.takeMails()).toEqual([])
})

test('P03: a mail goes to the address that is stored, not to the one that was typed', async () => {
  const person = await app.person()
  await ask(person.email.toUpperCase())
  await askPage(person.email.toUpperCase())
  expect((await app.takeMails()).map(({ to }) => to)).toEqual([person.email, person.email])
})

test('P04: nothing is mailed for whom single sign-on binds, for the deactivated, or by who may not ask', async () => {
  const bound = await app.person('viewer', app.companyId, 'bound.example')
  const disabled = await app.person()
  const viewer = await app.person('viewer')
  await requireSingleSignOn(relational, 'bound.example')
  await app.call(admin.token, 'POST', `/users/${disabled.id}/deactivate`)
  await app.audit()
  expect(await ask(bound.email)).toMatchObject({ status: 409, error_code: 2021 })
  expect(await ask(disabled.email)).toMatchObject({ status: 409, error_code: 2024 })
  expect(await ask(disabled.email, viewer.token)).toMatchObject({ status: 403, error_code: 4 })
  for (const { email } of [bound, disabled]) await askPage(email)
  expect(await app.takeMails()).toEqual([])
  expect(await app.audit()).toMatchObject(
    ['passwordNotUsed', 'userNotActive', 'forbidden', 'passwordNotUsed', 'userNotActive'].map((error) => ({
      action: 'password-reset-request',
      outcome: 'failure',
      error,
    })),
  )
})

describe('P05', () => {
  test('the sixth request in an hour is refused, the account stays open and the last mail valid', async () => {
    const person = await app.person()
    for (let i = 0; i < 5; i++) expect(await ask(person.email)).toMatchObject({ status: 200 })
    const secret = secretIn((await app.lastMail()).text)
    for (const token of [admin.token, person.token])
      expect(await ask(person.email, token)).toMatchObject({
        status: 429,
        error_code: 2022,
        data: { retryAfter: 3600 },
      })
    expect((await app.signIn(person.email)).statusCode).toBe(200)
    expect(await inspect(secret)).toBeDefined()
    expect(await app.takeMails()).toEqual([])
  })

  test('six at once are five', async () => {
    const person = await app.person()
    const replies = await Promise.all(Array.from({ length: 6 }, () => ask(person.email)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429])
  })

  test('a caller who asks for one account after the other is stopped after 50, and others are not', async () => {
    const caller = await app.person('admin')
    const people: { email: string }[] = []
    for (let i = 0; i < 51; i++) people.push(await app.addUser(`colleague${i}@example.com`))
    const statuses: number[] = []
    for (const { email } of people) statuses.push((await ask(email, caller.token)).status)
    expect(statuses).toEqual([...Array.from({ length: 50 }, () => 200), 429])
    expect(await ask(people[50]?.email)).toMatchObject({ status: 200 })
    expect(await ask(caller.email, caller.token)).toMatchObject({ status: 200 })
    app.time.advance(hour)
    const again = await app.signInAs(caller.email)
    expect(await ask(people[50]?.email, again)).toMatchObject({ status: 200 })
    admin = { ...admin, token: await app.signInAs(admin.email) }
    stranger = { ...stranger, token: await app.signInAs(stranger.email) }
  })
})

describe('P06: a link', () => {
  test('holds 256 bits and is stored as a hash only', async () => {
    const person = await app.person()
    const secret = await secretFor(person)
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
    const { rows } = await relational.pool.query('select secret_hash from user_links where user_id = $1', [
      person.id,
    ])
    expect(rows[0].secret_hash).toHaveLength(32)
    expect(rows[0].secret_hash.equals(Buffer.from(secret, 'base64url'))).toBe(false)
  })

  test('works once, for 30 minutes, and the newest one only', async () => {
    const person = await app.person()
    const older = await secretFor(person)
    const newer = await secretFor(person)
    await expect(redeem(older)).rejects.toMatchObject(invalid)
    await redeem(newer)
    await expect(redeem(newer, 'another good one')).rejects.toMatchObject(invalid)
    const late = await secretFor(person)
    app.time.advance(31 * minute)
    await expect(redeem(late, 'another good one')).rejects.toMatchObject(invalid)
  })

  test('is no other person’s, and not to be guessed or bent', async () => {
    const [person, other] = [await app.person(), await app.person()]
    const secret = await secretFor(person)
    await secretFor(other)
    const tampered = `${secret.slice(0, -2)}${secret.endsWith('AA') ? 'BB' : 'AA'}`
    for (const guess of [
      tampered,
      `${secret} `,
      `${secret}\n`,
      secret.slice(1),
      '',
      "' or true --",
      person.id,
      '\0'.repeat(43),
    ]) {
      expect(await inspect(guess)).toBeUndefined()
      await expect(redeem(guess)).rejects.toMatchObject(invalid)
    }
    const guesses = await Promise.all(Array.from({ length: 1000 }, () => inspect(newSecret())))
    expect(guesses.filter(Boolean)).toEqual([])
    await redeem(secret)
    expect((await app.signIn(other.email, goodPassword)).statusCode).toBe(200)
  })
})

test('P07: the link is built from the configured address, whatever the request says', async () => {
  const person = await app.person()
  const reply = await app.app.inject({
    method: 'POST',
    url: '/v2/entities/users/password-reset',
    headers: {
      authorization: `Bearer ${admin.token}`,
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      origin: 'https://evil.example',
      referer: 'https://evil.example/',
    },
    payload: { email: person.email },
  })
  expect(reply.statusCode).toBe(200)
  const mail = await app.lastMail()
  expect(mail.text).toContain(`${origin}/v2/oauth/set-password?token=`)
  expect(`${mail.text}${mail.html}`).not.toContain('evil')
})

test('P08: a mail server that is down holds nobody up, and gets each mail once when it is back', async () => {
  const person = await app.person()
  expect(await ask(person.email)).toMatchObject({ status: 200 })
  const taken: (string | undefined)[] = []
  let down = true
  const mails = createMailService({
    store: createMailStore(relational.db, app.parts.box),
    outbox: {
      async send({ id }) {
        if (down) throw new Error('connection refused')
        taken.push(id)
      },
      close() {},
    },
    log: silentLogger,
  })
  await mails.work()
  expect(taken).toEqual([])
  down = false
  await relational.pool.query('update outgoing_mails set due_at = now() where sent_at is null')
  await mails.work()
  await mails.work()
  expect(taken).toHaveLength(1)
})

test('P09: a new password ends everything, signs nobody in, and the owner is notified', async () => {
  const person = await app.person()
  const session = (await app.signIn(person.email)).json()
  const secret = await secretFor(person)
  await app.audit()
  const done = await redeem(secret)
  expect(JSON.stringify(done)).not.toMatch(/access_token|refresh_token/)
  const sessions = await relational.pool.query('select 1 from refresh_tokens where user_id = $1', [person.id])
  expect(sessions.rowCount).toBe(0)
  expect(await app.call(session.access_token, 'GET', '/users/me')).toMatchObject({ status: 401 })
  expect((await app.refresh(session.refresh_token)).statusCode).toBe(400)
  expect(await app.takeMails()).toMatchObject([{ to: person.email, subject: 'Your password was changed' }])
  expect(await app.audit()).toMatchObject([
    { action: 'password-reset', outcome: 'success', target_id: person.id },
  ])
})

test('P09: who has an authenticator still needs it after a reset, and links do not turn it off', async () => {
  const person = await app.person()
  const { secret, recoveryCodes } = await turnOnAuthenticator(app.auth, person.token)
  await redeem(await secretFor(person))
  const signIn = (more: Record<string, string> = {}) => {
    const fields = { username: person.email, password: newPassword, ...more }
    return app.post({ grant_type: 'password', client_id: app.clientId, ...fields })
  }
  const asked = await signIn()
  expect(asked.json()).toMatchObject({ code: 401, error: 'otp_required' })
  expect(asked.body).not.toContain('token"')
  expect((await signIn({ 'x-otp-code': '000000' })).statusCode).toBe(401)
  expect((await signIn({ 'x-otp-code': oneTimeCode(app, secret) })).statusCode).toBe(200)
  expect((await signIn({ 'x-otp-code': recoveryCodes[0] ?? '' })).statusCode).toBe(200)
})

describe('P10', () => {
  test.each([
    ['short', 'geese'],
    ['common', 'password1234'],
    ['the present one', goodPassword],
    ['the present one in another Unicode form', goodPassword.normalize('NFD')],
    ['half a character', `twelve chars \ud800`],
    ['longer than any', 'x'.repeat(5000)],
  ])('a password that is %s is refused, and the link stays good', async (_, password) => {
    const person = await app.person()
    const secret = await secretFor(person)
    await expect(redeem(secret, password)).rejects.toMatchObject({
      errorName: 'validation',
      data: { errors: [{ path: 'password' }] },
    })
    await redeem(secret)
  })

  test('looking at a link does not use it', async () => {
    const person = await app.person()
    const secret = await secretFor(person)
    for (let i = 0; i < 20; i++) expect(await inspect(secret)).toMatchObject({ email: person.email })
    await redeem(secret)
  })
})

test('no secret, password or link is in the audit log', async () => {
  const { rows } = await relational.pool.query('select * from audit_entries')
  expect(rows.length).toBeGreaterThan(100)
  expect(JSON.stringify(rows)).not.toMatch(/token=|geese|poppies|argon2|[A-Za-z0-9_-]{43}/)
})
