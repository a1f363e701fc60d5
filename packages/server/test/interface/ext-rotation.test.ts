import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTokenStore } from '../../src/features/identity/sessions/tokens/token-store.ts'
import { hashSecret } from '../../src/platform/crypto/secrets.ts'
import { requireSingleSignOn } from '../support/accounts.ts'
import { type Auth, createAuth } from '../support/auth.ts'
import { codeOf, exchange } from '../support/authorization.ts'
import { day, minute, second } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { createRotation, type Pair, type Rotation } from '../support/rotation.ts'
import { everyRow, expectNowhere } from '../support/secret-search.ts'
import { openTestService } from '../support/service.ts'

/** Clients that rotate their refresh tokens (docs/faults.md, T14); what the row itself asks is in faults-sessions. */

const refused = { code: 400, status: 'fail', error: 'invalid_grant', error_code: 2003 }
const longAgo = 31 * second

let relational: TestDatabase
let auth: Auth
let ada: Rotation
let people = 0

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
})

beforeEach(async () => {
  ada = await createRotation(auth, relational, `ada${++people}@example.com`)
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

async function expectRefused(...pairs: Pair[]): Promise<void> {
  for (const { refresh_token } of pairs)
    expect((await ada.refresh(refresh_token)).json()).toMatchObject(refused)
}

async function expectEnded(...pairs: Pair[]): Promise<void> {
  await expectRefused(...pairs)
  for (const pair of pairs) expect(await ada.opens(pair)).toBe(false)
}

/** Rows that this person's sessions have left. */
async function leftovers(): Promise<number> {
  const { rows } = await relational.pool.query(
    `with session as (select id from refresh_tokens where user_id = $1)
     select (select count(*)::int from session)
       + (select count(*)::int from access_tokens where refresh_token_id in (select id from session))
       + (select count(*)::int from earlier_refresh_tokens where refresh_token_id in (select id from session)) as n`,
    [ada.userId],
  )
  return rows[0].n
}

describe('many at once', () => {
  test('T14: 300 refreshes with one token all succeed, and every answer is usable', async () => {
    const first = await ada.signIn()
    const atOnce = (tokens: readonly string[]) => Promise.all(tokens.map((token) => ada.next(token)))
    const answers = await atOnce(Array.from({ length: 300 }, () => first.refresh_token))
    auth.time.advance(55 * minute)
    const opened = await Promise.all(answers.map(({ access_token }) => auth.get(access_token)))
    expect(new Set(opened.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
    const next = await atOnce(answers.map(({ refresh_token }) => refresh_token))
    expect(new Set([...answers, ...next].map(({ refresh_token }) => refresh_token)).size).toBe(600)
    for (const pair of next.slice(0, 20)) expect(await ada.opens(pair)).toBe(true)
    expect(await ada.endings()).toEqual([])
    const { rows } = await relational.pool.query('select generation from refresh_tokens where user_id = $1', [
      ada.userId,
    ])
    expect(rows).toEqual([{ generation: 2 }])
  })

  test('T14: an old token is noticed while the new ones are in use, and then none of them works', async () => {
    for (let round = 0; round < 5; round++) {
      const first = await ada.signIn()
      const later = await ada.next(first.refresh_token)
      auth.time.advance(longAgo)
      const [uses, reuses] = await Promise.all([
        Promise.all(Array.from({ length: 30 }, () => ada.refresh(later.refresh_token))),
        Promise.all(Array.from({ length: 5 }, () => ada.refresh(first.refresh_token))),
      ])
      expect(new Set(reuses.map(({ statusCode }) => statusCode))).toEqual(new Set([400]))
      await expectEnded(...uses.filter(({ statusCode }) => statusCode === 200).map((reply) => reply.json()))
      expect(await ada.endings()).toHaveLength(round + 1)
      expect(await leftovers()).toBe(0)
    }
  })

  test('a refresh that is under way when the session ends leaves nothing', async () => {
    for (let round = 0; round < 10; round++) {
      const { refresh_token } = await ada.signIn()
      await Promise.all([
        ...Array.from({ length: 4 }, () => ada.refresh(refresh_token)),
        auth.accounts.setPassword(ada.email, 'a field of 7 poppies'),
      ])
      expect(await leftovers()).toBe(0)
    }
    expect(await ada.endings()).toEqual([])
  })
})

describe('a thief with an old token', () => {
  test('within the 30 s is noticed when the client goes on after the thief', async () => {
    const first = await ada.signIn()
    const client = await ada.next(first.refresh_token)
    const thief = await ada.next(first.refresh_token, { from: '198.51.100.7' })
    auth.time.advance(55 * minute)
    const further = await ada.next(thief.refresh_token, { from: '198.51.100.7' })
    auth.time.advance(longAgo)
    await expectRefused(client)
    await expectEnded(first, client, thief, further)
    expect(await ada.endings()).toHaveLength(1)
  })

  test('within the 30 s is noticed when the thief goes on after the client', async () => {
    const first = await ada.signIn()
    const client = await ada.next(first.refresh_token)
    const thief = await ada.next(first.refresh_token, { from: '198.51.100.7' })
    auth.time.advance(55 * minute)
    const further = await ada.next(client.refresh_token)
    auth.time.advance(longAgo)
    expect((await ada.refresh(thief.refresh_token, { from: '198.51.100.7' })).json()).toMatchObject(refused)
    await expectEnded(first, client, thief, further)
    expect(await ada.endings()).toMatchObject([{ address: '198.51.100.7' }])
  })

  test('who gets the present one is noticed when the client uses it', async () => {
    const stolen = await ada.signIn()
    const thief = await ada.next(stolen.refresh_token, { from: '198.51.100.7' })
    auth.time.advance(longAgo)
    await expectRefused(stolen)
    await expectEnded(thief)
  })

  test('and another client’s id gets nothing, moves nothing and ends nothing', async () => {
    const first = await ada.signIn()
    const later = await ada.next(first.refresh_token)
    const rotating = await createRotation(auth, relational, `eve${people}@example.com`)
    const state = async () => {
      const { rows } = await relational.pool.query('select * from refresh_tokens where user_id = $1', [
        ada.userId,
      ])
      return rows
    }
    const before = await state()
    for (const ms of [0, longAgo]) {
      auth.time.advance(ms)
      for (const client of [rotating.clientId, auth.clientId])
        for (const { refresh_token } of [first, later])
          expect((await auth.refresh(refresh_token, client)).json()).toMatchObject(refused)
    }
    expect(await state()).toEqual(before)
    expect(await ada.endings()).toEqual([])
    await ada.next(later.refresh_token)
  })

  test('does not pass with it for a user who has a session', async () => {
    const store = createTokenStore(relational.db)
    const first = await ada.signIn()
    const client = await ada.next(first.refresh_token)
    const beside = await ada.next(first.refresh_token)
    const isKnown = async ({ refresh_token }: Pair) =>
      (await store.findSessionOf(ada.email, hashSecret(refresh_token))) !== undefined
    expect([await isKnown(first), await isKnown(client), await isKnown(beside)]).toEqual([false, true, true])
  })
})

describe('a token that is not reused is refused without an entry', () => {
  test('when the session has ended by itself', async () => {
    const first = await ada.signIn()
    const later = await ada.next(first.refresh_token)
    auth.time.advance(30 * day)
    await expectRefused(first, later, first)
    expect(await ada.endings()).toEqual([])
  })

  test('when it could no longer be alive, and the session goes on', async () => {
    const first = await ada.signIn()
    let later = await ada.next(first.refresh_token)
    auth.time.advance(29 * day)
    later = await ada.next(later.refresh_token)
    auth.time.advance(day)
    await expectRefused(first)
    expect(await ada.endings()).toEqual([])
    later = await ada.next(later.refresh_token)
    auth.time.advance(minute + 1)
    await ada.next(later.refresh_token)
    const { rows } = await relational.pool.query(
      'select 1 from earlier_refresh_tokens where token_hash = $1',
      [hashSecret(first.refresh_token)],
    )
    expect(rows).toEqual([])
  })

  test('when the person signed out within the 30 s', async () => {
    const first = await ada.signIn()
    const later = await ada.next(first.refresh_token)
    await revoke(later.refresh_token)
    await expectEnded(first, later)
    expect(await ada.endings()).toEqual([])
  })

  test('when the person is disabled within the 30 s', async () => {
    const first = await ada.signIn()
    const later = await ada.next(first.refresh_token)
    await auth.accounts.disableUser(ada.email)
    await expectEnded(first, later)
    expect(await ada.endings()).toEqual([])
  })

  test('when the client is closed', async () => {
    const first = await ada.signIn()
    const later = await ada.next(first.refresh_token)
    await relational.pool.query('update oauth_clients set active = false where id = $1', [ada.clientId])
    const reply = await ada.refresh(later.refresh_token)
    expect(reply.json()).toMatchObject({ code: 401, error: 'invalid_client' })
    expect(await ada.opens(later)).toBe(false)
  })
})

test('a session lives for 30 days after its last access token, whichever of its tokens gave it', async () => {
  const first = await ada.signIn()
  auth.time.advance(30 * day - 1)
  await ada.next(first.refresh_token)
  auth.time.advance(20 * second)
  const lost = await ada.next(first.refresh_token)
  auth.time.advance(30 * day - 1)
  const late = await ada.next(lost.refresh_token)
  auth.time.advance(20 * second)
  await ada.next(lost.refresh_token)
  auth.time.advance(30 * day)
  await expectRefused(late)
  expect(await ada.endings()).toEqual([])
})

test('a clock that is set back ends no session', async () => {
  const first = await ada.signIn()
  const later = await ada.next(first.refresh_token)
  auth.time.advance(-60 * minute)
  await ada.next(first.refresh_token)
  const further = await ada.next(later.refresh_token)
  auth.time.advance(30 * day + 60 * minute - 1)
  await ada.next(further.refresh_token)
  expect(await ada.endings()).toEqual([])
})

const revoke = (token: string, clientId = ada.clientId) =>
  auth.app.inject({ method: 'POST', url: '/v2/oauth/revoke', payload: { client_id: clientId, token } })

test('revoking any token of a session, an old one too, ends the session and counts as signing out', async () => {
  for (const which of [0, 1, 2]) {
    const first = await ada.signIn()
    const later = await ada.next(first.refresh_token)
    const beside = await ada.next(first.refresh_token)
    auth.time.advance(longAgo)
    const token = [first, later, beside][which]?.refresh_token ?? ''
    const foreign = await revoke(token, auth.clientId)
    expect(foreign.json()).toMatchObject(refused)
    expect(await ada.opens(later)).toBe(true)
    expect((await revoke(token)).statusCode).toBe(200)
    await expectEnded(first, later, beside)
    expect((await auth.auditTrail()).at(-1)).toBe('sign-out success')
  }
  expect(await ada.endings()).toEqual([])
})

test('a second use of the code ends the session however often its tokens were replaced', async () => {
  const code = await codeOf(auth, ada.email, { client_id: ada.clientId })
  const first: Pair = (await exchange(auth, code, { client_id: ada.clientId })).json()
  const later = await ada.next((await ada.next(first.refresh_token)).refresh_token)
  expect((await exchange(auth, code, { client_id: ada.clientId })).json()).toMatchObject(refused)
  await expectEnded(first, later)
  expect(await ada.endings()).toMatchObject([{ details: { reason: 'code-used-twice' } }])
})

test('every process knows within a second that a session has ended for a reuse', async () => {
  const first = await ada.signIn()
  const { access_token } = await ada.next(first.refresh_token)
  auth.time.advance(longAgo)
  const elsewhere = await openTestService(relational)
  try {
    const find = () => elsewhere.context.access.find(access_token)
    expect(await find()).toBeDefined()
    await expectRefused(first)
    await expect.poll(find, { interval: 20 }).toBeUndefined()
  } finally {
    await elsewhere.app.close()
  }
})

/** The token that a reply puts into the cookie. */
const cookieOf = (reply: LightMyRequestResponse): string =>
  /^refresh_token=([\w-]{43});/.exec(String([reply.headers['set-cookie']].flat()[0]))?.[1] ?? ''

test('T19: the cookie follows to the next token', async () => {
  const { refresh_token } = await ada.signIn()
  const post = (cookie: string, more: Record<string, string> = {}) =>
    auth.post(
      { grant_type: 'refresh_token', client_id: ada.clientId, ...more },
      {
        headers: {
          'sec-fetch-site': 'same-origin',
          cookie: `refresh_token=${cookie}`,
        },
      },
    )
  const reply = await post(refresh_token)
  const next = cookieOf(reply)
  expect(next).not.toBe('')
  expect(next).not.toBe(refresh_token)
  const again = await post(next)
  expect(again.statusCode).toBe(200)
  // Another token in the body is another session, and the cookie keeps its own.
  const other = await ada.signIn()
  const beside = await post(cookieOf(again), { refresh_token: other.refresh_token })
  expect([beside.statusCode, beside.headers['set-cookie']]).toEqual([200, undefined])
})

test('T15: is refused once the domain must use single sign-on', async () => {
  const bound = await createRotation(auth, relational, 'bob@bound.example')
  const first = await bound.signIn()
  const later = await bound.next(first.refresh_token)
  await requireSingleSignOn(relational, 'bound.example')
  for (const { refresh_token } of [first, later])
    expect((await bound.refresh(refresh_token)).json()).toMatchObject(refused)
  expect(await bound.endings()).toEqual([])
})

test('T17: no token that was given stands in any row, replaced ones neither', async () => {
  const pairs = [await ada.signIn()]
  for (let i = 0; i < 3; i++) pairs.push(await ada.next(pairs.at(-1)?.refresh_token ?? ''))
  pairs.push(await ada.next(pairs.at(-2)?.refresh_token ?? ''))
  const secrets = pairs.flatMap((pair, i) => [
    [`access token ${i}`, pair.access_token],
    [`refresh token ${i}`, pair.refresh_token],
  ])
  const rows = await everyRow(relational)
  expect(rows).toContain(hashSecret(pairs[0]?.refresh_token ?? '').toString('hex'))
  expectNowhere(Object.fromEntries(secrets), { rows })
})

test('remembered tokens go with their session', async () => {
  const first = await ada.signIn()
  await ada.next(first.refresh_token)
  expect(await leftovers()).toBe(4)
  auth.time.advance(31 * day)
  const eve = await createRotation(auth, relational, `eve${people}@example.com`)
  const { refresh_token } = await eve.signIn()
  for (let i = 0; i < 10; i++) await eve.next(refresh_token)
  const { rows } = await relational.pool.query('select 1 from earlier_refresh_tokens where token_hash = $1', [
    hashSecret(first.refresh_token),
  ])
  expect(rows).toEqual([])
})
