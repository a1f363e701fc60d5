import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxMembers } from '../../src/features/identity/provisioning/protocol/group-attributes.ts'
import { linkIdentity, offerSingleSignOn } from '../support/accounts.ts'
import { goodPassword } from '../support/auth.ts'
import {
  aGroup,
  aUser,
  auditOf,
  errorSchema,
  openProvisioning,
  type ProvisioningApp,
  patch,
} from '../support/provisioning.ts'

/** Inputs of docs/faults.md about people and groups, against the SCIM service. */

let app: ProvisioningApp
let counter = 0

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

const search = (filter: string, resource = 'Users') =>
  app.scim('GET', `/${resource}?filter=${encodeURIComponent(filter)}`)

test('I07 the same user twice is 409, by userName and by externalId', async () => {
  const email = app.anAddress()
  await app.user(email, { externalId: `ext-${email}` })
  for (const body of [
    aUser(email),
    aUser(email.toUpperCase()),
    aUser(app.anAddress(), { externalId: `ext-${email}` }),
  ])
    expect(await app.scim('POST', '/Users', body)).toMatchObject({
      status: 409,
      body: { schemas: [errorSchema], status: '409', scimType: 'uniqueness' },
    })
  const other = await app.user()
  const taken = patch({ op: 'replace', path: 'externalId', value: `ext-${email}` })
  expect(await app.scim('PATCH', `/Users/${other}`, taken)).toMatchObject({
    status: 409,
    body: { scimType: 'uniqueness' },
  })
})

test('I08 an address of another company is answered like a free one, and nobody is moved', async () => {
  const theirs = await app.auth.accounts.createUser({
    companyId: app.other.companyId,
    email: 'taken@other.example',
    password: goodPassword,
    roleName: 'viewer',
    teamNames: [],
  })
  // Nor is it told whose domain an address is of.
  await offerSingleSignOn(app.database, app.other.companyId, 'shown.example')
  const create = async (email: string) => {
    const { status, body } = await app.scim('POST', '/Users', aUser(email))
    const id = String(body.id)
    const read = await app.scim('GET', `/Users/${id}`)
    const words = JSON.stringify([status, body, read.status, read.body])
      .replaceAll(id, 'ID')
      .replaceAll(email, 'EMAIL')
      .replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"TIME"')
    return { id, status, words }
  }
  const free = await create(app.anAddress())
  expect(free.status).toBe(201)
  const foreign = await create('taken@other.example')
  expect(foreign.words).toBe(free.words)
  expect((await create('nobody@shown.example')).words).toBe(free.words)
  const { rows } = await app.database.pool.query(
    'select id, company_id, first_name, provisioned, holds_email from users where email = $1 order by created_at',
    ['taken@other.example'],
  )
  expect(rows).toMatchObject([
    { id: theirs.id, company_id: app.other.companyId, first_name: '', provisioned: false, holds_email: true },
    { id: foreign.id, provisioned: true, holds_email: false },
  ])
  expect((await app.auth.signIn('taken@other.example', goodPassword)).statusCode).toBe(200)
  expect((await app.other.scim('POST', '/Users', aUser('nobody@shown.example'))).status).toBe(201)
  // The same again is what it is for an own user.
  expect((await app.scim('POST', '/Users', aUser('taken@other.example'))).status).toBe(409)
})

test('I09 an externalId is an opaque text of the company and never an id', async () => {
  const victim = await app.user()
  const id = await app.user(app.anAddress(), { externalId: victim })
  expect(id).not.toBe(victim)
  expect((await search(`externalId eq "${victim}"`)).body).toMatchObject({ Resources: [{ id }] })
  expect((await app.scim('GET', `/Users/${victim}`)).body.id).toBe(victim)
  await app.user(app.anAddress(), { externalId: '1' })
  const same = await app.other.scim('POST', '/Users', aUser('one@other.example', { externalId: '1' }))
  expect(same.status).toBe(201)
  expect((await search('externalId eq "1"')).body.totalResults).toBe(1)
  for (const externalId of [1, true, { value: 1 }, ['a', 'b']])
    expect(await app.scim('POST', '/Users', aUser(app.anAddress(), { externalId }))).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    })
})

const core = 'urn:ietf:params:scim:schemas:core:2.0:User'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

describe('I10 turning a user off', () => {
  test.each([
    ['Entra ID', patch({ op: 'Replace', path: 'active', value: 'False' })],
    ['Okta', patch({ op: 'replace', value: { active: false } })],
    ['another case', patch({ op: 'add', path: 'Active', value: false })],
    ['a wrapped value', patch({ op: 'Replace', path: 'active', value: [{ value: 'false' }] })],
    ['lower case', { operations: [{ op: 'replace', value: { ACTIVE: 'FALSE' } }] }],
    ['an attribute with its schema', patch({ op: 'Replace', path: `${core}:active`, value: 'False' })],
    ['a schema with its attributes', patch({ op: 'replace', value: { [core]: { active: false } } })],
    [
      'attributes of the extension beside it, with and without its name',
      patch(
        { op: 'Add', path: `${enterprise}:manager`, value: [{ $ref: null, value: '7' }] },
        { op: 'Replace', path: 'manager', value: '7' },
        { op: 'Replace', path: 'manager.value', value: '7' },
        { op: 'Add', path: 'department', value: 'Navy' },
        { op: 'Replace', value: { [enterprise]: { costCenter: '4130' }, employeeNumber: '701984' } },
        { op: 'Replace', path: 'active', value: 'False' },
      ),
    ],
  ])('is read as %s sends it, and the person is still there', async (_who, body) => {
    const id = await app.user()
    const reply = await app.scim('PATCH', `/Users/${id}`, body)
    expect(reply).toMatchObject({ status: 200, body: { id, active: false } })
    expect((await app.scim('GET', `/Users/${id}`)).body.active).toBe(false)
    expect((await search(`id eq "${id}"`)).body.Resources[0]).toMatchObject({ id, active: false })
  })
})

describe('I14 the last administrator', () => {
  test('is neither deactivated nor deleted, and the attempt is recorded', async () => {
    const { id, email } = app.other.admin
    await app.other.scim('POST', '/Users', aUser(email))
    const attempts: ['PATCH' | 'PUT' | 'DELETE', unknown][] = [
      ['PATCH', patch({ op: 'replace', path: 'active', value: false })],
      ['PUT', aUser(email, { active: false })],
      ['DELETE', undefined],
    ]
    for (const [method, body] of attempts) {
      expect(await app.other.scim(method, `/Users/${id}`, body)).toMatchObject({
        status: 400,
        body: { scimType: 'mutability', status: '400' },
      })
      expect((await auditOf(app, app.other.companyId)).at(-1)).toMatchObject({
        action: 'scim-request',
        outcome: 'failure',
        error: 'lastAdministrator',
        actor_kind: 'identity-provider',
        target_kind: 'user',
        target_id: id,
        details: { method, path: '/v2/scim/v2/Users/:id', status: 400, scimType: 'mutability' },
      })
    }
    expect((await app.other.scim('GET', `/Users/${id}`)).body.active).toBe(true)
    expect((await app.auth.get(app.other.admin.accessToken)).statusCode).toBe(200)
  })

  test('is the last one beside whom the identity provider has created and who has no way in', async () => {
    const { id: bossId, email } = app.other.admin
    const created = (await app.other.scim('POST', '/Users', aUser('phantom@other.example'))).body.id
    await app.database.pool.query(
      `update users set role_id = (select role_id from users where id = $2) where id = $1`,
      [created, bossId],
    )
    const off = patch({ op: 'replace', path: 'active', value: false })
    await app.other.scim('POST', '/Users', aUser(email))
    expect(await app.other.scim('PATCH', `/Users/${bossId}`, off)).toMatchObject({
      status: 400,
      body: { scimType: 'mutability' },
    })
    await offerSingleSignOn(app.database, app.other.companyId, 'other.example')
    await linkIdentity(app.database, created)
    expect(await app.other.scim('PATCH', `/Users/${bossId}`, off)).toMatchObject({ status: 200 })
    const on = patch({ op: 'replace', path: 'active', value: true })
    expect(await app.other.scim('PATCH', `/Users/${bossId}`, on)).toMatchObject({ status: 200 })
    await app.other.scim('DELETE', `/Users/${created}`)
  })

  test('is not demoted by losing the group that made one', async () => {
    const admins = (await app.other.scim('POST', '/Groups', aGroup('Admins', [app.other.admin.id]))).body.id
    const { rows } = await app.database.pool.query(
      `select id from roles where company_id = $1 and name = 'admin'`,
      [app.other.companyId],
    )
    const rules = { roleSource: 'groups', roleMapping: [{ group: 'admins', roleId: rows[0].id }] }
    const { access_token } = (await app.auth.signIn(app.other.admin.email)).json()
    const put = await app.auth.call(access_token, 'PATCH', '/v2/entities/scim/config', rules)
    expect(put.statusCode).toBe(200)
    const refused = { status: 400, body: { scimType: 'mutability' } }
    const emptied = patch({ op: 'remove', path: 'members' })
    expect(await app.other.scim('PATCH', `/Groups/${admins}`, emptied)).toMatchObject(refused)
    expect(await app.other.scim('PUT', `/Groups/${admins}`, aGroup('Admins'))).toMatchObject(refused)
    expect(await app.other.scim('PUT', `/Groups/${admins}`, aGroup('Renamed'))).toMatchObject(refused)
    expect(await app.other.scim('DELETE', `/Groups/${admins}`)).toMatchObject(refused)
    expect((await app.other.scim('GET', `/Groups/${admins}`)).body.members).toHaveLength(1)
    expect(await app.roleOf(app.other.admin.id)).toBe('admin')
  })
})

describe('I15 active: false', () => {
  test('ends every session within a second and takes linked accounts away; repeating it changes nothing', async () => {
    const email = app.anAddress()
    const { id } = await app.auth.addUser(email, undefined, 'editor')
    await app.scim('POST', '/Users', aUser(email))
    const { access_token, refresh_token } = (await app.auth.signIn(email)).json()
    await app.database.pool.query(
      `insert into linked_accounts (id, company_id, user_id, provider, name, host, sealed_target)
       values ($1, $2, $1, 'slack', 'Slack', 'hooks.example', '\\x00')`,
      [id, app.companyId],
    )
    expect((await app.auth.get(access_token)).statusCode).toBe(200)
    const off = patch({ op: 'Replace', path: 'active', value: 'False' })
    expect((await app.scim('PATCH', `/Users/${id}`, off)).status).toBe(200)
    app.auth.time.advance(1_000)
    expect((await app.auth.get(access_token)).statusCode).toBe(401)
    expect((await app.auth.refresh(refresh_token)).statusCode).toBe(400)
    expect((await app.auth.signIn(email)).statusCode).toBe(401)
    const { rows } = await app.database.pool.query('select 1 from linked_accounts where user_id = $1', [id])
    expect(rows).toEqual([])

    const again = await app.scim('PATCH', `/Users/${id}`, off)
    expect(again).toMatchObject({ status: 200, body: { active: false } })
    const ends = (await auditOf(app, app.companyId, 'user-deactivate')).filter((row) => row.target_id === id)
    expect(ends).toMatchObject([{ details: { sessions: 1, linkedAccounts: 1 } }])

    const on = patch({ op: 'Replace', path: 'active', value: 'True' })
    expect(await app.scim('PATCH', `/Users/${id}`, on)).toMatchObject({
      status: 200,
      body: { id, active: true },
    })
    expect(await app.roleOf(id)).toBe('editor')
    expect((await app.auth.get(access_token)).statusCode).toBe(401)
    expect((await app.auth.signIn(email)).statusCode).toBe(200)
  })
})

test('I16 no password can be set, nor the address of an administrator in a domain that is not verified', async () => {
  const admin = await app.auth.addUser('boss@acme.example', goodPassword, 'admin')
  const id = admin.id
  const renamed = { status: 400, body: { scimType: 'mutability' } }
  expect(await app.scim('PUT', `/Users/${id}`, aUser('evil@acme.example'))).toMatchObject(renamed)
  const taken = patch({ op: 'replace', path: 'userName', value: 'evil@acme.example' })
  expect(await app.scim('PATCH', `/Users/${id}`, taken)).toMatchObject(renamed)
  const attack = patch(
    { op: 'replace', path: 'emails[type eq "work"].value', value: 'evil@acme.example' },
    { op: 'add', path: 'emails', value: [{ value: 'evil@acme.example', primary: true }] },
    { op: 'replace', path: 'password', value: 'a password of theirs' },
    { op: 'replace', path: 'roles', value: [{ value: 'admin' }] },
    { op: 'replace', value: { userName: 'BOSS@acme.example', password: 'a password of theirs' } },
  )
  const reply = await app.scim('PATCH', `/Users/${id}`, attack)
  expect(reply).toMatchObject({ status: 200, body: { userName: 'boss@acme.example' } })
  expect((await app.auth.signIn('boss@acme.example', 'a password of theirs')).statusCode).toBe(401)
  expect((await app.auth.signIn('boss@acme.example')).statusCode).toBe(200)
  const own = await app.user(app.anAddress(), { roles: [{ value: 'admin' }] })
  expect(await app.roleOf(own)).toBe('viewer')
})

describe('I18 groups', () => {
  test('have room for 50,000 people, not for more, and can be emptied at once', async () => {
    const { rows } = await app.database.pool.query<{ id: string }>(
      `insert into users (id, company_id, email, status, role_id)
       select 'c' || lpad(to_hex(n), 23, '0'), $1, 'crowd-' || n || '@acme.example', 'active', $2
       from generate_series(1, $3::int) n returning id`,
      [app.companyId, await app.roleId('viewer'), maxMembers + 1],
    )
    const ids = rows.map(({ id }) => id)
    const name = `Crowd ${++counter}`
    const id = (await app.scim('POST', '/Groups', aGroup(name))).body.id
    const many = { status: 400, body: { scimType: 'invalidValue' } }
    expect(await app.scim('PUT', `/Groups/${id}`, aGroup(name, ids))).toMatchObject(many)
    const put = await app.scim('PUT', `/Groups/${id}?excludedAttributes=members`, aGroup(name, ids.slice(1)))
    expect(put.status).toBe(200)
    const one = patch({ op: 'add', path: 'members', value: [{ value: ids[0] }] })
    expect(await app.scim('PATCH', `/Groups/${id}`, one)).toMatchObject(many)
    const listed = await app.scim('GET', '/Groups?count=200')
    expect(listed.status).toBe(200)
    const shown = listed.body.Resources.map(({ members }) => members.length)
    expect(shown.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(maxMembers)
    expect(listed.body.itemsPerPage).toBeLessThan(listed.body.totalResults)
    const emptied = patch({ op: 'remove', path: 'members' })
    expect((await app.scim('PATCH', `/Groups/${id}`, emptied)).status).toBe(204)
    expect((await app.scim('GET', `/Groups/${id}`)).body.members).toEqual([])
    const { rows: teamless } = await app.database.pool.query(
      `select count(*)::int as n from users u where email like 'crowd-%'
       and not exists (select 1 from team_members m where m.user_id = u.id)`,
    )
    // The one who was in no group was put in by the statement above, and in no team.
    expect(teamless).toEqual([{ n: 1 }])
  })

  test('whose name is taken are 409', async () => {
    await app.scim('POST', '/Groups', aGroup('Clash'))
    expect(await app.scim('POST', '/Groups', aGroup('clash'))).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    })
  })

  test('are 501 on every route while they are not synchronised', async () => {
    const id = await app.group()
    await app.call('PATCH', '/v2/entities/scim/config', { groupSync: false })
    for (const [method, path, body] of [
      ['GET', '/Groups', undefined],
      ['POST', '/Groups', aGroup('Not now')],
      ['GET', `/Groups/${id}`, undefined],
      ['PUT', `/Groups/${id}`, aGroup('Not now')],
      ['PATCH', `/Groups/${id}`, patch({ op: 'remove', path: 'members' })],
      ['DELETE', `/Groups/${id}`, undefined],
    ] as const)
      expect(await app.scim(method, path, body)).toMatchObject({
        status: 501,
        body: { schemas: [errorSchema], status: '501' },
      })
    const member = await app.user()
    expect((await app.scim('GET', `/Users/${member}`)).body.groups).toEqual([])
    const types = (await app.scim('GET', '/ResourceTypes')).body.Resources.map(({ id: name }) => name)
    expect(types).toEqual(['User'])
    await app.call('PATCH', '/v2/entities/scim/config', { groupSync: true })
    expect((await app.scim('GET', `/Groups/${id}`)).status).toBe(200)
  })
})

describe('I20 repeated requests and two connectors at once', () => {
  let second = ''

  beforeAll(async () => {
    second = (await app.call('POST', '/v2/entities/scim/tokens', { label: 'Second' })).json().data.token
  })

  const from = (i: number) => (i % 2 === 0 ? {} : { authorization: `Bearer ${second}` })

  test('one of many equal creations succeeds', async () => {
    const body = aUser(app.anAddress())
    const users = await Promise.all(
      Array.from({ length: 6 }, (_, i) => app.scim('POST', '/Users', body, from(i))),
    )
    expect(users.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
    const wanted = aGroup(`Raced ${++counter}`)
    const groups = await Promise.all(
      Array.from({ length: 6 }, (_, i) => app.scim('POST', '/Groups', wanted, from(i))),
    )
    expect(groups.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
  })

  test('memberships converge, no matter which request is repeated', async () => {
    const [a, b] = [await app.user(), await app.user()]
    const id = await app.group()
    const both = patch({ op: 'add', path: 'members', value: [{ value: a }, { value: b }] })
    const without = patch({ op: 'remove', path: `members[value eq "${a}"]` })
    for (const [body, members] of [
      [both, [a, b].sort()],
      [without, [b]],
    ] as const) {
      const replies = await Promise.all(
        Array.from({ length: 6 }, (_, i) => app.scim('PATCH', `/Groups/${id}`, body, from(i))),
      )
      expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(204))
      const { body: now } = await app.scim('GET', `/Groups/${id}`)
      expect(now.members.map(({ value }) => value).sort()).toEqual(members)
    }
  })
})
