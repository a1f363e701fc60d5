import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Auth, createAuth } from '../support/auth.ts'
import { aGroup, aUser, auditOf, openProvisioning, type ProvisioningApp } from '../support/provisioning.ts'

/** Operation 18, PATCH /v2/entities/scim/config. */

let app: ProvisioningApp
let editor = ''
let viewer = ''

const url = '/v2/entities/scim/config'

beforeAll(async () => {
  app = await openProvisioning()
  editor = await app.roleId('editor')
  viewer = await app.roleId('viewer')
})

afterAll(() => app.close())

beforeEach(async () => {
  await app.database.pool.query('update scim_configs set role_source = null, default_role_id = null')
  await app.database.pool.query('delete from scim_role_mappings')
})

const update = async (body: object) => (await app.call('PATCH', url, body as never)).json()
const config = async () => (await app.call('GET', url)).json().data

test('sets every field, answers the configuration as it is now, and takes back what it answered', async () => {
  const wanted = {
    enabled: true,
    groupSync: true,
    roleSource: 'groups',
    roleMapping: [
      { group: 'Marketing', roleId: editor.toUpperCase() },
      { group: 'marketing team', roleId: viewer },
    ],
    defaultRoleId: viewer.toUpperCase(),
    deprovisionMode: 'soft',
  }
  const reply = await update(wanted)
  expect(reply).toMatchObject({ status: 'success', code: 200 })
  expect(reply.data).toMatchObject({
    ...wanted,
    roleMapping: [
      { group: 'Marketing', roleId: editor },
      { group: 'marketing team', roleId: viewer },
    ],
    defaultRoleId: viewer,
  })
  expect(await config()).toEqual(reply.data)
  expect((await update(reply.data)).data).toEqual(reply.data)
})

test('C02 refuses other types and values, and roles that are unknown or of another company', async () => {
  const before = await config()
  for (const body of [
    { enabled: 'true' },
    { roleSource: 'users' },
    { deprovisionMode: 'hard' },
    { defaultRoleId: 'abc' },
    { unknown: 1 },
    { defaultroleId: viewer },
  ])
    expect(await update(body), JSON.stringify(body)).toMatchObject({ code: 400, error_code: 1 })
  const { rows } = await app.database.pool.query(
    `select id from roles where company_id = $1 and name = 'viewer'`,
    [app.other.companyId],
  )
  for (const roleId of ['f'.repeat(24), rows[0].id]) {
    const refused = { code: 400, error_code: 2050, data: { roleIds: [roleId] } }
    expect(await update({ defaultRoleId: roleId })).toMatchObject(refused)
    expect(await update({ roleMapping: [{ group: 'x', roleId }] })).toMatchObject(refused)
  }
  expect(await config()).toEqual(before)
})

test('C03 refuses a mapping that is no list, too long, names a group twice or has extra keys; the old one stays', async () => {
  await update({ roleMapping: [{ group: 'Stays', roleId: viewer }] })
  for (const roleMapping of [
    { group: 'a', roleId: viewer },
    Array.from({ length: 1_001 }, (_, i) => ({ group: `g${i}`, roleId: viewer })),
    [
      { group: 'Sales', roleId: viewer },
      { group: 'SALES', roleId: editor },
    ],
    [{ group: 'a', roleId: viewer, extra: 1 }],
    [{ group: '', roleId: viewer }],
    [{ group: 'a' }],
  ])
    expect((await update({ roleMapping })).code).toBe(400)
  expect((await update({ roleMapping: [{ group: 'a', roleId: 'f'.repeat(24) }] })).error_code).toBe(2050)
  expect((await config()).roleMapping).toEqual([{ group: 'Stays', roleId: viewer }])
  const many = Array.from({ length: 1_000 }, (_, i) => ({ group: `g${i}`, roleId: viewer }))
  expect((await update({ roleMapping: many })).data.roleMapping).toEqual(many)
})

describe('C04 a role above the caller’s own', () => {
  let rights: string[]

  beforeAll(async () => {
    const { rows } = await app.database.pool.query<{ name: string }>(
      `select resource || ':' || action as name from role_permissions where role_id = $1`,
      [viewer],
    )
    rights = [...new Set([...rows.map(({ name }) => name), 'company:read', 'company:update'])]
  })

  test('can be given neither by a mapping nor as the default', async () => {
    const configurator = await app.personWith('configurator', rights)
    const asConfigurator = async (body: Record<string, unknown>) =>
      (await configurator.call('PATCH', url, body)).json()
    const admin = await app.roleId('admin')
    for (const body of [
      { defaultRoleId: admin },
      {
        roleMapping: [
          { group: 'a', roleId: viewer },
          { group: 'b', roleId: admin },
        ],
      },
    ])
      expect(await asConfigurator(body)).toMatchObject({
        code: 403,
        error_code: 2051,
        data: { roleIds: [admin] },
      })
    expect(await asConfigurator({ defaultRoleId: viewer })).toMatchObject({ code: 200 })
  })

  test('is taken from nobody, by a mapping, the source of roles or the default', async () => {
    const admin = await app.roleId('admin')
    const boss = (await app.scim('POST', '/Users', aUser('boss@acme.example'))).body.id
    const group = (await app.scim('POST', '/Groups', aGroup('Bosses', [boss]))).body.id
    const roleMapping = [{ group: 'Bosses', roleId: admin }]
    const settings = { roleSource: 'groups', roleMapping, defaultRoleId: viewer }
    expect(await update(settings)).toMatchObject({ code: 200 })
    expect(await app.roleOf(boss)).toBe('admin')
    const clerk = await app.personWith('clerk', rights)
    const before = await config()
    const entries = (await auditOf(app, app.companyId)).length
    expect((await clerk.call('PATCH', url, { roleMapping: [] })).json()).toMatchObject({
      code: 403,
      error_code: 2051,
      data: { roleIds: [admin] },
    })
    expect(await config()).toEqual(before)
    expect(await app.roleOf(boss)).toBe('admin')
    expect((await auditOf(app, app.companyId)).slice(entries)).toMatchObject([
      { action: 'scim-config-update', outcome: 'failure', error: 'roleAboveOwn', target_kind: 'scim-config' },
    ])
    // What moves nobody above the caller is the caller's to change.
    expect((await clerk.call('PATCH', url, { groupSync: true, defaultRoleId: viewer })).statusCode).toBe(200)

    // The rules are off, a user is given the role by hand, and the rules would take it.
    await app.scim('DELETE', `/Groups/${group}`)
    const { rows } = await app.database.pool.query(
      'update scim_configs set role_source = null where company_id = $1 returning company_id',
      [app.companyId],
    )
    expect(rows).toHaveLength(1)
    await app.database.pool.query('update users set role_id = $2 where id = $1', [boss, admin])
    expect((await clerk.call('PATCH', url, { roleMapping: [], roleSource: 'groups' })).statusCode).toBe(403)
    expect(await app.roleOf(boss)).toBe('admin')
    expect(await update({ roleMapping: [] })).toMatchObject({ code: 200 })
  })

  test('stands in the way of turning provisioning on, not off', async () => {
    const janitor = await app.personWith('janitor', rights)
    expect((await janitor.call('PATCH', url, { enabled: true })).statusCode).toBe(200)
    expect((await janitor.call('PATCH', url, { enabled: false })).statusCode).toBe(200)
    const refused = (await janitor.call('PATCH', url, { enabled: true })).json()
    expect(refused).toMatchObject({ code: 403, error_code: 2051 })
    expect(refused.data.roleIds).toContain(await app.roleId('admin'))
    expect((await config()).enabled).toBe(false)
    expect(await update({ enabled: true })).toMatchObject({ code: 200 })
  })
})

test('C05 nothing to set changes nothing, what is only read is ignored, null is refused', async () => {
  const before = await config()
  const entries = await auditOf(app, app.companyId, 'scim-config-update')
  expect((await update({})).data).toEqual(before)
  expect((await update({ baseUrl: 'https://evil.example', lastSyncAt: 7 })).data).toEqual(before)
  expect(await auditOf(app, app.companyId, 'scim-config-update')).toHaveLength(entries.length)
  for (const name of [
    'enabled',
    'groupSync',
    'roleSource',
    'roleMapping',
    'defaultRoleId',
    'deprovisionMode',
  ])
    expect((await update({ [name]: null })).code).toBe(400)
  expect((await app.call('PATCH', url)).statusCode).toBe(400)
})

test('C06 of updates at the same time each field stays, and the audit log has every one of them', async () => {
  const before = (await auditOf(app, app.companyId, 'scim-config-update')).length
  for (let round = 0; round < 5; round++) {
    const groupSync = round % 2 === 1
    const roleMapping = [{ group: `round ${round}`, roleId: viewer }]
    const defaultRoleId = round % 2 === 1 ? editor : viewer
    const replies = await Promise.all([
      update({ groupSync }),
      update({ roleMapping }),
      update({ defaultRoleId }),
    ])
    expect(replies.map(({ code }) => code)).toEqual([200, 200, 200])
    expect(await config()).toMatchObject({ groupSync, roleMapping, defaultRoleId })
  }
  await update({ groupSync: true })
  const entries = (await auditOf(app, app.companyId, 'scim-config-update')).slice(before)
  const changed = entries.map(({ details }) => Object.keys(details.changes as object).join())
  expect(changed.filter((name) => name === 'roleMapping')).toHaveLength(5)
  expect(changed.filter((name) => name === 'defaultRoleId')).toHaveLength(5)
  expect(changed.filter((name) => name === 'groupSync').length).toBeGreaterThanOrEqual(5)
})

test('C07 turned off, the very next request of the identity provider is refused, and answered again once it is on', async () => {
  expect((await app.scim('GET', '/Users')).status).toBe(200)
  await update({ enabled: false })
  expect(await app.scim('GET', '/Users')).toMatchObject({ status: 401, body: { status: '401' } })
  expect((await app.other.scim('GET', '/Users')).status).toBe(200)
  await update({ enabled: true })
  expect((await app.scim('GET', '/Users')).status).toBe(200)
})

test('C07 turned off by one process, it is refused by another one at once, also while requests run', async () => {
  const second = await createAuth(app.database)
  const ask = async (process: Auth): Promise<number> => {
    const headers = { authorization: `Bearer ${app.scimToken}` }
    return (await process.app.inject({ url: '/v2/scim/v2/Users?count=0', headers })).statusCode
  }
  for (const process of [app.auth, second]) expect(await ask(process)).toBe(200)
  let isOff = false
  const late: number[] = []
  const running = Array.from({ length: 4 }, async () => {
    for (let asked = 0; asked < 20; ) {
      const wasOff = isOff
      const status = await ask(second)
      if (wasOff) late[asked++] = status
      else expect([200, 401]).toContain(status)
    }
  })
  await update({ enabled: false })
  isOff = true
  await Promise.all(running)
  expect(new Set(late)).toEqual(new Set([401]))
  await second.call(app.admin.accessToken, 'PATCH', url, { enabled: true })
  for (const process of [app.auth, second]) expect(await ask(process)).toBe(200)
  await second.app.close()
})

test('a mapping that would leave the company without an administrator is refused whole', async () => {
  const reply = await app.scim('POST', '/Users', aUser(app.admin.email))
  expect(reply).toMatchObject({ status: 201, body: { id: app.admin.id } })
  const before = await config()
  expect(await update({ roleSource: 'groups', defaultRoleId: viewer })).toMatchObject({
    code: 409,
    error_code: 2023,
  })
  expect(await config()).toEqual(before)
  expect(await app.roleOf(app.admin.id)).toBe('admin')
})

test('a role that is deleted gives nothing', async () => {
  const { rows } = await app.database.pool.query<{ id: string }>(
    `insert into roles (id, company_id, name) values ('a00000000000000000000003', $1, 'short-lived') returning id`,
    [app.companyId],
  )
  const gone = rows[0]?.id
  const roleMapping = [
    { group: 'a', roleId: gone },
    { group: 'b', roleId: viewer },
  ]
  expect(await update({ roleMapping, defaultRoleId: gone })).toMatchObject({ code: 200 })
  await app.database.pool.query('delete from roles where id = $1', [gone])
  expect(await config()).toMatchObject({ enabled: true, roleMapping: [{ group: 'b', roleId: viewer }] })
  expect(await config()).not.toHaveProperty('defaultRoleId')
})

test('needs Company: update', async () => {
  await app.auth.addUser('viewer@acme.example')
  const { access_token } = (await app.auth.signIn('viewer@acme.example')).json()
  const reply = await app.auth.call(access_token, 'PATCH', url, { enabled: false })
  expect(reply.json()).toMatchObject({ code: 403, data: { resource: 'company', action: 'update' } })
  expect((await app.auth.call(app.scimToken, 'PATCH', url, { enabled: false })).statusCode).toBe(401)
})
