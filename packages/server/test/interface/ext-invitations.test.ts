import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type Accounts,
  offerSingleSignOn,
  openAccounts,
  origin,
  type Person,
  requireSingleSignOn,
  secretIn,
} from '../support/accounts.ts'
import { goodPassword } from '../support/auth.ts'
import { day, hour, minute } from '../support/fake-time.ts'
import { statementsOf } from '../support/statements.ts'

let relational: Accounts['relational']
let app: Accounts['app']
let admin: Person
let stranger: Person
let viewerRole: string
let everyone: string
let invitation: Accounts['invitation']
let close: Accounts['close']

const unknown = 'f'.repeat(24)

beforeAll(async () => {
  const accounts = await openAccounts()
  ;({ relational, app, admin, stranger, viewerRole, everyone, invitation, close } = accounts)
})

beforeEach(async () => {
  await app.takeMails()
  await app.audit()
})

afterAll(() => close())

const accept = (url: unknown) =>
  app.services.passwordLinks.redeem(secretIn(String(url)), goodPassword, { address: '192.0.2.1' })

test('makes a user who signs in through the link, once, within 7 days', async () => {
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
  expect(await app.audit()).toMatchObject([
    { action: 'invitation-accept', outcome: 'success', actor_id: id, target_id: id },
    { action: 'invitation-accept', outcome: 'failure', actor_id: null, target_id: id },
  ])
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

test('an address that the company has already is a conflict', async () => {
  const person = await app.person()
  const reply = await app.call(admin.token, 'POST', '/invitations', invitation(person.email))
  expect(reply).toMatchObject({ status: 409, error_code: 2026, data: { email: person.email } })
  await app.call(admin.token, 'POST', '/invitations', invitation('twice@example.com'))
  const again = await app.call(admin.token, 'POST', '/invitations', invitation('twice@example.com'))
  expect(again).toMatchObject({ status: 409, error_code: 2026 })
  expect(await app.takeMails()).toHaveLength(1)
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

test('the link of a user who will do more is not shown to one who may do less', async () => {
  const clerk = await app.personWith('invitation:create', 'invitation:delete')
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

describe('a link ends with the right of its maker to give the role', () => {
  const invitable = ['invitation:create', 'invitation:read', 'datasource:read']

  /** A user who may give this role and has invited with it, and the link that this person has seen. */
  async function invite(email: string) {
    const role = await app.role(invitable)
    const clerk = await app.person(role.name)
    const wanted = invitation(email, { roleId: role.id, sendMail: false })
    const { data } = await app.call(clerk.token, 'POST', '/invitations', wanted)
    const { id } = data.user as unknown as { id: string }
    return { role, clerk, id, url: String(data.url) }
  }

  const expiryOf = async (id: string) =>
    (await app.call(admin.token, 'GET', '/invitations?perPage=100')).data.find((each) => each.id === id)
      ?.expiresAt

  test('when the invited person is raised above the maker, until a user renews it who may', async () => {
    const { id, url, clerk } = await invite('raised@example.com')
    const roleId = await app.roleIdOf('admin')
    expect(await expiryOf(id)).not.toBeNull()
    expect(await app.call(admin.token, 'PATCH', `/users/${id}`, { roleId })).toMatchObject({ status: 200 })
    const secret = secretIn(url)
    expect(await app.services.passwordLinks.inspect(secret)).toBeUndefined()
    await expect(accept(url)).rejects.toMatchObject({ errorName: 'invalidLink' })
    expect(await expiryOf(id)).toBeNull()
    expect(await app.call(clerk.token, 'POST', `/invitations/${id}/renew`, {})).toMatchObject({ status: 403 })
    const renewed = await app.call(admin.token, 'POST', `/invitations/${id}/renew`, { sendMail: false })
    await accept(renewed.data.url)
    expect((await app.signIn('raised@example.com')).statusCode).toBe(200)
  })

  test('when the role comes to allow more than the maker’s own', async () => {
    const { role, id, url, clerk } = await invite('gaining@example.com')
    const own = await app.role(invitable)
    await app.call(admin.token, 'PATCH', `/users/${clerk.id}`, { roleId: own.id })
    const permissions = [...invitable, 'user:update']
    await app.call(admin.token, 'PATCH', `/roles/${role.id}`, { permissions })
    await expect(accept(url)).rejects.toMatchObject({ errorName: 'invalidLink' })
    expect(await expiryOf(id)).toBeNull()
  })

  test('when the maker is demoted or leaves; another role that the maker may give changes nothing', async () => {
    const demoted = await invite('by-demoted@example.com')
    await app.call(admin.token, 'PATCH', `/users/${demoted.clerk.id}`, { roleId: (await app.role([])).id })
    await expect(accept(demoted.url)).rejects.toMatchObject({ errorName: 'invalidLink' })
    const gone = await invite('by-gone@example.com')
    await app.call(admin.token, 'POST', `/users/${gone.clerk.id}/deactivate`)
    await expect(accept(gone.url)).rejects.toMatchObject({ errorName: 'invalidLink' })
    const fine = await invite('lowered@example.com')
    await app.call(admin.token, 'PATCH', `/users/${fine.id}`, {
      roleId: (await app.role(['invitation:read'])).id,
    })
    await accept(fine.url)
  })
})

describe('mails', () => {
  test('go to one address five times at once and then one in twelve minutes, no matter who invites', async () => {
    const clerk = await app.personWith('invitation:create', 'invitation:delete')
    const email = 'flooded@example.com'
    const roleId = (await app.role([])).id
    const team = { resourceGroupIds: [everyone], roleId }
    const first = await app.call(clerk.token, 'POST', '/invitations', { email, ...team })
    const { id } = first.data.user as unknown as { id: string }
    const renew = (by: Person, sendMail = true) =>
      app.call(by.token, 'POST', `/invitations/${id}/renew`, { sendMail })
    for (const by of [clerk, admin, clerk, admin]) expect((await renew(by)).status).toBe(200)
    await app.audit()
    for (const by of [clerk, admin])
      expect(await renew(by)).toMatchObject({
        status: 429,
        error_code: 2079,
        data: { retryAfter: 12 * 60 },
        message: expect.stringContaining(email),
      })
    expect(await app.audit()).toMatchObject([
      { action: 'invitation-renew', outcome: 'failure', error: 'tooManyInvitations' },
      { outcome: 'failure' },
    ])
    expect(await app.takeMails()).toHaveLength(5)
    // The address stays known when the invitation is taken back, and a link may still be handed over.
    expect((await renew(clerk, false)).status).toBe(200)
    await app.call(clerk.token, 'DELETE', `/invitations/${id}`)
    expect(await app.call(clerk.token, 'POST', '/invitations', { email, ...team })).toMatchObject({
      status: 429,
    })
    app.time.advance(12 * minute)
    expect((await app.call(clerk.token, 'POST', '/invitations', { email, ...team })).status).toBe(200)
  })

  test('of one caller are a hundred at once, and then a hundred an hour', async () => {
    const clerk = await app.personWith('invitation:create')
    const roleId = (await app.role([])).id
    const invite = (i: number) =>
      app.call(clerk.token, 'POST', '/invitations', invitation(`many-${i}@example.com`, { roleId }))
    for (let i = 0; i < 100; i++) expect((await invite(i)).status).toBe(200)
    expect(await invite(100)).toMatchObject({ status: 429, error_code: 2079, data: { retryAfter: 36 } })
    expect(
      (await app.call(admin.token, 'POST', '/invitations', invitation('many-100@example.com'))).status,
    ).toBe(200)
    app.time.advance(hour / 100)
    expect((await invite(101)).status).toBe(200)
  })
})

describe('an address that another company has', () => {
  /** Replies and what can be read later, without what differs by chance. */
  const invited = async (email: string) => {
    const reply = await app.call(admin.token, 'POST', '/invitations', invitation(email))
    const { id } = reply.data.user as unknown as { id: string }
    const read = await app.call(admin.token, 'GET', `/users/${id}`)
    const listed = await app.call(admin.token, 'GET', '/invitations?perPage=100')
    const entry = (listed.data as unknown as { id: string }[]).find((each) => each.id === id)
    const neutral = JSON.stringify([reply, read, entry])
      .replaceAll(id, 'ID')
      .replaceAll(email, 'EMAIL')
      .replace(/token=[\w-]{43}/, 'TOKEN')
      .replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"TIME"')
    return { neutral, id, url: reply.data.url }
  }

  test('is answered like a free one, also where the domain is theirs or it is invited there', async () => {
    await offerSingleSignOn(relational, app.other.companyId, 'claimed.example')
    await app.call(stranger.token, 'POST', '/invitations', {
      email: 'both@example.com',
      roleId: await app.roleIdOf('viewer', app.other.companyId),
      resourceGroupIds: [app.other.teamId],
    })
    const free = await invited('free@example.com')
    for (const email of [stranger.email, 'new@claimed.example', 'both@example.com']) {
      expect((await invited(email)).neutral).toBe(free.neutral)
      await app.call(admin.token, 'POST', '/invitations', invitation(email))
    }
  })

  test('costs the store the same statements', async () => {
    const shapes = []
    for (const email of ['free2@example.com', 'free3@example.com', 'taken2@example.com']) {
      if (email.startsWith('taken'))
        await app.accounts.createUser({
          companyId: app.other.companyId,
          email,
          password: undefined,
          roleName: 'viewer',
          teamNames: [],
        })
      shapes.push(await statementsOf(() => app.call(admin.token, 'POST', '/invitations', invitation(email))))
    }
    expect(shapes[2]).toEqual(shapes[1])
  })

  test('takes nothing over: the mail alone says so, and the link sets no password', async () => {
    const owner = await app.accounts.createUser({
      companyId: app.other.companyId,
      email: 'owned@example.com',
      password: goodPassword,
      roleName: 'admin',
      teamNames: [],
    })
    await app.takeMails()
    const { url, id } = await invited('owned@example.com')
    const mail = await app.lastMail()
    expect(mail.to).toBe('owned@example.com')
    expect(mail.text).not.toContain('token=')
    expect(mail.text).toContain('belongs to another company on Millrace already')
    await expect(accept(url)).rejects.toMatchObject({ errorName: 'invalidLink' })
    await expect(accept(url)).rejects.toMatchObject({ errorName: 'invalidLink' })
    const { rows } = await relational.pool.query(
      'select id, company_id, status, password_hash is null as free from users where email = $1 order by created_at',
      ['owned@example.com'],
    )
    expect(rows).toEqual([
      { id: owner.id, company_id: app.other.companyId, status: 'active', free: false },
      { id, company_id: app.companyId, status: 'invited', free: true },
    ])
    const signedIn = await app.signInAs('owned@example.com')
    expect(signedIn).toMatch(/^[\w-]{43}$/)
    // Deactivating, reactivating and deleting the invited person leave the owner alone.
    for (const action of ['deactivate', 'reactivate'])
      expect(await app.call(admin.token, 'POST', `/users/${id}/${action}`, {})).toMatchObject({ status: 200 })
    expect(await app.call(admin.token, 'DELETE', `/invitations/${id}`)).toMatchObject({ status: 200 })
    expect(await app.signInAs('owned@example.com')).toMatch(/^[\w-]{43}$/)
  })

  test('comes to who accepts first, of two companies that invite it', async () => {
    const theirs = await app.call(stranger.token, 'POST', '/invitations', {
      email: 'race@example.com',
      roleId: await app.roleIdOf('viewer', app.other.companyId),
      resourceGroupIds: [app.other.teamId],
    })
    const ours = await invited('race@example.com')
    await accept(ours.url)
    await expect(accept(theirs.data.url)).rejects.toMatchObject({ errorName: 'invalidLink' })
    expect(await app.signInAs('race@example.com')).toMatch(/^[\w-]{43}$/)
  })
})
