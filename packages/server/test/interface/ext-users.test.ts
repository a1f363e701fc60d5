import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Accounts, openAccounts, type Person, secretIn } from '../support/accounts.ts'
import { goodPassword } from '../support/auth.ts'

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

describe('listing and reading', () => {
  test('finds people by name, address, role, team and state, page by page', async () => {
    const ada = await app.person('editor')
    const team = await app.team()
    await app.putInto(ada.id, team, everyone)
    await app.call(admin.token, 'PATCH', `/users/${ada.id}`, { firstName: 'Ada', lastName: 'Lovelace%' })
    const find = async (query: string) =>
      (await app.call(admin.token, 'GET', `/users?perPage=100&${query}`)).data.map(({ id }) => id)
    expect(await find('search=ADA%20LOVE')).toEqual([ada.id])
    expect(await find('search=lace%25')).toEqual([ada.id])
    expect(await find('search=_da')).toEqual([])
    expect(await find(`search=${ada.email.toUpperCase()}`)).toEqual([ada.id])
    expect(await find(`roleId=${(await app.roleIdOf('editor')).toUpperCase()}`)).toEqual([ada.id])
    expect(await find(`resourceGroupId=${team}`)).toEqual([ada.id])
    expect(await find('status=disabled')).toEqual([])
    expect(await find(`resourceGroupId=${app.other.teamId}`)).toEqual([])
    const page = await app.call(admin.token, 'GET', '/users?perPage=1&page=2')
    expect(page).toMatchObject({ data: [{ id: ada.id }], paginationCount: 2 })
    expect(await find('sortBy=name')).toEqual([admin.id, ada.id])
    expect(await find('sortBy=name&sortOrder=desc')).toEqual([ada.id, admin.id])
    expect(await find('sortBy=createdAt')).toEqual([ada.id, admin.id])
    expect(await find('sortOrder=desc')).toEqual([ada.id, admin.id])
  })

  test('shows nothing that lets in', async () => {
    const { rows } = await relational.pool.query('select password_hash from users where id = $1', [admin.id])
    const text = JSON.stringify(await app.call(admin.token, 'GET', `/users/${admin.id}`))
    expect(text).not.toContain(rows[0].password_hash)
    expect(text).not.toMatch(/argon2|hash/i)
  })

  test.each(['status=deleted', 'roleId=1', 'status=x', 'perPage=101', 'serch=x', 'search=%00'])(
    'refuses ?%s',
    async (query) => {
      expect(await app.call(admin.token, 'GET', `/users?${query}`)).toMatchObject({ status: 400 })
    },
  )
})

describe('who may do it', () => {
  const calls = (id: string): ['GET' | 'POST' | 'PATCH' | 'DELETE', string, Record<string, unknown>?][] => [
    ['GET', `/users/${id}`],
    ['PATCH', `/users/${id}`, { firstName: 'Eve' }],
    ['POST', `/users/${id}/deactivate`],
    ['POST', `/users/${id}/reactivate`],
    ['DELETE', `/users/${id}`],
  ]

  test('a person of another company is answered like one that does not exist', async () => {
    for (const [method, path, body] of calls(stranger.id))
      expect(await app.call(admin.token, method, path, body)).toMatchObject({
        status: 404,
        error_code: 2070,
        data: { id: stranger.id },
      })
    for (const [method, path, body] of calls(unknown))
      expect(await app.call(admin.token, method, path, body)).toMatchObject({ status: 404, error_code: 2070 })
    expect((await app.call(stranger.token, 'GET', '/users')).paginationCount).toBe(1)
    const { rows } = await relational.pool.query('select first_name, status from users where id = $1', [
      stranger.id,
    ])
    expect(rows).toEqual([{ first_name: '', status: 'active' }])
  })

  test('without the permission nothing is answered and nothing done', async () => {
    const viewer = await app.person('viewer')
    for (const [method, path, body] of [
      ...calls(viewer.id),
      ['GET', '/users'] as const,
      ['GET', '/invitations'] as const,
      ['POST', '/invitations', invitation('x@example.com')] as const,
      ['DELETE', `/invitations/${unknown}`] as const,
      ['POST', `/invitations/${unknown}/renew`, {}] as const,
    ])
      expect(await app.call(viewer.token, method, path, body)).toMatchObject({ status: 403, error_code: 4 })
  })

  test('a token that has ended opens nothing', async () => {
    const person = await app.person('admin')
    expect(await app.call(person.token, 'DELETE', '/users/me/sessions')).toMatchObject({ status: 200 })
    for (const [method, path, body] of calls(admin.id))
      expect(await app.call(person.token, method, path, body)).toMatchObject({ status: 401 })
  })

  test.each([
    { email: 'new@example.com', emial: 'x' },
    { firstName: 5 },
    { firstName: 'a\nb' },
    { firstName: 'x'.repeat(101) },
    { roleId: ['x'] },
    { roleId: null },
    { resourceGroupIds: [] },
    { resourceGroupIds: 'x' },
    { language: 'de' },
  ])('refuses the change %j', async (body) => {
    expect(await app.call(admin.token, 'PATCH', `/users/${admin.id}`, body)).toMatchObject({
      status: 400,
      error_code: 1,
    })
  })
})

describe('changing', () => {
  test('takes back what was read, keeps the address, and records what changed without personal values', async () => {
    const person = await app.person()
    const { data } = await app.call(admin.token, 'GET', `/users/${person.id}`)
    expect(await app.call(admin.token, 'PATCH', `/users/${person.id}`, data)).toMatchObject({
      status: 200,
      data,
    })
    expect(await app.audit()).toEqual([])
    const editor = await app.roleIdOf('editor')
    const change = {
      email: 'thief@example.com',
      status: 'disabled',
      firstName: 'Ada',
      phone: '+33 1 02',
      roleId: editor.toUpperCase(),
      language: 'fr',
    }
    expect(await app.call(admin.token, 'PATCH', `/users/${person.id}`, change)).toMatchObject({
      status: 200,
      data: { email: person.email, status: 'active', firstName: 'Ada', roleId: editor, language: 'fr' },
    })
    const entries = await app.audit()
    expect(entries).toMatchObject([
      {
        action: 'user-update',
        outcome: 'success',
        actor_id: admin.id,
        target_id: person.id,
        details: {
          changed: ['firstName', 'phone', 'language', 'roleId'],
          from: { language: null, roleId: viewerRole },
          to: { language: 'fr', roleId: editor },
        },
      },
    ])
    expect(JSON.stringify(entries)).not.toContain('+33')
  })

  test('a new role and new teams work with the next request', async () => {
    const person = await app.person()
    expect(await app.call(person.token, 'GET', '/users')).toMatchObject({ status: 403 })
    await app.call(admin.token, 'PATCH', `/users/${person.id}`, { roleId: await app.roleIdOf('admin') })
    expect(await app.call(person.token, 'GET', '/users')).toMatchObject({ status: 200 })
    const team = await app.team()
    const { data } = await app.call(admin.token, 'PATCH', `/users/${person.id}`, { resourceGroupIds: [team] })
    expect(data.resourceGroupIds).toEqual([team])
    app.cache.forget()
    expect((await app.cache.find(person.token))?.teamIds).toEqual([team])
    await app.call(admin.token, 'PATCH', `/users/${person.id}`, { roleId: viewerRole })
    expect(await app.call(person.token, 'GET', '/users')).toMatchObject({ status: 403 })
  })

  test('unknown and foreign roles and teams are the same failure', async () => {
    const person = await app.person()
    const foreignRole = await app.roleIdOf('viewer', app.other.companyId)
    for (const roleId of [unknown, foreignRole])
      expect(await app.call(admin.token, 'PATCH', `/users/${person.id}`, { roleId })).toMatchObject({
        status: 400,
        error_code: 2050,
        data: { roleIds: [roleId] },
      })
    for (const team of [unknown, app.other.teamId])
      expect(
        await app.call(admin.token, 'PATCH', `/users/${person.id}`, { resourceGroupIds: [everyone, team] }),
      ).toMatchObject({ status: 400, error_code: 2052, data: { teamIds: [team] } })
  })
})

describe('no user gives what they do not hold', () => {
  test('a role above one’s own is refused in every way, and recorded', async () => {
    const clerk = await app.personWith('user:update', 'user:read', 'invitation:create')
    const person = await app.person((await app.role(['user:read'])).name)
    await app.audit()
    const roleId = await app.roleIdOf('admin')
    const attempts = [
      await app.call(clerk.token, 'PATCH', `/users/${person.id}`, { roleId }),
      await app.call(clerk.token, 'PATCH', `/users/${clerk.id}`, { roleId }),
      await app.call(clerk.token, 'POST', '/invitations', invitation('eve@example.com', { roleId })),
    ]
    for (const attempt of attempts)
      expect(attempt).toMatchObject({ status: 403, error_code: 2051, data: { roleIds: [roleId] } })
    expect(await app.audit()).toMatchObject([
      { action: 'user-update', outcome: 'failure', error: 'roleAboveOwn', actor_id: clerk.id },
      { action: 'user-update', outcome: 'failure', error: 'roleAboveOwn' },
      { action: 'user-invite', outcome: 'failure', error: 'roleAboveOwn' },
    ])
    const own = (await app.role(['user:update'])).id
    expect(await app.call(clerk.token, 'PATCH', `/users/${person.id}`, { roleId: own })).toMatchObject({
      status: 200,
    })
  })

  test('a user who may do more is not changed, deactivated or deleted', async () => {
    const clerk = await app.personWith('user:update', 'user:delete', 'user:read')
    for (const [method, path, body] of [
      ['PATCH', `/users/${admin.id}`, { firstName: 'Eve' }],
      ['POST', `/users/${admin.id}/deactivate`, undefined],
      ['POST', `/users/${admin.id}/reactivate`, undefined],
      ['DELETE', `/users/${admin.id}`, undefined],
    ] as const)
      expect(await app.call(clerk.token, method, path, body)).toMatchObject({
        status: 403,
        error_code: 2025,
        data: { id: admin.id },
      })
  })

  test('teams that one does not use are not given, unless one may change teams', async () => {
    const clerk = await app.personWith('user:update', 'user:read', 'invitation:create')
    const teamClerk = await app.personWith('user:update', 'team:update')
    const low = (await app.role([])).id
    const [mine, foreign] = [await app.team(), await app.team()]
    const child = await app.team([mine])
    await app.putInto(clerk.id, mine)
    const person = await app.person((await app.role([])).name)
    await app.putInto(person.id, foreign)
    const put = (token: string, ...resourceGroupIds: string[]) =>
      app.call(token, 'PATCH', `/users/${person.id}`, { resourceGroupIds })
    // Where the person is already gives nothing, and a team below one's own is used too.
    expect(await put(clerk.token, foreign, mine, child)).toMatchObject({ status: 200 })
    expect(await put(clerk.token, mine)).toMatchObject({ status: 200 })
    expect(await put(clerk.token, mine, foreign)).toMatchObject({
      status: 403,
      error_code: 2053,
      data: { teamIds: [foreign] },
    })
    const wanted = { email: 'tim@example.com', roleId: low, resourceGroupIds: [foreign] }
    expect(await app.call(clerk.token, 'POST', '/invitations', wanted)).toMatchObject({
      status: 403,
      error_code: 2053,
    })
    expect(await put(teamClerk.token, foreign)).toMatchObject({ status: 200 })
  })
})

describe('deactivating, reactivating, deleting', () => {
  test('a deactivated person is out at once, and comes back as before without linked accounts', async () => {
    const person = await app.person()
    const { refresh_token } = (await app.signIn(person.email)).json()
    await relational.pool.query(
      `insert into linked_accounts (id, company_id, user_id, provider, name, host, sealed_target)
        values ($1, $2, $3, 'slack', 'x', 'hooks.slack.com', '\\x00')`,
      [unknown, app.companyId, person.id],
    )
    const before = (await app.call(admin.token, 'GET', `/users/${person.id}`)).data
    expect(await app.call(admin.token, 'POST', `/users/${person.id}/deactivate`)).toMatchObject({
      status: 200,
      data: { status: 'disabled' },
    })
    expect(await app.call(person.token, 'GET', '/users/me')).toMatchObject({ status: 401 })
    expect((await app.refresh(refresh_token)).statusCode).toBe(400)
    expect((await app.signIn(person.email)).statusCode).toBe(401)
    expect(await app.call(admin.token, 'POST', `/users/${person.id}/deactivate`)).toMatchObject({
      status: 200,
    })
    const back = await app.call(admin.token, 'POST', `/users/${person.id}/reactivate`)
    expect(back).toMatchObject({ status: 200, data: { ...before, updatedAt: expect.any(String) } })
    expect((await app.signIn(person.email)).statusCode).toBe(200)
    const links = await relational.pool.query('select 1 from linked_accounts where user_id = $1', [person.id])
    expect(links.rowCount).toBe(0)
    expect((await app.audit()).map(({ action }) => action)).toEqual(['user-deactivate', 'user-reactivate'])
  })

  test('a user who never signed in is invited again, without a valid link, and signs in with a new one', async () => {
    const wanted = invitation('slow@example.com', { sendMail: false })
    const invited = await app.call(admin.token, 'POST', '/invitations', wanted)
    const { id } = invited.data.user as unknown as { id: string }
    const redeem = (url: unknown) =>
      app.services.passwordLinks.redeem(secretIn(String(url)), goodPassword, { address: '192.0.2.1' })
    await app.call(admin.token, 'POST', `/users/${id}/deactivate`)
    expect(await app.call(admin.token, 'POST', `/users/${id}/reactivate`)).toMatchObject({
      status: 200,
      data: { status: 'invited' },
    })
    await expect(redeem(invited.data.url)).rejects.toMatchObject({ errorName: 'invalidLink' })
    const renewed = await app.call(admin.token, 'POST', `/invitations/${id}/renew`, { sendMail: false })
    await redeem(renewed.data.url)
    expect((await app.signIn('slow@example.com')).statusCode).toBe(200)
  })

  test.each([
    ['whom the identity provider keeps', 'update users set provisioned = true where id = $1'],
    ['who has signed in', 'update users set last_sign_in_at = now() where id = $1'],
    [
      'whom single sign-on has let in',
      `insert into sso_identities (company_id, idp_entity_id, name_id, user_id)
       select company_id, 'idp', id, id from users where id = $1`,
    ],
  ])('a user without a password %s is active again', async (_, statement) => {
    const { id } = await app.person()
    await relational.pool.query(
      'update users set password_hash = null, last_sign_in_at = null where id = $1',
      [id],
    )
    await relational.pool.query(statement, [id])
    await app.call(admin.token, 'POST', `/users/${id}/deactivate`)
    expect(await app.call(admin.token, 'POST', `/users/${id}/reactivate`)).toMatchObject({
      data: { status: 'active' },
    })
  })

  test('a deleted person is gone for good, with everything personal, and the address is free', async () => {
    const person = await app.person()
    await app.call(admin.token, 'PATCH', `/users/${person.id}`, { firstName: 'Ada', phone: '12' })
    expect(await app.call(admin.token, 'DELETE', `/users/${person.id}`)).toMatchObject({
      status: 200,
      data: {},
    })
    for (const again of [
      await app.call(admin.token, 'DELETE', `/users/${person.id}`),
      await app.call(admin.token, 'GET', `/users/${person.id}`),
    ])
      expect(again).toMatchObject({ status: 404 })
    expect(await app.call(person.token, 'GET', '/users/me')).toMatchObject({ status: 401 })
    const { rows } = await relational.pool.query('select * from users where id = $1', [person.id])
    expect(JSON.stringify(rows)).not.toMatch(new RegExp(`${person.email}|Ada|argon2`))
    expect(await app.call(admin.token, 'POST', '/invitations', invitation(person.email))).toMatchObject({
      status: 200,
    })
  })
})
