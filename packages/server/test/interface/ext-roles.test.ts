import { permissionNames } from '@millrace/contract/permissions.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAccountServices } from '../../src/features/identity/people/account-services.ts'
import { createPrincipal } from '../../src/features/identity/sessions/principal.ts'
import { type AccountsApp, asOwner, createAccountsApp, type Person } from '../support/accounts.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { sharedBeside } from '../support/service.ts'

let relational: TestDatabase
let app: AccountsApp
let admin: Person
let stranger: Person

const unknown = 'f'.repeat(24)

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
  admin = await app.person('admin')
  stranger = await app.person('admin', app.other.companyId)
})

beforeEach(async () => {
  await app.audit()
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

const create = (name: string, permissions: readonly string[] = [], token = admin.token) =>
  app.call(token, 'POST', '/roles', { name, permissions })

test('lists the roles of the company with what they allow and how many hold them', async () => {
  const { data, paginationCount } = await app.call(admin.token, 'GET', '/roles?perPage=100')
  expect(paginationCount).toBe(3)
  expect(data.map(({ name, builtIn, userCount }) => [name, builtIn, userCount])).toEqual([
    ['admin', true, 1],
    ['editor', true, 0],
    ['viewer', true, 0],
  ])
  expect(data[0]?.permissions).toHaveLength(permissionNames.length)
})

test('a role is created, read, changed and deleted, each recorded with what changed', async () => {
  const made = await create('Analyst', ['statistics:export', 'statistics:access'])
  expect(made).toMatchObject({
    status: 200,
    data: {
      name: 'Analyst',
      builtIn: false,
      permissions: ['statistics:access', 'statistics:export'],
      userCount: 0,
      companyId: app.companyId,
    },
  })
  const path = `/roles/${made.data.id}`
  expect(await app.call(admin.token, 'PATCH', path, made.data)).toMatchObject({
    status: 200,
    data: made.data,
  })
  expect(
    await app.call(admin.token, 'PATCH', path, {
      name: 'Reader',
      permissions: ['statistics:access', 'team:read'],
    }),
  ).toMatchObject({ status: 200, data: { name: 'Reader', permissions: ['statistics:access', 'team:read'] } })
  expect(await app.call(admin.token, 'GET', path.toUpperCase().replace('/ROLES', '/roles'))).toMatchObject({
    data: { name: 'Reader' },
  })
  expect(await app.call(admin.token, 'DELETE', path)).toMatchObject({ status: 200, data: {} })
  expect(await app.call(admin.token, 'GET', path)).toMatchObject({ status: 404, error_code: 2054 })
  expect(await app.audit()).toMatchObject([
    { action: 'role-create', details: { permissions: ['statistics:export', 'statistics:access'] } },
    {
      action: 'role-update',
      details: { name: 'Reader', added: ['team:read'], removed: ['statistics:export'] },
    },
    { action: 'role-delete', details: { permissions: ['statistics:access', 'team:read'] } },
  ])
})

test('a name is taken whatever its case, in the same company only', async () => {
  const { data } = await create('Buyer')
  expect(await create('BUYER')).toMatchObject({ status: 409, error_code: 2055, data: { name: 'BUYER' } })
  expect(await create('Admin')).toMatchObject({ status: 409, error_code: 2055 })
  const { data: seller } = await create('Seller')
  expect(await app.call(admin.token, 'PATCH', `/roles/${seller.id}`, { name: 'buyer' })).toMatchObject({
    status: 409,
  })
  expect(await app.call(admin.token, 'PATCH', `/roles/${data.id}`, { name: 'bUYER' })).toMatchObject({
    status: 200,
  })
  expect(await create('Buyer', [], stranger.token)).toMatchObject({ status: 200 })
})

test.each([
  { name: '', permissions: [] },
  { name: 'X' },
  { name: 'X', permissions: ['user:fly'] },
  { name: 'X', permissions: ['company:delete'] },
  { name: 'X', permissions: [{ resource: 'user', action: 'read' }] },
  { name: 'X', permissions: ['user:read', 'user:read'] },
  { name: 'X', permissions: ['__proto__:constructor'] },
  { name: 'X\r\nY', permissions: [] },
  { name: 'X', permissions: [], admin: true },
])('refuses %j', async (body) => {
  expect(await app.call(admin.token, 'POST', '/roles', body)).toMatchObject({ status: 400, error_code: 1 })
})

test('a built-in role stays as it is', async () => {
  for (const name of ['admin', 'editor', 'viewer']) {
    const id = await app.roleIdOf(name)
    for (const reply of [
      await app.call(admin.token, 'PATCH', `/roles/${id}`, { permissions: [] }),
      await app.call(admin.token, 'PATCH', `/roles/${id}`, { name: 'Other' }),
      await app.call(admin.token, 'DELETE', `/roles/${id}`),
    ])
      expect(reply).toMatchObject({ status: 409, error_code: 2056 })
  }
})

test('a role that a user holds, or that is the default one, is not deleted', async () => {
  const role = await app.role(['team:read'])
  const person = await app.person(role.name)
  await app.person(role.name)
  expect(await app.call(admin.token, 'DELETE', `/roles/${role.id}`)).toMatchObject({
    status: 409,
    error_code: 2057,
    data: { id: role.id, users: 2, settings: [] },
    message: expect.stringContaining('2 users'),
  })
  await relational.pool.query('update users set role_id = $1 where role_id = $2 and id <> $3', [
    await app.roleIdOf('viewer'),
    role.id,
    person.id,
  ])
  await app.call(admin.token, 'PATCH', '/company', { defaultRoleId: role.id })
  await app.call(admin.token, 'DELETE', `/users/${person.id}`)
  expect(await app.call(admin.token, 'DELETE', `/roles/${role.id}`)).toMatchObject({
    status: 409,
    data: { users: 0, settings: ['the default role of the company'] },
  })
  await app.call(admin.token, 'PATCH', '/company', { defaultRoleId: null })
  // A user who is deleted held it: that does not keep it.
  expect(await app.call(admin.token, 'DELETE', `/roles/${role.id}`)).toMatchObject({ status: 200 })
})

test('a role that a setting of another feature names stays', async () => {
  const role = await app.role([])
  const services = createAccountServices({
    ...sharedBeside(app.context, relational),
    onTimezoneChanged: async () => {},
    settingsNaming: async (_tx, { id }) => (id === role.id ? ['the provisioning of groups'] : []),
  })
  const principal = createPrincipal({
    userId: admin.id,
    email: admin.email,
    roleId: role.id,
    companyId: app.companyId,
    clientId: app.clientId,
    tokenId: unknown,
    teamIds: [],
    permissions: [],
  })
  await expect(services.roles.delete({ principal, address: '192.0.2.1' }, role.id)).rejects.toMatchObject({
    errorName: 'roleInUse',
    data: { users: 0, settings: ['the provisioning of groups'] },
  })
  await asOwner(
    relational.owner,
    'create table mappings (role_id text references roles); grant all on mappings to public',
  )
  await relational.pool.query('insert into mappings values ($1)', [role.id])
  expect(await app.call(admin.token, 'DELETE', `/roles/${role.id}`)).toMatchObject({
    status: 409,
    error_code: 2057,
  })
})

test('no user gives or takes a permission that they do not hold', async () => {
  const clerk = await app.person(
    (await app.role(['role:create', 'role:update', 'role:delete', 'role:read'])).name,
  )
  const role = await app.role(['user:delete', 'role:read'])
  await app.audit()
  const update = (permissions: string[]) =>
    app.call(clerk.token, 'PATCH', `/roles/${role.id}`, { permissions })
  for (const [reply, permission] of [
    [await create('Mine', ['role:read', 'user:delete'], clerk.token), 'user:delete'],
    [await update(['user:delete', 'role:read', 'user:update']), 'user:update'],
    [await update(['role:read']), 'user:delete'],
    [await app.call(clerk.token, 'DELETE', `/roles/${role.id}`), 'user:delete'],
  ] as const)
    expect(reply).toMatchObject({ status: 403, error_code: 2058, data: { permissions: [permission] } })
  expect(await app.audit()).toMatchObject(
    ['role-create', 'role-update', 'role-update', 'role-delete'].map((action) => ({
      action,
      outcome: 'failure',
      error: 'permissionAboveOwn',
    })),
  )
  expect(await update(['user:delete', 'role:update'])).toMatchObject({ status: 200 })
})

test('a change works at once for everybody who holds the role', async () => {
  const role = await app.role([])
  const person = await app.person(role.name)
  expect(await app.call(person.token, 'GET', '/users')).toMatchObject({ status: 403 })
  await app.call(admin.token, 'PATCH', `/roles/${role.id}`, { permissions: ['user:read'] })
  expect(await app.call(person.token, 'GET', '/users')).toMatchObject({ status: 200 })
  await app.call(admin.token, 'PATCH', `/roles/${role.id}`, { permissions: [] })
  expect(await app.call(person.token, 'GET', '/users')).toMatchObject({ status: 403 })
})

test('a role of another company is answered like none, and without the permission nothing is', async () => {
  const foreign = await app.role(['team:read'], app.other.companyId)
  for (const id of [foreign.id, unknown])
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { name: 'Taken over' }],
      ['DELETE', undefined],
    ] as const)
      expect(await app.call(admin.token, method, `/roles/${id}`, body)).toMatchObject({
        status: 404,
        error_code: 2054,
        data: { id },
      })
  const viewer = await app.person('viewer')
  for (const [method, path, body] of [
    ['GET', '/roles', undefined],
    ['GET', `/roles/${foreign.id}`, undefined],
    ['POST', '/roles', { name: 'X', permissions: [] }],
    ['PATCH', `/roles/${foreign.id}`, {}],
    ['DELETE', `/roles/${foreign.id}`, undefined],
  ] as const)
    expect(await app.call(viewer.token, method, path, body)).toMatchObject({ status: 403 })
  await app.call(viewer.token, 'DELETE', '/users/me/sessions')
  expect(await app.call(viewer.token, 'GET', '/roles')).toMatchObject({ status: 401 })
})

test('a role that is given and deleted at once is either given or gone', async () => {
  const person = await app.person()
  const viewer = await app.roleIdOf('viewer')
  for (let round = 0; round < 5; round++) {
    const [mine, invited] = [await app.role([]), await app.role([])]
    const invitation = {
      email: `round${round}@example.com`,
      roleId: invited.id,
      resourceGroupIds: (await app.call(admin.token, 'GET', `/users/${person.id}`)).data.resourceGroupIds,
    }
    const [given, goneMine, made, goneInvited] = await Promise.all([
      app.call(admin.token, 'PATCH', `/users/${person.id}`, { roleId: mine.id }),
      app.call(admin.token, 'DELETE', `/roles/${mine.id}`),
      app.call(admin.token, 'POST', '/invitations', invitation),
      app.call(admin.token, 'DELETE', `/roles/${invited.id}`),
    ])
    for (const [grant, deletion] of [
      [given, goneMine],
      [made, goneInvited],
    ] as const)
      expect([
        [200, 409],
        [400, 200],
      ]).toContainEqual([grant?.status, deletion?.status])
    await app.call(admin.token, 'PATCH', `/users/${person.id}`, { roleId: viewer })
  }
})
