import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type AccountsApp, createAccountsApp, type Person, requireSingleSignOn } from '../support/accounts.ts'
import { goodPassword } from '../support/auth.ts'
import { minute } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let app: AccountsApp
let me: Person

const newPassword = 'ten thousand geese'

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
})

beforeEach(async () => {
  me = await app.person()
  await app.takeMails()
  await app.audit()
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

const change = (person: Person, currentPassword: string, next = newPassword) =>
  app.call(person.token, 'POST', '/users/me/password', { currentPassword, newPassword: next })

test('everybody reads their own account, with what their role allows', async () => {
  const nobody = await app.person((await app.role([])).name)
  expect(await app.call(nobody.token, 'GET', '/users/me')).toMatchObject({
    status: 200,
    data: { id: nobody.id, email: nobody.email, theme: 'system', hasPassword: true, permissions: [] },
  })
  const { data } = await app.call(me.token, 'GET', '/users/me')
  expect(data.permissions).toContain('statistics:access')
  expect(JSON.stringify(data)).not.toMatch(/argon2|hash/i)
})

test('everybody changes what describes them, and nothing that gives rights', async () => {
  const admin = await app.roleIdOf('admin')
  const before = (await app.call(me.token, 'GET', '/users/me')).data
  const wanted = {
    ...before,
    firstName: 'Ada',
    theme: 'dark',
    language: 'fr',
    roleId: admin,
    resourceGroupIds: [app.other.teamId],
    permissions: ['user:delete'],
    status: 'disabled',
  }
  expect(await app.call(me.token, 'PATCH', '/users/me', wanted)).toMatchObject({
    status: 200,
    data: { ...before, firstName: 'Ada', theme: 'dark', language: 'fr', updatedAt: expect.any(String) },
  })
  expect(await app.audit()).toMatchObject([
    {
      action: 'user-update',
      actor_id: me.id,
      target_id: me.id,
      details: { changed: ['firstName', 'language', 'theme'], to: { language: 'fr', theme: 'dark' } },
    },
  ])
  expect(await app.call(me.token, 'PATCH', '/users/me', { firstName: '', language: null })).toMatchObject({
    data: { firstName: '', language: null },
  })
  expect(await app.call(me.token, 'PATCH', '/users/me', { theme: 'pink' })).toMatchObject({ status: 400 })
})

test('everybody knows the company’s name, zone, language and currency', async () => {
  const nobody = await app.person((await app.role([])).name)
  expect((await app.call(nobody.token, 'GET', '/users/me')).data.company).toEqual({
    id: app.companyId,
    name: 'Acme',
    timezone: 'UTC',
    language: 'en',
    currency: null,
  })
})

test('preferences change one by one; the zone is recorded, favourites are not', async () => {
  const preferences = async () => (await app.call(me.token, 'GET', '/users/me')).data.preferences
  const prefer = (wanted: object) => app.call(me.token, 'PATCH', '/users/me', { preferences: wanted })
  expect(await preferences()).toEqual({ timezone: null, favourites: [] })
  const favourites = ['/explore?range=30d', '/']
  expect(await prefer({ favourites })).toMatchObject({
    status: 200,
    data: { preferences: { timezone: null, favourites } },
  })
  expect(await app.audit()).toEqual([])
  await prefer({ timezone: 'Asia/Tokyo' })
  expect(await preferences()).toEqual({ timezone: 'Asia/Tokyo', favourites })
  expect(await app.audit()).toMatchObject([
    {
      action: 'user-update',
      details: { changed: ['timezone'], from: { timezone: null }, to: { timezone: 'Asia/Tokyo' } },
    },
  ])
  expect(await prefer({ timezone: null, favourites: [] })).toMatchObject({
    data: { preferences: { timezone: null, favourites: [] } },
  })
})

test.each([
  [{ timezone: 'Europe/Atlantis' }],
  [{ timezone: '' }],
  [{ favourites: ['explore'] }],
  [{ favourites: ['//elsewhere\n'] }],
  [{ favourites: ['/a', '/a'] }],
  [{ favourites: [`/${'a'.repeat(500)}`] }],
  [{ favourites: Array.from({ length: 51 }, (_, i) => `/${i}`) }],
  [{ colour: 'red' }],
])('the preferences %j are refused at their place', async (preferences) => {
  const reply = await app.call(me.token, 'PATCH', '/users/me', { preferences })
  expect(reply).toMatchObject({
    status: 400,
    error_code: 1,
    data: { errors: [{ path: expect.stringMatching(/^preferences\./) }] },
  })
})

test('a changed password ends the other sessions and links, keeps this one, and gives notice', async () => {
  const other = (await app.signIn(me.email)).json()
  expect(await app.call(me.token, 'POST', '/users/password-reset', { email: me.email })).toMatchObject({
    status: 200,
  })
  await app.takeMails()
  await app.audit()
  expect(await change(me, goodPassword)).toMatchObject({ status: 200, data: { endedSessions: 1 } })
  expect(await app.call(me.token, 'GET', '/users/me')).toMatchObject({ status: 200 })
  expect((await app.refresh(other.refresh_token)).statusCode).toBe(400)
  expect((await app.signIn(me.email, goodPassword)).statusCode).toBe(401)
  expect((await app.signIn(me.email, newPassword)).statusCode).toBe(200)
  expect(await app.takeMails()).toMatchObject([{ to: me.email, subject: 'Your password was changed' }])
  const entries = await app.audit()
  expect(entries).toMatchObject([{ action: 'password-change', outcome: 'success', actor_id: me.id }])
  expect(JSON.stringify(entries)).not.toMatch(/geese|poppies/)
  const links = await relational.pool.query(
    'select 1 from user_links where user_id = $1 and ended_at is null',
    [me.id],
  )
  expect(links.rowCount).toBe(0)
})

test('a wrong present password is refused and recorded, and after ten the next waits', async () => {
  for (let i = 0; i < 10; i++)
    expect(await change(me, 'a wrong guess of mine')).toMatchObject({ status: 403, error_code: 2077 })
  expect(await change(me, goodPassword)).toMatchObject({
    status: 429,
    error_code: 2006,
    data: { retryAfter: 900 },
  })
  expect(await app.audit()).toMatchObject([
    ...Array.from({ length: 10 }, () => ({ action: 'password-change', error: 'wrongPassword' })),
    { action: 'password-change', outcome: 'failure', error: 'tooManyAttempts' },
  ])
  const other = await app.person()
  expect(await change(other, goodPassword)).toMatchObject({ status: 200 })
  app.time.advance(15 * minute)
  expect(await change(me, goodPassword)).toMatchObject({ status: 200 })
  expect(await change(me, 'a wrong guess of mine')).toMatchObject({ status: 403 })
})

test('guesses at once are bounded like guesses in a row', async () => {
  const replies = await Promise.all(Array.from({ length: 25 }, (_, n) => change(me, `a wrong guess ${n}`)))
  expect(replies.filter(({ status }) => status === 403)).toHaveLength(10)
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(15)
})

test.each([
  ['too short', 'short'],
  ['common', 'password1234'],
  ['the present one', goodPassword],
  ['with U+0000', 'twelve chars\0 more'],
])('a new password that is %s is refused and changes nothing', async (_, next) => {
  expect(await change(me, goodPassword, next)).toMatchObject({ status: 400, error_code: 1 })
  expect((await app.signIn(me.email)).statusCode).toBe(200)
  expect(await app.takeMails()).toEqual([])
})

test('of two changes at once one is done', async () => {
  const replies = await Promise.all([
    change(me, goodPassword, 'ten thousand geese'),
    change(me, goodPassword, 'ten thousand ducks'),
  ])
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 403])
})

test('whom a password lets in nowhere is told so', async () => {
  const person = await app.person('viewer', app.companyId, 'sso.example')
  await requireSingleSignOn(relational, 'sso.example')
  expect(await change(person, goodPassword)).toMatchObject({ status: 409, error_code: 2021 })
  await relational.pool.query('update users set password_hash = null where id = $1', [me.id])
  expect(await change(me, goodPassword)).toMatchObject({ status: 409, error_code: 2021 })
})

test('signing out everywhere ends this session too, and nobody else’s', async () => {
  const other = (await app.signIn(me.email)).json()
  const colleague = await app.person()
  await app.audit()
  expect(await app.call(me.token, 'DELETE', '/users/me/sessions')).toMatchObject({ status: 200, data: {} })
  expect(await app.call(me.token, 'GET', '/users/me')).toMatchObject({ status: 401 })
  expect((await app.refresh(other.refresh_token)).statusCode).toBe(400)
  expect(await app.call(colleague.token, 'GET', '/users/me')).toMatchObject({ status: 200 })
  expect(await app.audit()).toMatchObject([
    { action: 'sign-out', actor_id: me.id, details: { endedSessions: 2 } },
  ])
})
