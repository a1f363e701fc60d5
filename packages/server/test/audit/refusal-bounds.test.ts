import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccountsApp, createAccountsApp, type Person, secretIn } from '../support/accounts.ts'
import { goodPassword } from '../support/auth.ts'
import { hour, minute } from '../support/fake-time.ts'
import { createFormBrowser, injected } from '../support/form-browser.ts'
import { createLinkedAccountsApp, type LinkedAccountsApp } from '../support/linked-accounts.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { openProvisioning, type ProvisioningApp } from '../support/provisioning.ts'

/** What of refusals is recorded when there are many of them, or when nobody of any company is known to ask. */

interface Entry {
  readonly company_id: string | null
  readonly actor_kind: string
  readonly target_id: string | null
  readonly details: Record<string, unknown>
  readonly address: string
}

const entriesOf = async ({ pool }: TestDatabase, error: string): Promise<Entry[]> =>
  (
    await pool.query<Entry>(
      `select company_id, actor_kind, target_id, details, address from audit_entries where error = $1
       order by at, id`,
      [error],
    )
  ).rows

describe('a user who is signed in', () => {
  let database: TestDatabase
  let app: AccountsApp
  let viewer: Person

  beforeAll(async () => {
    database = await createTestDatabase()
    app = await createAccountsApp(database)
    viewer = await app.person()
  })

  afterAll(async () => {
    await app.app.close()
    await database.close()
  })

  const count = async () => (await entriesOf(database, 'forbidden')).length

  test('fills the log with 60 entries about the same within a minute, and no more', async () => {
    const path = `/users/${viewer.id}`
    for (let i = 0; i < 65; i++) expect((await app.call(viewer.token, 'DELETE', path)).status).toBe(403)
    expect(await count()).toBe(60)
    await app.call(viewer.token, 'PATCH', path, { firstName: 'Ada' })
    await app.call((await app.person()).token, 'DELETE', path)
    expect(await count()).toBe(62)
    app.time.advance(minute)
    await app.call(viewer.token, 'DELETE', path)
    expect(await count()).toBe(63)
  })

  test('reading what one may not leaves no entry', async () => {
    const before = await count()
    expect((await app.call(viewer.token, 'GET', '/users')).status).toBe(403)
    expect(await count()).toBe(before)
  })

  test('a list in the details is cut', async () => {
    const { token } = await app.person('admin')
    const memberIds = Array.from({ length: 50 }, (_, i) => i.toString(16).padStart(24, '0'))
    expect((await app.call(token, 'POST', '/teams', { name: 'Big', memberIds })).status).toBe(400)
    const [entry] = await entriesOf(database, 'unknownUser')
    expect(entry?.details).toEqual({ userIds: memberIds.slice(0, 20) })
  })
})

describe('links with which people set a password', () => {
  let database: TestDatabase
  let app: AccountsApp

  beforeAll(async () => {
    database = await createTestDatabase()
    app = await createAccountsApp(database)
  })

  afterAll(async () => {
    await app.app.close()
    await database.close()
  })

  const linkOf = (secret: string) => `/v2/oauth/set-password?token=${secret}`
  const ended = () => entriesOf(database, 'invalidLink')

  async function mailedSecret({ email }: Person): Promise<string> {
    await app.takeMails()
    await app.services.passwordLinks.requestReset({ email, address: '192.0.2.1' })
    return secretIn((await app.lastMail()).text)
  }

  test('one that worked once is recorded when it is tried again, five times and then now and then', async () => {
    const person = await app.person()
    const secret = await mailedSecret(person)
    const browser = createFormBrowser(injected(app.app, '192.0.2.8'))
    const page = await browser.open(linkOf(secret))
    await app.services.passwordLinks.redeem(secret, 'ten thousand geese', { address: '192.0.2.1' })
    expect((await browser.open(linkOf(secret))).status).toBe(400)
    expect(await ended()).toEqual([])
    const passwords = { password: 'a thief of 3 geese', repeated: 'a thief of 3 geese' }
    for (let i = 0; i < 7; i++) expect((await browser.submit(page, passwords)).status).toBe(400)
    const entries = await ended()
    expect(entries).toHaveLength(5)
    expect(entries[0]).toEqual({
      company_id: app.companyId,
      actor_kind: 'anonymous',
      target_id: person.id,
      details: { reason: 'ended' },
      address: '192.0.2.8',
    })
    expect(JSON.stringify(entries)).not.toContain(secret)
    app.time.advance(10 * minute)
    await browser.submit(page, passwords)
    expect(await ended()).toHaveLength(6)
  })

  test('says which: too old, or of an invitation that its maker could not make now', async () => {
    const old = await mailedSecret(await app.person())
    app.time.advance(hour)
    const maker = await app.person('admin')
    const { data } = await app.call(maker.token, 'POST', '/invitations', {
      email: 'guest@example.com',
      roleId: await app.roleIdOf('admin'),
      resourceGroupIds: [
        (await app.call(maker.token, 'GET', `/users/${maker.id}`)).data.resourceGroupIds,
      ].flat(),
    })
    const { token } = await app.person('admin')
    await app.call(token, 'PATCH', `/users/${maker.id}`, { roleId: await app.roleIdOf('viewer') })
    const before = (await ended()).length
    for (const secret of [old, secretIn(String(data.url))])
      await expect(
        app.services.passwordLinks.redeem(secret, goodPassword, { address: '192.0.2.1' }),
      ).rejects.toMatchObject({ errorName: 'invalidLink' })
    expect((await ended()).slice(before).map(({ details }) => details)).toEqual([
      { reason: 'expired' },
      { reason: 'not-given' },
    ])
  })

  test('one that nobody ever had is nobody’s', async () => {
    const before = (await ended()).length
    for (const secret of ['A'.repeat(43), 'x'])
      await expect(
        app.services.passwordLinks.redeem(secret, goodPassword, { address: '192.0.2.1' }),
      ).rejects.toMatchObject({ errorName: 'invalidLink' })
    expect(await ended()).toHaveLength(before)
  })
})

describe('unknown tokens at the SCIM service', () => {
  let app: ProvisioningApp

  beforeAll(async () => {
    app = await openProvisioning()
  })

  afterAll(() => app.close())

  const secret = `scim_${'A'.repeat(43)}`
  const use = (remoteAddress: string, authorization = `Bearer ${secret}`) =>
    app.auth.app.inject({ url: '/v2/scim/v2/Users', remoteAddress, headers: { authorization } })
  const entries = () => entriesOf(app.database, 'unauthenticated')

  test('belong to no company: three tries of a network are recorded in a minute, without the token', async () => {
    for (let i = 0; i < 5; i++) expect((await use('192.0.2.1')).statusCode).toBe(401)
    const found = await entries()
    expect(found).toHaveLength(3)
    expect(found[0]).toEqual({
      company_id: null,
      actor_kind: 'anonymous',
      target_id: null,
      details: { method: 'GET', path: '/v2/scim/v2/Users', reason: 'unknown-token' },
      address: '192.0.2.1',
    })
    expect(JSON.stringify(found)).not.toContain('AAAA')
    app.auth.time.advance(minute)
    await use('192.0.2.1')
    expect(await entries()).toHaveLength(4)
  })

  test('an access token of the interface is an unknown one, and no token is no try', async () => {
    app.auth.time.advance(minute)
    const before = (await entries()).length
    await use('192.0.2.2', `Bearer ${app.admin.accessToken}`)
    expect(await entries()).toHaveLength(before + 1)
    await use('192.0.2.3', '')
    await use('192.0.2.3', 'Basic eDp5')
    expect(await entries()).toHaveLength(before + 1)
  })

  test('many networks fill the log with 60 entries a minute, and no more', async () => {
    app.auth.time.advance(minute)
    const before = (await entries()).length
    for (let i = 0; i < 70; i++) await use(`198.51.100.${i}`)
    expect(await entries()).toHaveLength(before + 60)
  })

  test('one that is known is of its company even while provisioning is off, however often', async () => {
    await app.call('PATCH', '/v2/entities/scim/config', { enabled: false })
    const before = (await entries()).length
    for (let i = 0; i < 5; i++) await use('192.0.2.4', `Bearer ${app.scimToken}`)
    const found = (await entries()).slice(before)
    expect(found.map(({ company_id }) => company_id)).toEqual(Array(5).fill(app.companyId))
    await app.call('PATCH', '/v2/entities/scim/config', { enabled: true })
  })
})

describe('what a caller typed', () => {
  let app: LinkedAccountsApp

  beforeAll(async () => {
    app = await createLinkedAccountsApp()
  })

  afterAll(() => app.close())

  test('L01: is recorded without characters that no text may hold', async () => {
    const url = `/v2/linked-accounts/${encodeURIComponent('a\0b\r\n')}`
    expect((await app.auth.call(app.tokens.ada, 'DELETE', url)).statusCode).toBe(404)
    const [entry] = await entriesOf(app.database, 'linkedAccountNotFound')
    expect(entry).toMatchObject({ target_id: null, details: { id: 'a\ufffdb\ufffd\ufffd' } })
  })
})
