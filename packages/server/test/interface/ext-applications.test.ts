import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Auth, createAuth, goodPassword, testRedirectUri } from '../support/auth.ts'
import { authorizationFor, exchange, returned, walkToPassword } from '../support/authorization.ts'
import { hour, minute } from '../support/fake-time.ts'
import { createFormBrowser, injected } from '../support/form-browser.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { openTestService } from '../support/service.ts'

/** Which applications act for a user, and how the user ends that. */

const url = '/v2/entities/users/me/applications'

let relational: TestDatabase
let auth: Auth
/** An application of others, of which users are asked. */
let clientId: string
let people = 0
let email: string

beforeAll(async () => {
  relational = await createTestDatabase()
  auth = await createAuth(relational)
  clientId = (await auth.clients.createClient(theirs)).id
})

beforeEach(async () => {
  email = `ada${++people}@example.com`
  await auth.addUser(email)
})

afterAll(async () => {
  await auth.app.close()
  await relational.close()
})

const theirs = { name: 'Reports', grants: [], redirectUris: [testRedirectUri], firstParty: false }

interface Pair {
  readonly access_token: string
  readonly refresh_token: string
}

/** Signs in to the application through the pages, with consent where it is asked for. */
async function codeFor(who = email, client = clientId): Promise<string> {
  const { browser, page } = await walkToPassword(auth, who, goodPassword, { client_id: client })
  const back = page.status === 303 ? page : await browser.submit(page, { decision: 'allow' })
  return returned(back).searchParams.get('code') ?? ''
}

const signInTo = async (who = email, client = clientId): Promise<Pair> =>
  (await exchange(auth, await codeFor(who, client), { client_id: client })).json()

const tokenOf = async (who = email): Promise<string> => (await auth.signIn(who)).json().access_token

const list = async (token: string) => (await auth.call(token, 'GET', url)).json().data
const withdraw = (token: string, id = clientId) => auth.call(token, 'DELETE', `${url}/${id}`)

const opens = async ({ access_token }: Pair): Promise<boolean> => {
  auth.cache.forget()
  return (await auth.get(access_token)).statusCode === 200
}

const revocations = async () => {
  const { rows } = await relational.pool.query(
    `select actor_name, target_kind, target_id, target_name, outcome, error, details from audit_entries
      where action = 'application-revoke' and actor_name = $1 order by at, id`,
    [email],
  )
  return rows
}

describe('the list', () => {
  test('has every application with consent or sessions, by name', async () => {
    const token = await tokenOf()
    expect(await list(token)).toEqual([
      {
        id: auth.clientId,
        name: 'web',
        consentedAt: null,
        lastUsedAt: new Date(auth.time.clock.now()).toISOString(),
        sessions: 1,
      },
    ])
    const first = await signInTo()
    await signInTo()
    auth.time.advance(10 * minute)
    const lastUsedAt = new Date(auth.time.clock.now()).toISOString()
    await auth.refresh(first.refresh_token, clientId)
    auth.time.advance(10 * minute)
    const [reports, web, ...more] = await list(token)
    expect(reports).toEqual({
      id: clientId,
      name: 'Reports',
      consentedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      lastUsedAt,
      sessions: 2,
    })
    expect([web.id, more]).toEqual([auth.clientId, []])
  })

  test('keeps one whose sessions have ended while the consent stands', async () => {
    const { refresh_token: token } = await signInTo()
    await auth.app.inject({
      method: 'POST',
      url: '/v2/oauth/revoke',
      payload: { client_id: clientId, token },
    })
    const [reports] = await list(await tokenOf())
    expect(reports).toMatchObject({ id: clientId, lastUsedAt: null, sessions: 0 })
    expect(reports.consentedAt).not.toBeNull()
  })

  test('counts no session that can give nothing', async () => {
    const script = { name: 'A script', grants: ['password'], redirectUris: [] }
    const { id } = await auth.clients.createClient(script)
    await auth.post({ grant_type: 'password', client_id: id, username: email, password: goodPassword })
    expect(await list(await tokenOf())).toMatchObject([{ id, sessions: 1 }, { id: auth.clientId }])
    auth.time.advance(hour)
    expect(await list(await tokenOf())).toMatchObject([{ id: auth.clientId, sessions: 2 }])
  })

  test('shows nothing of others', async () => {
    await signInTo()
    await auth.addUser(`bob-${email}`)
    expect(await list(await tokenOf(`bob-${email}`))).toMatchObject([{ id: auth.clientId, sessions: 1 }])
  })
})

describe('withdrawing', () => {
  test('ends consent, sessions, refresh and access tokens and codes, and is in the audit log', async () => {
    const token = await tokenOf()
    const pairs = [await signInTo(), await signInTo()]
    const code = await codeFor()
    expect((await withdraw(token, clientId.toUpperCase())).json()).toMatchObject({
      status: 'success',
      data: {},
    })
    for (const pair of pairs) {
      expect(await opens(pair)).toBe(false)
      expect((await auth.refresh(pair.refresh_token, clientId)).json()).toMatchObject({
        error: 'invalid_grant',
      })
    }
    expect((await exchange(auth, code, { client_id: clientId })).json()).toMatchObject({
      error: 'invalid_grant',
    })
    expect(await list(token)).toMatchObject([{ id: auth.clientId, sessions: 1 }])
    expect(await revocations()).toEqual([
      {
        actor_name: email,
        target_kind: 'client',
        target_id: clientId,
        target_name: 'Reports',
        outcome: 'success',
        error: null,
        details: { consent: true, endedSessions: 2 },
      },
    ])
    const { page } = await walkToPassword(auth, email, goodPassword, { client_id: clientId })
    expect(page.text).toContain('Authorise Reports?')
  })

  test('touches no other user and no other application', async () => {
    const bob = `bob-${email}`
    await auth.addUser(bob)
    const [own, theirsToo] = [await signInTo(), await signInTo(bob)]
    const other = (await auth.clients.createClient({ ...theirs, name: 'Other' })).id
    const beside = await signInTo(email, other)
    const token = await tokenOf()
    expect((await withdraw(token)).statusCode).toBe(200)
    expect([await opens(own), await opens(theirsToo), await opens(beside)]).toEqual([false, true, true])
    expect(await list(await tokenOf(bob))).toMatchObject([
      { id: clientId, sessions: 1 },
      { id: auth.clientId },
    ])
  })

  test('ends the application of the call itself', async () => {
    const own = await signInTo()
    expect((await withdraw(own.access_token)).statusCode).toBe(200)
    expect(await opens(own)).toBe(false)
  })

  test('ends the sessions of one that need not ask', async () => {
    const [token, other] = [await tokenOf(), (await auth.signIn(email)).json()]
    expect((await withdraw(token, auth.clientId)).statusCode).toBe(200)
    expect(await opens(other)).toBe(false)
    expect(await revocations()).toMatchObject([{ details: { consent: false, endedSessions: 2 } }])
  })

  test('voids a consent page that is open', async () => {
    await signInTo()
    await withdraw(await tokenOf())
    const { browser, page } = await walkToPassword(auth, email, goodPassword, { client_id: clientId })
    await signInTo()
    await withdraw(await tokenOf())
    expect((await browser.submit(page, { decision: 'allow' })).status).toBe(400)
    expect(await list(await tokenOf())).not.toContainEqual(expect.objectContaining({ id: clientId }))
  })

  test('twice, of an unknown application and of one of another user is the same 404', async () => {
    const bob = `bob-${email}`
    await auth.addUser(bob)
    await signInTo(bob)
    const token = await tokenOf()
    await signInTo()
    await withdraw(token)
    for (const id of [clientId, 'f'.repeat(24)]) {
      const reply = await withdraw(token, id)
      expect(reply.json()).toMatchObject({ code: 404, error_code: 2018, data: { id } })
    }
    expect((await withdraw(token, 'x')).json()).toMatchObject({ code: 400, error_code: 1 })
    expect(await list(await tokenOf(bob))).toMatchObject([
      { id: clientId, sessions: 1 },
      { id: auth.clientId },
    ])
    expect((await revocations()).map(({ outcome, error }) => error ?? outcome)).toEqual([
      'success',
      'applicationNotFound',
      'applicationNotFound',
    ])
  })

  test('while sign-ins and refreshes are under way leaves nothing', async () => {
    const client = (await auth.clients.createClient({ ...theirs, name: 'Busy' })).id
    for (let round = 0; round < 8; round++) {
      const first = await signInTo(email, client)
      const token = await tokenOf()
      const codes = [await codeFor(email, client), await codeFor(email, client)]
      const walks = await Promise.all([walkAgain(client), walkAgain(client)])
      const [withdrawn] = await Promise.all([
        withdraw(token, client),
        ...codes.map((code) => exchange(auth, code, { client_id: client })),
        auth.refresh(first.refresh_token, client),
        ...walks.map((submit) => submit()),
      ])
      expect(withdrawn.statusCode).toBe(200)
      expect(await leftovers(client)).toEqual({ consents: 0, sessions: 0, codes: 0 })
    }
  })

  test('is known in every process within a second', async () => {
    const session = await signInTo()
    const token = await tokenOf()
    const elsewhere = await openTestService(relational)
    try {
      const find = () => elsewhere.context.access.find(session.access_token)
      expect(await find()).toBeDefined()
      await withdraw(token)
      // The clock stands still: nothing but the notice can have ended what was remembered.
      await expect.poll(find, { interval: 20 }).toBeUndefined()
    } finally {
      await elsewhere.app.close()
    }
  })
})

/** A sign-in up to the password of a user who has given consent before; its answer would be a code. */
async function walkAgain(client: string): Promise<() => Promise<unknown>> {
  const browser = createFormBrowser(injected(auth.app))
  const parameters = authorizationFor(auth, { client_id: client, login_hint: email })
  const page = await browser.open(`/v2/oauth/authorize?${new URLSearchParams(parameters)}`)
  return () => browser.submit(page, { password: goodPassword })
}

async function leftovers(client: string) {
  const { rows } = await relational.pool.query(
    `with owner as (select id from users where email = $1)
     select (select count(*)::int from client_consents where client_id = $2 and user_id in (select id from owner)) as consents,
       (select count(*)::int from refresh_tokens where client_id = $2 and user_id in (select id from owner)) as sessions,
       (select count(*)::int from authorization_codes where client_id = $2 and user_id in (select id from owner)) as codes`,
    [email, client],
  )
  return rows[0]
}
