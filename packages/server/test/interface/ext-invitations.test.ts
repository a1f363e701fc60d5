import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type AccountsApp,
  createAccountsApp,
  origin,
  type Person,
  requireSingleSignOn,
  secretIn,
} from '../support/accounts.ts'
import { goodPassword } from '../support/auth.ts'
import { day, minute } from '../support/fake-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let app: AccountsApp
let admin: Person
let stranger: Person
let viewerRole: string
let everyone: string

const unknown = 'f'.repeat(24)

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
  admin = await app.person('admin')
  stranger = await app.person('admin', app.other.companyId)
  viewerRole = await app.roleIdOf('viewer')
  const { data } = await app.call(admin.token, 'GET', `/users/${admin.id}`)
  everyone = String((data.resourceGroupIds as string[])[0])
})

beforeEach(async () => {
  await app.takeMails()
  await app.audit()
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

/** Somebody whose role has these permissions and no others. */
async function personWith(...permissions: string[]): Promise<Person> {
  return app.person((await app.role(permissions)).name)
}

const invitation = (email: string, more: Record<string, unknown> = {}) => ({
  email,
  roleId: viewerRole,
  resourceGroupIds: [everyone],
  ...more,
})

const accept = (url: unknown) =>
  app.services.passwordLinks.redeem(secretIn(String(url)), goodPassword, { address: '192.0.2.1' })

test('makes a user who comes in through the link, once, within 7 days', async () => {
  const email = 'grace@example.com'
  const reply = await app.call(
    admin.token,
    'POST',
    '/invitations',
    invitation('Grace@Example.com', { firstName: 'Grace' }),
  )
  expect(reply).toMatchObject({
    status: 200,
    data: {
      user: {
        email,
        firstName: 'Grace',
        status: 'invited',
        roleId: viewerRole,
        resourceGroupIds: [everyone],
      },
      url: expect.stringMatching(`^${origin}/v2/oauth/set-password\\?token=`),
      expiresAt: new Date(app.time.clock.now() + 7 * day).toISOString(),
    },
  })
  const mail = await app.lastMail()
  expect(mail).toMatchObject({ to: email, subject: 'You are invited to Millrace' })
  expect(mail.text).toContain(String(reply.data.url))
  expect(mail.text).toContain('Acme')
  expect(mail.text).toContain(admin.email)
  const entries = await app.audit()
  expect(entries).toMatchObject([{ action: 'user-invite', outcome: 'success', actor_id: admin.id }])
  expect(JSON.stringify(entries)).not.toContain(secretIn(mail.text))
  expect((await app.signIn(email)).statusCode).toBe(401)

  const { id } = reply.data.user as unknown as { id: string }
  expect((await app.call(admin.token, 'GET', '/invitations?perPage=100')).data).toContainEqual(
    expect.objectContaining({ id, email, expiresAt: reply.data.expiresAt }),
  )
  await accept(reply.data.url)
  expect((await app.signIn(email)).statusCode).toBe(200)
  await expect(accept(reply.data.url)).rejects.toMatchObject({ errorName: 'invalidLink' })
  expect(await app.takeMails()).toEqual([])
  expect(await app.audit()).toMatchObject([{ action: 'invitation-accept', actor_id: id, target_id: id }])
  const listed = await app.call(admin.token, 'GET', '/invitations?perPage=100')
  expect(listed.data.map((each) => each.id)).not.toContain(id)
})

test('an invitation ends after 7 days and can be renewed, which voids the former link', async () => {
  const reply = await app.call(
    admin.token,
    'POST',
    '/invitations',
    invitation('late@example.com', { sendMail: false }),
  )
  expect(await app.takeMails()).toEqual([])
  const { id } = reply.data.user as unknown as { id: string }
  app.time.advance(7 * day)
  const signedIn = { ...admin, token: await app.signInAs(admin.email) }
  await expect(accept(reply.data.url)).rejects.toMatchObject({ errorName: 'invalidLink' })
  const second = await app.call(signedIn.token, 'POST', `/invitations/${id}/renew`, { sendMail: false })
  const third = await app.call(signedIn.token, 'POST', `/invitations/${id}/renew`, {})
  expect(third).toMatchObject({ status: 200, data: { user: { id } } })
  expect(await app.takeMails()).toHaveLength(1)
  await expect(accept(second.data.url)).rejects.toMatchObject({ errorName: 'invalidLink' })
  app.time.advance(7 * day - minute)
  await accept(third.data.url)
  admin = { ...admin, token: await app.signInAs(admin.email) }
  expect(await app.call(admin.token, 'POST', `/invitations/${id}/renew`, {})).toMatchObject({
    status: 404,
    error_code: 2027,
  })
  stranger = { ...stranger, token: await app.signInAs(stranger.email) }
})

test('a taken address is the same conflict whoever has it', async () => {
  const person = await app.person()
  for (const email of [person.email, stranger.email]) {
    const reply = await app.call(admin.token, 'POST', '/invitations', invitation(email))
    expect(reply).toMatchObject({ status: 409, error_code: 2026, data: { email } })
    expect(JSON.stringify(reply)).not.toContain(app.other.companyId)
  }
  expect(await app.takeMails()).toEqual([])
  expect(await app.audit()).toMatchObject([
    { action: 'user-invite', outcome: 'failure', error: 'emailTaken' },
    { outcome: 'failure' },
  ])
})

test('is taken back with its link, and nobody else’s can be', async () => {
  const reply = await app.call(admin.token, 'POST', '/invitations', invitation('back@example.com'))
  const { id } = reply.data.user as unknown as { id: string }
  for (const [method, path, body] of [
    ['DELETE', `/invitations/${id}`, undefined],
    ['POST', `/invitations/${id}/renew`, {}],
  ] as const)
    expect(await app.call(stranger.token, method, path, body)).toMatchObject({
      status: 404,
      error_code: 2027,
    })
  expect((await app.call(stranger.token, 'GET', '/invitations')).paginationCount).toBe(0)
  const active = await app.person()
  expect(await app.call(admin.token, 'DELETE', `/invitations/${active.id}`)).toMatchObject({ status: 404 })
  await app.audit()
  expect(await app.call(admin.token, 'DELETE', `/invitations/${id}`)).toMatchObject({
    status: 200,
    data: {},
  })
  await expect(accept(reply.data.url)).rejects.toMatchObject({ errorName: 'invalidLink' })
  expect((await app.audit()).map(({ action }) => action)).toEqual(['invitation-delete'])
})

test('the link of somebody who will do more is shown to nobody who may do less', async () => {
  const clerk = await personWith('invitation:create', 'invitation:delete')
  const roleId = await app.roleIdOf('admin')
  const reply = await app.call(
    admin.token,
    'POST',
    '/invitations',
    invitation('boss@example.com', { roleId }),
  )
  const { id } = reply.data.user as unknown as { id: string }
  for (const [method, path, body] of [
    ['POST', `/invitations/${id}/renew`, {}],
    ['DELETE', `/invitations/${id}`, undefined],
  ] as const)
    expect(await app.call(clerk.token, method, path, body)).toMatchObject({ status: 403, error_code: 2025 })
})

test.each([
  {},
  { roleId: unknown },
  { email: 'a@b.c, d@e.f' },
  { email: 'a@example.com\r\nBcc: eve@example.com' },
  { email: 'ada@exämple.com' },
  { email: ['a@example.com'] },
  { resourceGroupIds: [] },
  { status: 'active' },
  { passwordHash: 'x' },
])('refuses %j', async (more) => {
  const body = Object.keys(more).length === 0 ? {} : invitation('new@example.com', more)
  expect(await app.call(admin.token, 'POST', '/invitations', body)).toMatchObject({ status: 400 })
  expect(await app.takeMails()).toEqual([])
})

test('where single sign-on is required the sign-in address is given, and no password can be chosen', async () => {
  const early = await app.call(admin.token, 'POST', '/invitations', invitation('early@sso.example'))
  await requireSingleSignOn(relational, 'sso.example')
  await app.takeMails()
  const reply = await app.call(admin.token, 'POST', '/invitations', invitation('later@sso.example'))
  expect(reply).toMatchObject({ status: 200, data: { url: `${origin}/`, expiresAt: null } })
  expect((await app.lastMail()).text).not.toContain('token=')
  await expect(accept(early.data.url)).rejects.toMatchObject({ errorName: 'invalidLink' })
})
