import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type AccountsApp,
  createAccountsApp,
  offerSingleSignOn,
  origin,
  type Person,
  requireSingleSignOn,
  secretIn,
} from '../support/accounts.ts'
import { goodPassword } from '../support/auth.ts'
import { hour, minute } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let app: AccountsApp
let admin: Person

const newPassword = 'ten thousand geese'
const from = { address: '192.0.2.9' }

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
  admin = await app.person('admin')
})

beforeEach(async () => {
  await app.takeMails()
  await app.audit()
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

const reset = (token: string, email: string) => app.call(token, 'POST', '/users/password-reset', { email })

const resetSecret = async (person: Person): Promise<string> => {
  expect(await reset(admin.token, person.email)).toMatchObject({ status: 200, data: {} })
  return secretIn((await app.lastMail()).text)
}

describe('asking for a reset', () => {
  test('mails a link to the stored address and records it, without the link', async () => {
    const person = await app.person()
    expect(await reset(admin.token, person.email.toUpperCase())).toMatchObject({
      status: 200,
      message: 'ok',
      data: {},
    })
    const mails = await app.takeMails()
    expect(mails).toHaveLength(1)
    expect(mails[0]).toMatchObject({ to: person.email, subject: 'Choose a new password' })
    const secret = secretIn(mails[0]?.text)
    expect(mails[0]?.text).toContain(`${origin}/v2/oauth/set-password?token=${secret}`)
    const entries = await app.audit()
    expect(entries).toMatchObject([
      {
        action: 'password-reset-request',
        outcome: 'success',
        actor_id: admin.id,
        target_id: person.id,
        company_id: app.companyId,
      },
    ])
    expect(JSON.stringify(entries)).not.toContain(secret)
    const { rows } = await relational.pool.query('select * from user_links where user_id = $1', [person.id])
    expect(JSON.stringify(rows)).not.toContain(secret)
  })

  test('writes in the language of the person, or else of the company', async () => {
    const person = await app.person()
    await relational.pool.query(`update companies set language = 'fr' where id = $1`, [app.companyId])
    await reset(admin.token, person.email)
    expect((await app.lastMail()).subject).toBe('Choisir un nouveau mot de passe')
    await relational.pool.query(`update users set language = 'en' where id = $1`, [person.id])
    await reset(admin.token, person.email)
    expect((await app.lastMail()).subject).toBe('Choose a new password')
    await relational.pool.query(`update companies set language = 'en' where id = $1`, [app.companyId])
  })

  test('is anybody’s for their own address, and for others it takes User: update', async () => {
    const viewer = await app.person('viewer')
    const colleague = await app.person('viewer')
    expect(await reset(viewer.token, viewer.email)).toMatchObject({ status: 200 })
    await app.audit()
    for (const email of [colleague.email, 'nobody@example.com'])
      expect(await reset(viewer.token, email)).toMatchObject({
        status: 403,
        error_code: 4,
        data: { resource: 'user', action: 'update' },
      })
    expect(await app.audit()).toMatchObject([
      { outcome: 'failure', error: 'forbidden' },
      { outcome: 'failure', error: 'forbidden' },
    ])
    expect(await app.takeMails()).toHaveLength(1)
  })

  test('refuses whom a password lets in nowhere, and those of inactive users', async () => {
    const provisioned = await app.person('viewer', app.companyId, 'offered.example')
    await relational.pool.query('update users set provisioned = true, password_hash = null where id = $1', [
      provisioned.id,
    ])
    await offerSingleSignOn(relational, app.companyId, 'offered.example')
    expect(await reset(admin.token, provisioned.email)).toMatchObject({
      status: 409,
      error_code: 2021,
      data: { email: provisioned.email },
    })
    const disabled = await app.person()
    await relational.pool.query(`update users set status = 'disabled' where id = $1`, [disabled.id])
    expect(await reset(admin.token, disabled.email)).toMatchObject({
      status: 409,
      error_code: 2024,
      message: expect.stringContaining('reactivate'),
    })
    await relational.pool.query(`update users set status = 'invited' where id = $1`, [disabled.id])
    expect(await reset(admin.token, disabled.email)).toMatchObject({
      status: 409,
      error_code: 2024,
      message: expect.stringContaining('renew'),
    })
    expect(await app.takeMails()).toEqual([])
  })

  test('reaches people without a password once single sign-on is gone, the mail after it having ended', async () => {
    const person = await app.person('viewer', app.companyId, 'gone.example')
    await relational.pool.query('update users set provisioned = true, password_hash = null where id = $1', [
      person.id,
    ])
    await offerSingleSignOn(relational, app.companyId, 'gone.example')
    await app.services.passwordLinks.requestReset({ email: person.email, ...from })
    expect(await app.takeMails()).toEqual([])
    await relational.pool.query('delete from sso_domains where company_id = $1', [app.companyId])
    await relational.pool.query('delete from sso_configs where company_id = $1', [app.companyId])
    await relational.transaction((tx) => app.services.passwordLinks.mailResetTo(tx, person.id))
    const late = secretIn((await app.lastMail()).text)
    app.time.advance(31 * minute)
    expect(await app.services.passwordLinks.inspect(late)).toBeUndefined()
    admin = { ...admin, token: await app.signInAs(admin.email) }
    expect(await reset(admin.token, person.email)).toMatchObject({ status: 200 })
    await app.takeMails()
    await app.services.passwordLinks.requestReset({ email: person.email, ...from })
    await app.services.passwordLinks.redeem(secretIn((await app.lastMail()).text), newPassword, from)
    expect((await app.signIn(person.email, newPassword)).statusCode).toBe(200)
  })

  test('reaches a user without a password whom no identity provider keeps', async () => {
    const person = await app.person()
    await relational.pool.query('update users set password_hash = null where id = $1', [person.id])
    const secret = await resetSecret(person)
    await app.services.passwordLinks.redeem(secret, newPassword, from)
    expect((await app.signIn(person.email, newPassword)).statusCode).toBe(200)
  })

  test('refuses whom single sign-on binds, by the link too, and a program is not bound', async () => {
    const person = await app.person('viewer', app.companyId, 'sso.example')
    const program = await app.person('viewer', app.companyId, 'sso.example')
    const secret = await resetSecret(person)
    await relational.pool.query('update users set service_account = true where id = $1', [program.id])
    await requireSingleSignOn(relational, 'sso.example')
    expect(await reset(admin.token, person.email)).toMatchObject({ status: 409, error_code: 2021 })
    expect(await app.services.passwordLinks.inspect(secret)).toBeUndefined()
    expect(await app.takeMails()).toEqual([])
    expect(await reset(admin.token, program.email)).toMatchObject({ status: 200 })
  })
})

describe('the link', () => {
  test('shows what it is for, as often as it is looked at', async () => {
    const person = await app.person()
    const secret = await resetSecret(person)
    const expiresAt = new Date(app.time.clock.now() + 30 * minute)
    for (let i = 0; i < 3; i++)
      expect(await app.services.passwordLinks.inspect(secret)).toEqual({
        kind: 'password-reset',
        email: person.email,
        language: 'en',
        expiresAt,
      })
  })

  test('sets the password once, ends all sessions, voids other links, gives notice and signs nobody in', async () => {
    const person = await app.person()
    const { refresh_token } = (await app.signIn(person.email)).json()
    const secret = await resetSecret(person)
    await app.audit()
    expect(await app.services.passwordLinks.redeem(secret, newPassword, from)).toMatchObject({
      kind: 'password-reset',
      email: person.email,
    })
    expect((await app.signIn(person.email, goodPassword)).statusCode).toBe(401)
    app.auth.cache.forget()
    expect((await app.get(person.token)).statusCode).toBe(401)
    expect((await app.refresh(refresh_token)).statusCode).toBe(400)
    expect(await app.takeMails()).toMatchObject([
      { to: person.email, subject: 'Your password was changed', text: expect.not.stringContaining('token=') },
    ])
    expect(await app.audit()).toMatchObject([
      {
        action: 'password-reset',
        outcome: 'success',
        actor_id: person.id,
        target_id: person.id,
        details: { endedSessions: 2 },
      },
    ])
    await expect(app.services.passwordLinks.redeem(secret, 'another good one', from)).rejects.toMatchObject({
      errorName: 'invalidLink',
    })
    expect((await app.signIn(person.email, newPassword)).statusCode).toBe(200)
  })

  test('works for 30 minutes and no longer', async () => {
    const person = await app.person()
    const secret = await resetSecret(person)
    app.time.advance(30 * minute - 1)
    expect(await app.services.passwordLinks.inspect(secret)).toBeDefined()
    app.time.advance(1)
    expect(await app.services.passwordLinks.inspect(secret)).toBeUndefined()
    await expect(app.services.passwordLinks.redeem(secret, newPassword, from)).rejects.toMatchObject({
      errorName: 'invalidLink',
    })
  })

  test('is void once the person is deactivated', async () => {
    const person = await app.person()
    const secret = await resetSecret(person)
    await relational.pool.query(`update users set status = 'disabled' where id = $1`, [person.id])
    expect(await app.services.passwordLinks.inspect(secret)).toBeUndefined()
    await expect(app.services.passwordLinks.redeem(secret, newPassword, from)).rejects.toMatchObject({
      errorName: 'invalidLink',
    })
  })

  test('is used by one of several at once', async () => {
    const person = await app.person()
    const secret = await resetSecret(person)
    const tries = await Promise.allSettled(
      [1, 2, 3, 4].map((n) => app.services.passwordLinks.redeem(secret, `${newPassword} ${n}`, from)),
    )
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('a change after which a user needs a password', () => {
  const mail = (userId: string) =>
    relational.transaction((tx) => app.services.passwordLinks.mailResetTo(tx, userId))

  test('mails a link to an active person, with a password or without, and to nobody else', async () => {
    const person = await app.person()
    const disabled = await app.person()
    await relational.pool.query('update users set provisioned = true, password_hash = null where id = $1', [
      person.id,
    ])
    await relational.pool.query(`update users set status = 'disabled' where id = $1`, [disabled.id])
    for (const id of [person.id, disabled.id, 'f'.repeat(24)]) await mail(id)
    const mails = await app.takeMails()
    expect(mails.map(({ to }) => to)).toEqual([person.email])
    await app.services.passwordLinks.redeem(secretIn(mails[0]?.text), newPassword, from)
    expect((await app.signIn(person.email, newPassword)).statusCode).toBe(200)
  })

  test('mails nothing when the change is taken back', async () => {
    const person = await app.person()
    const change = relational.transaction(async (tx) => {
      await app.services.passwordLinks.mailResetTo(tx, person.id)
      throw new Error('taken back')
    })
    await expect(change).rejects.toThrow('taken back')
    expect(await app.takeMails()).toEqual([])
  })
})

test('links and budgets that ended long ago are swept, and invitations that wait are not', async () => {
  const person = await app.person()
  await resetSecret(person)
  const reply = await app.call(admin.token, 'POST', '/invitations', {
    email: 'waits@example.com',
    roleId: await app.roleIdOf('viewer'),
    resourceGroupIds: (await app.call(admin.token, 'GET', '/users/me')).data.resourceGroupIds,
  })
  const invited = (reply.data.user as unknown as { id: string }).id
  await app.services.passwordLinks.requestReset({ email: 'nobody@example.com', address: '203.0.113.5' })
  app.time.advance(30 * 24 * hour)
  admin = { ...admin, token: await app.signInAs(admin.email) }
  await app.services.passwordLinks.requestReset({ email: 'nobody@example.com', address: '203.0.113.6' })
  const links = await relational.pool.query('select user_id from user_links')
  expect(links.rows.map((row) => row.user_id)).toEqual([invited])
  const budgets = await relational.pool.query('select 1 from leaky_buckets')
  expect(budgets.rowCount).toBe(1)
})

describe('the public page', () => {
  const ask = (email: string, address = '198.51.100.1') =>
    app.services.passwordLinks.requestReset({ email, address })

  test('mails an active person, and tells nobody anything', async () => {
    const person = await app.person()
    expect(await ask(person.email)).toBeUndefined()
    const mails = await app.takeMails()
    expect(mails).toMatchObject([{ to: person.email }])
    await app.services.passwordLinks.redeem(secretIn(mails[0]?.text), newPassword, from)
    await app.takeMails()
    await app.audit()
    for (const email of ['nobody@example.com', 'no address', '', person.email.replace('@', '@@')])
      expect(await ask(email)).toBeUndefined()
    expect(await app.takeMails()).toEqual([])
    expect(await app.audit()).toMatchObject(
      Array.from({ length: 4 }, () => ({
        action: 'password-reset-request',
        outcome: 'failure',
        error: 'userNotFound',
        company_id: null,
        target_id: null,
      })),
    )
  })

  test('mails one person five times an hour at most, no matter who asks, and the last mail stays valid', async () => {
    const person = await app.person()
    for (let i = 0; i < 8; i++) await ask(person.email, `203.0.113.${i}`)
    const mails = await app.takeMails()
    expect(mails).toHaveLength(5)
    const living = await Promise.all(
      mails.map((mail) => app.services.passwordLinks.inspect(secretIn(mail.text))),
    )
    expect(living.map((link) => link !== undefined)).toEqual([false, false, false, false, true])
    expect(await reset(admin.token, person.email)).toMatchObject({ status: 200 })
    app.time.advance(hour)
    await ask(person.email)
    expect(await app.takeMails()).toHaveLength(2)
  })

  test('listens to one network address 20 times, then once in three minutes', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => app.person()))
    for (let i = 0; i < 20; i++) await ask(`nobody${i}@example.com`, '203.0.113.77')
    for (const { email } of people) await ask(email, '203.0.113.77')
    expect(await app.takeMails()).toEqual([])
    app.time.advance(3 * minute)
    for (const { email } of people) await ask(email, '203.0.113.77')
    expect(await app.takeMails()).toHaveLength(1)
    await ask(people[4]?.email ?? '', '203.0.113.78')
    expect(await app.takeMails()).toHaveLength(1)
  })
})
