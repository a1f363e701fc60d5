import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { offerSingleSignOn } from '../support/accounts.ts'
import {
  aGroup,
  aUser,
  openProvisioning,
  type ProvisioningApp,
  patch,
  type ScimUser,
} from '../support/provisioning.ts'

/** What a user who may change the company and its teams tries in order to get a role that groups give. */

const scimConfig = '/v2/entities/scim/config'
const teams = '/v2/entities/teams'

let app: ProvisioningApp
let admin: string
let viewer: string
let attacker: ScimUser
let counter = 0

beforeAll(async () => {
  app = await openProvisioning()
  admin = await app.roleId('admin')
  viewer = await app.roleId('viewer')
  attacker = await app.personWith('attacker', [
    ...['company:read', 'company:update', 'team:read', 'team:create', 'team:update', 'team:delete'],
    ...['user:read', 'user:update'],
  ])
})

afterAll(() => app.close())

/** The group that gives the role of administrators. */
let mapped: string

beforeEach(async () => {
  mapped = `Bosses ${++counter}`
  const roleMapping = [{ group: mapped.toUpperCase(), roleId: admin }]
  const settings = {
    enabled: true,
    groupSync: true,
    roleSource: 'groups',
    defaultRoleId: viewer,
    roleMapping,
  }
  expect((await app.call('PATCH', scimConfig, settings)).statusCode).toBe(200)
})

async function made(reply: Promise<{ statusCode: number; body: string; json(): { data: { id: string } } }>) {
  const { statusCode, body, json } = await reply
  expect(statusCode, body).toBe(200)
  return json.call(await reply).data.id
}

const handMade = (name: string, memberIds: string[], more = {}) =>
  made(attacker.call('POST', teams, { name, memberIds, ...more }))

async function pushed(name: string, members: string[]): Promise<string> {
  const reply = await app.scim('POST', '/Groups', aGroup(name, members))
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.id
}

const add = (id: string, ...members: string[]) =>
  app.scim(
    'PATCH',
    `/Groups/${id}`,
    patch({ op: 'add', path: 'members', value: members.map((value) => ({ value })) }),
  )

async function membersOf(id: string): Promise<string[]> {
  const { rows } = await app.database.pool.query<{ id: string }>(
    'select user_id as id from team_members where team_id = $1 order by 1',
    [id],
  )
  return rows.map((row) => row.id)
}

describe('a team that the identity provider keeps stays as it is while', () => {
  test.each([
    ['groups are not synchronised', { groupSync: false }],
    ['provisioning is off', { enabled: false }],
    ['both are off', { enabled: false, groupSync: false }],
  ])('%s', async (_when, off) => {
    const boss = await app.user()
    const id = await pushed(mapped, [boss])
    expect((await attacker.call('PATCH', scimConfig, off)).statusCode).toBe(200)
    const { rows } = await app.database.pool.query<{ id: string }>(
      'select id from teams where company_id = $1 and is_default',
      [app.companyId],
    )
    const attempts: Parameters<ScimUser['call']>[] = [
      ['PATCH', `${teams}/${id}`, { members: { add: [attacker.id] } }],
      ['PATCH', `${teams}/${id}`, { members: { remove: [boss] } }],
      ['PATCH', `${teams}/${id}`, { name: 'Another name' }],
      ['DELETE', `${teams}/${id}`],
      ['PATCH', `/v2/entities/users/${attacker.id}`, { resourceGroupIds: [rows[0]?.id ?? '', id] }],
    ]
    for (const attempt of attempts)
      expect((await attacker.call(...attempt)).json(), attempt.join(' ')).toMatchObject({
        code: 409,
        error_code: 2078,
        data: { teamIds: [id] },
      })
    expect(
      (await attacker.call('PATCH', '/v2/entities/company', { defaultTeamId: id })).json(),
    ).toMatchObject({
      code: 409,
      error_code: 2078,
    })
    expect(await membersOf(id)).toEqual([boss])
    expect((await app.call('PATCH', scimConfig, { enabled: true, groupSync: true })).statusCode).toBe(200)
    await add(id, await app.user())
    await add(id, attacker.id)
    expect(await app.roleOf(attacker.id)).toBe('admin')
    await app.scim('DELETE', `/Groups/${id}`)
    await app.database.pool.query('update users set role_id = $2 where id = $1', [
      attacker.id,
      attacker.roleId,
    ])
    app.auth.cache.forget()
  })
})

describe('turning the synchronisation of groups on', () => {
  test('needs every permission that people of the company have, turning it off does not', async () => {
    expect((await attacker.call('PATCH', scimConfig, { groupSync: false })).statusCode).toBe(200)
    expect((await attacker.call('PATCH', scimConfig, { groupSync: false })).statusCode).toBe(200)
    const refused = (await attacker.call('PATCH', scimConfig, { groupSync: true })).json()
    expect(refused).toMatchObject({ code: 403, error_code: 2051 })
    expect(refused.data.roleIds).toContain(admin)
    expect((await app.call('GET', scimConfig)).json().data.groupSync).toBe(false)
    expect((await app.call('PATCH', scimConfig, { groupSync: true })).statusCode).toBe(200)
    // As it is already: nothing is turned on.
    expect((await attacker.call('PATCH', scimConfig, { groupSync: true })).statusCode).toBe(200)
  })

  test('and roles by groups needs every permission of the roles that the mapping gives', async () => {
    await app.database.pool.query('update scim_configs set role_source = null')
    const refused = (await attacker.call('PATCH', scimConfig, { roleSource: 'groups' })).json()
    expect(refused).toMatchObject({ code: 403, error_code: 2051, data: { roleIds: [admin] } })
    expect((await app.call('PATCH', scimConfig, { roleSource: 'groups' })).statusCode).toBe(200)
  })
})

describe('a team that people made under the name of a mapped group', () => {
  test.each([
    ['adds a member', (boss: string) => patch({ op: 'add', path: 'members', value: [{ value: boss }] })],
    ['replaces all', (boss: string) => patch({ op: 'replace', path: 'members', value: [{ value: boss }] })],
  ])('has only the people of the identity provider from the moment on that it %s', async (_how, body) => {
    const [boss, colleague] = [await app.user(), await app.user()]
    const id = await handMade(mapped, [attacker.id, colleague])
    expect((await app.scim('POST', '/Groups', aGroup(mapped, [boss]))).status).toBe(409)
    expect((await app.scim('PATCH', `/Groups/${id}`, body(boss))).status).toBe(204)
    expect(await membersOf(id)).toEqual([boss])
    expect(await app.roleOf(boss)).toBe('admin')
    expect(await app.roleOf(attacker.id)).toBe('attacker')
    expect(await app.roleOf(colleague)).toBe('viewer')
    await app.scim('DELETE', `/Groups/${id}`)
  })

  test('and by PUT, or by a change that says nothing about members, has no others', async () => {
    const boss = await app.user()
    const put = await handMade(mapped, [attacker.id])
    expect((await app.scim('PUT', `/Groups/${put}`, aGroup(mapped, [boss]))).status).toBe(200)
    expect(await membersOf(put)).toEqual([boss])
    await app.scim('DELETE', `/Groups/${put}`)

    const silent = await handMade(mapped, [attacker.id])
    const named = patch({ op: 'add', path: 'externalId', value: `silent-${counter}` })
    expect((await app.scim('PATCH', `/Groups/${silent}`, named)).status).toBe(204)
    expect(await membersOf(silent)).toEqual([])
    expect(await app.roleOf(attacker.id)).toBe('attacker')
    expect(await app.teamsOf(attacker.id)).toEqual(['Everyone'])
    await app.scim('DELETE', `/Groups/${silent}`)
  })

  test('gives no role when it is renamed to that name, nor when the mapping comes later', async () => {
    const renamed = await handMade(`Harmless ${counter}`, [attacker.id])
    expect((await attacker.call('PATCH', `${teams}/${renamed}`, { name: mapped })).statusCode).toBe(200)
    await add(renamed, await app.user())
    expect(await app.roleOf(attacker.id)).toBe('attacker')

    const early = await handMade(`Early ${counter}`, [attacker.id])
    const roleMapping = [{ group: `Early ${counter}`, roleId: admin }]
    expect((await app.call('PATCH', scimConfig, { roleMapping })).statusCode).toBe(200)
    await app.scim(
      'PATCH',
      `/Groups/${early}`,
      patch({ op: 'replace', path: 'displayName', value: `Early ${counter}` }),
    )
    expect(await app.roleOf(attacker.id)).toBe('attacker')
    for (const id of [renamed, early]) await app.scim('DELETE', `/Groups/${id}`)
  })

  test('keeps its name when a group is renamed to it', async () => {
    const id = await handMade(mapped, [attacker.id])
    const group = await pushed(`Renamed ${counter}`, [await app.user()])
    const toIt = patch({ op: 'replace', path: 'displayName', value: mapped })
    expect(await app.scim('PATCH', `/Groups/${group}`, toIt)).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    })
    expect(await membersOf(id)).toEqual([attacker.id])
    expect(await app.roleOf(attacker.id)).toBe('attacker')
    expect((await attacker.call('DELETE', `${teams}/${id}`)).statusCode).toBe(200)
  })

  test('gives no role to those who reach the group by the hierarchy of teams', async () => {
    const above = await handMade(`Above ${counter}`, [attacker.id], { reachesAncestors: true })
    const below = await handMade(`Below ${counter}`, [attacker.id], { reachesAncestors: true })
    const id = await pushed(mapped, [await app.user()])
    expect((await attacker.call('PATCH', `${teams}/${id}`, { parentIds: [above] })).statusCode).toBe(200)
    expect((await attacker.call('PATCH', `${teams}/${below}`, { parentIds: [id] })).statusCode).toBe(200)
    await add(id, await app.user())
    await app.call('PATCH', scimConfig, { defaultRoleId: await app.roleId('editor') })
    expect(await app.roleOf(attacker.id)).toBe('attacker')
  })
})

describe('only what the identity provider has said counts', () => {
  test('a user who came into its team in another way gets no role by it, until it names the user', async () => {
    const id = await pushed(mapped, [await app.user()])
    const newcomer = await app.user()
    await app.database.pool.query(
      'insert into team_members (company_id, team_id, user_id) values ($1, $2, $3)',
      [app.companyId, id, newcomer],
    )
    const roleMapping = [
      { group: mapped, roleId: admin },
      { group: 'Another', roleId: viewer },
    ]
    expect((await app.call('PATCH', scimConfig, { roleMapping })).statusCode).toBe(200)
    expect(await app.roleOf(newcomer)).toBe('viewer')
    expect((await add(id, newcomer)).status).toBe(204)
    expect(await app.roleOf(newcomer)).toBe('admin')
  })

  test('a change of the other teams of a user keeps what it has said', async () => {
    const boss = await app.user()
    const id = await pushed(mapped, [boss])
    const other = await handMade(`Other ${counter}`, [])
    const url = `/v2/entities/users/${boss}`
    const { resourceGroupIds } = (await app.call('GET', url)).json().data
    const wanted = { resourceGroupIds: [...resourceGroupIds, other] }
    expect((await app.call('PATCH', url, wanted)).statusCode).toBe(200)
    await add(id, await app.user())
    const roleMapping = [
      { group: mapped, roleId: admin },
      { group: 'Another', roleId: viewer },
    ]
    expect((await app.call('PATCH', scimConfig, { roleMapping })).statusCode).toBe(200)
    expect(await app.roleOf(boss)).toBe('admin')
  })

  test('the default team takes people by itself and is none that an identity provider can keep', async () => {
    const { body } = await app.scim('GET', '/Groups?filter=displayName%20eq%20%22Everyone%22')
    const everyone = body.Resources[0]?.id ?? ''
    const boss = await app.user()
    const refused = {
      status: 400,
      body: { scimType: 'mutability', detail: expect.stringContaining('default team') },
    }
    expect(await add(everyone, boss)).toMatchObject(refused)
    expect(await app.scim('PUT', `/Groups/${everyone}`, aGroup('Everyone', [boss]))).toMatchObject(refused)
    const { rows } = await app.database.pool.query('select provisioned from teams where id = $1', [everyone])
    expect(rows).toEqual([{ provisioned: false }])
  })

  test('new users of single sign-on stay out of teams that have become the identity provider’s', async () => {
    await offerSingleSignOn(app.database, app.companyId, 'sso.example')
    const id = await handMade(`Landing ${counter}`, [])
    await app.database.pool.query('insert into sso_default_teams values ($1, $2)', [app.companyId, id])
    await add(id, await app.user())
    const { rows } = await app.database.pool.query('select 1 from sso_default_teams where team_id = $1', [id])
    expect(rows).toEqual([])
  })

  test('a service account in a team that is taken over stays in it and gets no role', async () => {
    const robot = (await app.auth.addUser(`robot-${counter}@acme.example`)).id
    await app.database.pool.query('update users set service_account = true where id = $1', [robot])
    const boss = (await app.scim('POST', '/Users', aUser(app.anAddress()))).body.id
    const id = await handMade(mapped, [attacker.id, robot])
    await add(id, boss)
    expect(await membersOf(id)).toEqual([boss, robot].sort())
    expect(await app.roleOf(robot)).toBe('viewer')
  })
})
