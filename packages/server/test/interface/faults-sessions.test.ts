import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/platform/clock.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { embeddedAddresses } from '../../src/platform/stores/embedded-postgres.ts'
import { openRelational } from '../../src/platform/stores/relational.ts'
import { type AccountsApp, asOwner, createAccountsApp, secretIn } from '../support/accounts.ts'
import { type Auth, createAuth } from '../support/auth.ts'
import { second } from '../support/fake-time.ts'
import { startIdentityProvider } from '../support/identity-provider.ts'
import { times } from '../support/long.ts'
import { requireByRows } from '../support/mandatory-domain.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { createRotation, type Pair, type Rotation } from '../support/rotation.ts'
import { removeData, startService } from '../support/running-service.ts'
import { configureSingleSignOn, createSingleSignOnApp, tokenOf } from '../support/single-sign-on.ts'
import { until } from '../support/until.ts'

/** Rows of docs/faults.md about how long sessions last. More about rotation is in ext-rotation. */

const refused = { code: 400, error: 'invalid_grant', error_code: 2003 }

async function expectEnded(auth: Auth, pair: Pair): Promise<void> {
  auth.cache.forget()
  expect((await auth.refresh(pair.refresh_token)).json()).toMatchObject(refused)
  expect((await auth.get(pair.access_token)).statusCode).toBe(401)
}

async function expectAlive(auth: Auth, pair: Pair): Promise<void> {
  auth.cache.forget()
  expect((await auth.refresh(pair.refresh_token)).statusCode).toBe(200)
  expect((await auth.get(pair.access_token)).statusCode).toBe(200)
}

describe('T12: two processes whose clocks are 2 s before and behind the time of the database', () => {
  /** A process with a wrong clock over a database that knows the time. */
  const skewed = (ms: number): Clock => ({ now: () => Date.now() + ms })
  let relational: TestDatabase
  let early: Auth
  let late: Auth

  beforeAll(async () => {
    relational = await createTestDatabase()
    early = await createAuth(relational, { clock: skewed(2_000) })
    late = await createAuth(relational, { clock: skewed(-2_000) })
    await early.addUser('ada@example.com')
  })

  afterAll(async () => {
    await Promise.all([early.app.close(), late.app.close()])
    await relational.close()
  })

  const endAll = (table: 'access_tokens' | 'refresh_tokens', interval: string) =>
    relational.pool.query(`update ${table} set expires_at = now() + $1::interval`, [interval])
  const processes = () => [early, late]

  test('both take a refresh token that ends in a second, and neither one that has just ended', async () => {
    const { refresh_token } = (await early.signIn('ada@example.com')).json()
    for (const process of processes()) {
      await endAll('refresh_tokens', '1 second')
      expect((await process.refresh(refresh_token, early.clientId)).statusCode).toBe(200)
    }
    await endAll('refresh_tokens', '-1 millisecond')
    for (const process of processes())
      expect((await process.refresh(refresh_token, early.clientId)).json()).toMatchObject(refused)
  })

  test('both take an access token that ends in a second, and neither one that has just ended', async () => {
    const { access_token } = (await late.signIn('ada@example.com')).json()
    for (const process of processes()) {
      await endAll('access_tokens', '1 second')
      process.cache.forget()
      expect((await process.get(access_token)).statusCode).toBe(200)
    }
    await endAll('access_tokens', '-1 millisecond')
    for (const process of processes()) {
      process.cache.forget()
      expect((await process.get(access_token)).statusCode).toBe(401)
    }
  })

  test('both write ends that the clock of the database counts', async () => {
    for (const process of processes()) {
      await relational.pool.query('delete from refresh_tokens')
      await process.signIn('ada@example.com')
      const { rows } = await relational.pool.query(
        `select abs(extract(epoch from r.expires_at - now() - interval '30 days')) < 1.5 as session,
           abs(extract(epoch from a.expires_at - now() - interval '1 hour')) < 1.5 as token
         from refresh_tokens r join access_tokens a on a.refresh_token_id = r.id`,
      )
      expect(rows).toEqual([{ session: true, token: true }])
    }
  })
})

describe('T14: in a client that rotates its refresh tokens', () => {
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

  test('an old token after 31 s ends the session with all it gave, once, and the audit log tells', async () => {
    const other = await ada.signIn()
    const first = await ada.signIn()
    const later = await ada.next(first.refresh_token)
    const beside = await ada.next(first.refresh_token)
    auth.time.advance(31 * second)
    const reuse = await ada.refresh(first.refresh_token, { from: '198.51.100.7' })
    expect(reuse.json()).toMatchObject(refused)
    // Nothing that has ended looks like something that was replaced a moment ago.
    for (const { refresh_token } of [first, later, beside, first])
      expect((await ada.refresh(refresh_token)).json()).toMatchObject(refused)
    for (const pair of [first, later, beside]) expect(await ada.opens(pair)).toBe(false)
    expect(await ada.endings()).toEqual([
      {
        category: 'applications',
        actor_kind: 'platform',
        target_kind: 'user',
        target_id: ada.userId,
        target_name: ada.email,
        outcome: 'success',
        details: { reason: 'refresh-token-used-twice', clientId: ada.clientId },
        address: '198.51.100.7',
        company_id: auth.companyId,
      },
    ])
    expect(await ada.opens(other)).toBe(true)
    await ada.next(other.refresh_token)
  })

  test('an old token within 30 s gives tokens that work, and nothing is revoked', async () => {
    const first = await ada.signIn()
    const later = await ada.next(first.refresh_token)
    const given = [first, later]
    for (const ms of [0, 1_000, 28_999]) {
      auth.time.advance(ms)
      given.push(await ada.next(first.refresh_token))
    }
    expect(new Set(given.map(({ refresh_token }) => refresh_token)).size).toBe(5)
    for (const pair of given) expect(await ada.opens(pair)).toBe(true)
    for (const { refresh_token } of given.slice(1)) await ada.next(refresh_token)
    expect(await ada.endings()).toEqual([])
  })

  test('the 30 s end exactly, and no use of the old token prolongs them', async () => {
    const first = await ada.signIn()
    await ada.next(first.refresh_token)
    auth.time.advance(29_999)
    await ada.next(first.refresh_token)
    auth.time.advance(1)
    expect((await ada.refresh(first.refresh_token)).json()).toMatchObject(refused)
    expect(await ada.endings()).toHaveLength(1)
  })

  test('only the token before is good for a while: one before that ends the session at once', async () => {
    const first = await ada.signIn()
    const later = await ada.next(first.refresh_token)
    const third = await ada.next(later.refresh_token)
    expect((await ada.refresh(first.refresh_token)).json()).toMatchObject(refused)
    for (const { refresh_token } of [later, third])
      expect((await ada.refresh(refresh_token)).json()).toMatchObject(refused)
    expect(await ada.opens(third)).toBe(false)
    expect(await ada.endings()).toHaveLength(1)
  })
})

describe('T13, T15: a refresh', () => {
  let relational: TestDatabase
  let app: AccountsApp

  beforeAll(async () => {
    relational = await createTestDatabase()
    app = await createAccountsApp(relational)
  })

  afterAll(async () => {
    await app.app.close()
    await relational.close()
  })

  const signedIn = async (email: string): Promise<Pair> => (await app.signIn(email)).json()

  test('T13: whose answer was lost is made again: both access tokens live, the end is that of the later', async () => {
    const { email, id } = await app.person()
    await relational.pool.query('delete from refresh_tokens where user_id = $1', [id])
    const { refresh_token } = await signedIn(email)
    app.time.advance(1_000)
    const lost = (await app.refresh(refresh_token)).json()
    app.time.advance(1_000)
    const again = (await app.refresh(refresh_token)).json()
    expect(again.refresh_token).toBe(refresh_token)
    for (const { access_token } of [lost, again]) expect((await app.get(access_token)).statusCode).toBe(200)
    const end = async (): Promise<number> => {
      const { rows } = await relational.pool.query(
        'select expires_at from refresh_tokens where user_id = $1',
        [id],
      )
      expect(rows).toHaveLength(1)
      return rows[0].expires_at.getTime()
    }
    const later = await end()
    expect(later).toBe(app.time.clock.now() + 30 * 86_400_000)
    app.time.advance(-3_000)
    expect((await app.refresh(refresh_token)).statusCode).toBe(200)
    expect(await end()).toBe(later)
    app.time.advance(3_000)
  })

  test('T15: is refused after a reset of the password', async () => {
    const person = await app.person()
    const pair = await signedIn(person.email)
    await expectAlive(app.auth, pair)
    await app.call(person.token, 'POST', '/users/password-reset', { email: person.email })
    await expectAlive(app.auth, pair)
    const link = secretIn((await app.lastMail()).text)
    await app.services.passwordLinks.redeem(link, 'ten thousand geese', { address: '192.0.2.9' })
    await expectEnded(app.auth, pair)
  })

  test('T15: is refused after the person was deactivated, and stays so when they are back', async () => {
    const [admin, person] = [await app.person('admin'), await app.person()]
    const pair = await signedIn(person.email)
    expect(await app.call(admin.token, 'POST', `/users/${person.id}/deactivate`)).toMatchObject({ code: 200 })
    await expectEnded(app.auth, pair)
    expect(await app.call(admin.token, 'POST', `/users/${person.id}/reactivate`)).toMatchObject({ code: 200 })
    await expectEnded(app.auth, pair)
  })

  // There are no suspended companies: what an operator closes is a client.
  test('T15: is refused when its client is closed, and to any other client', async () => {
    const { email } = await app.person()
    const client = await app.clients.createClient({ name: 'closed', grants: [], redirectUris: [] })
    const body = { grant_type: 'password', client_id: client.id, username: email }
    const pair: Pair = (await app.post({ ...body, password: 'a field of 7 poppies' })).json()
    await relational.pool.query('update oauth_clients set active = false where id = $1', [client.id])
    app.cache.forget()
    expect((await app.refresh(pair.refresh_token, client.id)).json()).toMatchObject({
      code: 401,
      error: 'invalid_client',
    })
    await expectEnded(app.auth, pair)
  })

  test('T15: is refused once the domain must use single sign-on, even where nothing ended the session', async () => {
    const person = await app.person('viewer', app.companyId, 'bound.example')
    const pair = await signedIn(person.email)
    await requireByRows(relational, app.companyId, 'bound.example')
    expect((await app.refresh(pair.refresh_token)).json()).toMatchObject(refused)
  })
})

test('T15: making single sign-on mandatory ends what passwords gave to people of the domain, and nothing else', async () => {
  const relational = await createTestDatabase()
  const idp = await startIdentityProvider()
  const { auth, ...rest } = await createSingleSignOnApp(relational)
  try {
    await configureSingleSignOn({ auth, ...rest }, idp)
    const admin = await tokenOf(auth, 'root@elsewhere.example')
    await relational.pool.query('update sso_configs set proven_at = now()')
    await auth.addUser('ada@acme.example')
    const inside: Pair = (await auth.signIn('ada@acme.example')).json()
    const outside: Pair = (await auth.signIn('root@elsewhere.example')).json()
    const made = await auth.call(admin, 'PATCH', '/v2/entities/sso/config', { mandatory: true })
    expect(made.json()).toMatchObject({ code: 200, data: { mandatory: true } })
    await expectEnded(auth, inside)
    await expectAlive(auth, outside)
  } finally {
    await auth.app.close()
    await idp.close()
    await relational.close()
  }
})

describe('T16: a crash between the insertion of a token and the reply', () => {
  /** Tokens of which the other half is missing. */
  const halves = `select r.id from refresh_tokens r where not exists
    (select 1 from access_tokens a where a.refresh_token_id = r.id)`

  test('of the connection leaves no half of a session, and what there was goes on', async () => {
    const relational = await createTestDatabase()
    const auth = await createAuth(relational)
    await auth.addUser('ada@example.com')
    const pair: Pair = (await auth.signIn('ada@example.com')).json()
    const bob = await createRotation(auth, relational, 'bob@example.com')
    const rotating = await bob.next((await bob.signIn()).refresh_token)
    const everything = async () => {
      const { rows } = await relational.pool.query(
        `select id, expires_at, token_hash from refresh_tokens
         union all select id, expires_at, token_hash from access_tokens
         union all select refresh_token_id, expires_at, token_hash from earlier_refresh_tokens
         union all select id, last_sign_in_at, null from users order by 1, 3`,
      )
      return rows
    }
    const before = await everything()
    await asOwner(
      relational.owner,
      `create function stand_still() returns trigger language plpgsql as
         $$ begin perform pg_sleep(60); return null; end $$;
       create trigger stand_still after insert on access_tokens for each row execute function stand_still()`,
    )
    for (const ask of [
      () => auth.refresh(pair.refresh_token),
      () => bob.refresh(rotating.refresh_token),
      () => auth.signIn('ada@example.com'),
    ]) {
      const asked = ask()
      // The rows are written, and nothing is committed.
      await expect
        .poll(async () => {
          const { rows } = await relational.pool.query(
            `select pg_terminate_backend(pid) as ended from pg_stat_activity
             where datname = current_database() and wait_event = 'PgSleep'`,
          )
          return rows.length
        })
        .toBe(1)
      const reply = await asked
      expect(reply.statusCode).toBe(503)
      expect(reply.json()).toMatchObject({ status: 'fail', error: 'temporarily_unavailable' })
      expect(await everything()).toEqual(before)
    }
    await asOwner(relational.owner, 'drop function stand_still cascade')
    await expectAlive(auth, pair)
    await bob.next(rotating.refresh_token)
    expect((await auth.signIn('ada@example.com')).statusCode).toBe(200)
    await auth.app.close()
    await relational.close()
  })

  test('of the whole service leaves no half of a session, and every token that was given works', async () => {
    let service = await startService()
    const { clientId, dataDirectory, admin } = service
    const grant = async (fields: Record<string, string>): Promise<Pair | undefined> => {
      const reply = await fetch(`${service.baseUrl}/auth/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_id: clientId, ...fields }),
      })
      return reply.ok ? ((await reply.json()) as Pair) : undefined
    }
    const signIn = () => grant({ grant_type: 'password', username: admin.email, password: admin.password })
    const refresh = ({ refresh_token }: Pair) => grant({ grant_type: 'refresh_token', refresh_token })
    const first = await signIn()
    if (!first) throw new Error('there is no session')
    const given: Pair[] = [first]
    for (let round = 0; round < times(3, 1); round++) {
      const keepAsking = async (ask: () => Promise<Pair | undefined>): Promise<void> => {
        for (;;) {
          const pair = await ask().catch(() => 'gone' as const)
          if (pair === 'gone') return
          if (pair) given.push(pair)
        }
      }
      const asking = [
        ...Array.from({ length: 4 }, () => keepAsking(signIn)),
        ...Array.from({ length: 4 }, () => keepAsking(() => refresh(first))),
      ]
      const enough = given.length + 12 + round * 7
      await until(() => given.length > enough)
      await service.stop('SIGKILL')
      await Promise.all(asking)
      service = await startService({ dataDirectory })
      const { application } = embeddedAddresses(join(dataDirectory, 'run'))
      const relational = openRelational({ address: application, logger: silentLogger, connections: 1 })
      expect((await relational.pool.query(halves)).rows).toEqual([])
      await relational.close()
    }
    expect(given.length).toBeGreaterThan(10)
    for (const { access_token } of given) {
      const reply = await fetch(`${service.baseUrl}/datasources`, {
        headers: { authorization: `Bearer ${access_token}` },
      })
      expect(reply.status).toBe(200)
    }
    for (const pair of [first, ...given.slice(-20)]) expect(await refresh(pair)).toBeDefined()
    await service.stop()
    removeData(service)
  })
})
