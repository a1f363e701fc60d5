import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mostMembers } from '../../src/features/provisioning/protocol/group-attributes.ts'
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

/** Inputs of faults.md, 2.6, against the SCIM service. */

let app: ProvisioningApp
let counter = 0

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

const anAddress = () => `fault-${++counter}@acme.example`

async function user(userName = anAddress(), more: object = {}): Promise<string> {
  const reply = await app.scim('POST', '/Users', aUser(userName, more))
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.id
}

async function group(members: string[] = []): Promise<string> {
  const reply = await app.scim('POST', '/Groups', aGroup(`Group ${++counter}`, members))
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.id
}

const search = (filter: string, resource = 'Users') =>
  app.scim('GET', `/${resource}?filter=${encodeURIComponent(filter)}`)

test('I01 without a token, or with another than one of the company, every path answers 401 alike', async () => {
  const { body: first } = await app.scim('GET', '/Users', undefined, { authorization: '' })
  for (const authorization of [
    'Bearer non-token',
    'Bearer',
    `Basic ${Buffer.from(`x:${app.scimToken}`).toString('base64')}`,
    `Bearer ${app.admin.accessToken}`,
    `Bearer scim_${'A'.repeat(43)}`,
    `Bearer ${app.scimToken.slice(0, -1)}`,
    app.scimToken,
  ]) {
    for (const path of ['/Users', '/Groups', '/Bulk', '/ServiceProviderConfig', '/Users/x']) {
      const reply = await app.scim('GET', `${path}?access_token=${app.scimToken}`, undefined, {
        authorization,
      })
      expect(reply.status).toBe(401)
      expect(reply.body).toEqual(first)
      expect(reply.headers['www-authenticate']).toBe('Bearer')
    }
  }
  expect(first).toEqual({ schemas: [errorSchema], status: '401', detail: expect.any(String) })
  const post = await app.scim('POST', '/Users', aUser(anAddress()), { authorization: 'Bearer non-token' })
  expect(post.status).toBe(401)
})

test('I02 the first page is a ListResponse with numbers, names, mails and whether people are active', async () => {
  const { status, body } = await app.scim('GET', '/Users?count=1&startIndex=1')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    itemsPerPage: 1,
    startIndex: 1,
    totalResults: expect.any(Number),
    Resources: [
      {
        id: expect.any(String),
        userName: app.admin.email,
        name: { givenName: expect.any(String), familyName: expect.any(String) },
        emails: [{ value: app.admin.email, primary: true }],
        active: true,
      },
    ],
  })
})

test('I03 an id that is none is unknown, not malformed', async () => {
  for (const id of ['00919288221112222', 'x', '%20', 'f'.repeat(25), 'f'.repeat(600), '%00', "'--"]) {
    const reply = await app.scim('GET', `/Users/${id}`)
    expect(reply, id).toMatchObject({ status: 404, body: { schemas: [errorSchema], status: '404' } })
    expect((await app.scim('DELETE', `/Groups/${id}`)).status).toBe(404)
  }
})

test('I04 a filter that matches nobody answers an empty list', async () => {
  for (const filter of ['userName eq "nobody@acme.example"', 'userName eq "no address"', 'id eq "x"']) {
    const { status, body } = await search(filter)
    expect(status).toBe(200)
    expect(body).toMatchObject({ totalResults: 0, itemsPerPage: 0, Resources: [] })
  }
})

test('I05 a filter reads any case, percent signs and escapes', async () => {
  const email = `fault+${++counter}@acme.example`
  const externalId = 'a "quoted" \\ id \u00e9'
  const id = await user(email, { externalId })
  for (const filter of [
    `userName eq "${email}"`,
    `USERNAME EQ "${email.toUpperCase()}"`,
    `  username   Eq   "${email}"  `,
    `externalId eq ${JSON.stringify(externalId)}`,
    `externalId eq "a \\"quoted\\" \\\\ id \\u00e9"`,
  ])
    expect((await search(filter)).body, filter).toMatchObject({ totalResults: 1, Resources: [{ id }] })
  const typed = email.replace('+', '%2B').replace('@', '%40')
  const raw = await app.scim('GET', `/Users?filter=userName+eq+%22${typed}%22`)
  expect(raw.body.totalResults).toBe(1)
  // externalId is opaque: its case counts.
  expect((await search(`externalId eq ${JSON.stringify(externalId.toUpperCase())}`)).body.totalResults).toBe(
    0,
  )
})

test.each([
  'userName co "a"',
  'userName sw "a"',
  'userName ne "a"',
  'userName pr',
  'userName eq',
  'userName eq a',
  'userName eq "a" and externalId eq "b"',
  'userName eq "a" or userName eq "b"',
  'not (userName eq "a")',
  '(userName eq "a")',
  'password eq "a"',
  'active eq true',
  'name.givenName eq "Ada"',
  'userName eq "a',
  'userName eq "a\\"',
  'userName eq "\\x"',
  "userName eq 'a'",
  'emails[type eq "home"].value eq "a"',
  'emails[type eq "work"] eq "a"',
  'userName[value eq "a"] eq "b"',
  'constructor eq "a"',
  '__proto__ eq "a"',
  'eq',
  '"a" eq "a"',
  '',
])('I06 refuses the filter %j', async (filter) => {
  const reply = await search(filter)
  expect(reply).toMatchObject({ status: 400, body: { status: '400', scimType: 'invalidFilter' } })
  expect(reply.body).not.toHaveProperty('Resources')
})

test('I06 refuses long and deep filters at once', async () => {
  for (const filter of [
    `userName eq "${'a'.repeat(10_000)}"`,
    '('.repeat(10_000),
    'emails['.repeat(1_400),
    `userName eq "${'\\"'.repeat(900)}`,
    ' '.repeat(10_000),
  ]) {
    const begun = performance.now()
    expect(await search(filter)).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } })
    expect(performance.now() - begun).toBeLessThan(500)
  }
})

test('I07 the same user twice is 409, by userName and by externalId', async () => {
  const email = anAddress()
  await user(email, { externalId: `ext-${email}` })
  for (const body of [
    aUser(email),
    aUser(email.toUpperCase()),
    aUser(anAddress(), { externalId: `ext-${email}` }),
  ])
    expect(await app.scim('POST', '/Users', body)).toMatchObject({
      status: 409,
      body: { schemas: [errorSchema], status: '409', scimType: 'uniqueness' },
    })
  const other = await user()
  const taken = patch({ op: 'replace', path: 'externalId', value: `ext-${email}` })
  expect(await app.scim('PATCH', `/Users/${other}`, taken)).toMatchObject({
    status: 409,
    body: { scimType: 'uniqueness' },
  })
})

test('I08 an address of another company is 409 like one of this company, and nobody is moved', async () => {
  const theirs = await app.auth.accounts.createUser({
    companyId: app.other.companyId,
    email: 'taken@other.example',
    password: goodPassword,
    roleName: 'viewer',
    teamNames: [],
  })
  const email = anAddress()
  await user(email)
  const foreign = await app.scim('POST', '/Users', aUser('taken@other.example'))
  const own = await app.scim('POST', '/Users', aUser(email))
  expect(foreign.status).toBe(409)
  expect(foreign.body).toEqual(own.body)
  const { rows } = await app.database.pool.query(
    'select company_id, first_name, provisioned from users where id = $1',
    [theirs.id],
  )
  expect(rows).toEqual([{ company_id: app.other.companyId, first_name: '', provisioned: false }])
})

test('I09 an externalId is an opaque text of the company and never an id', async () => {
  const victim = await user()
  const id = await user(anAddress(), { externalId: victim })
  expect(id).not.toBe(victim)
  expect((await search(`externalId eq "${victim}"`)).body).toMatchObject({ Resources: [{ id }] })
  expect((await app.scim('GET', `/Users/${victim}`)).body.id).toBe(victim)
  await user(anAddress(), { externalId: '1' })
  const same = await app.other.scim('POST', '/Users', aUser('one@other.example', { externalId: '1' }))
  expect(same.status).toBe(201)
  expect((await search('externalId eq "1"')).body.totalResults).toBe(1)
  for (const externalId of [1, true, { value: 1 }, ['a', 'b']])
    expect(await app.scim('POST', '/Users', aUser(anAddress(), { externalId }))).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    })
})

describe('I10 turning somebody off', () => {
  test.each([
    ['Entra ID', patch({ op: 'Replace', path: 'active', value: 'False' })],
    ['Okta', patch({ op: 'replace', value: { active: false } })],
    ['another case', patch({ op: 'add', path: 'Active', value: false })],
    ['a wrapped value', patch({ op: 'Replace', path: 'active', value: [{ value: 'false' }] })],
    ['lower case', { operations: [{ op: 'replace', value: { ACTIVE: 'FALSE' } }] }],
  ])('is read as %s sends it, and the person is still there', async (_who, body) => {
    const id = await user()
    const reply = await app.scim('PATCH', `/Users/${id}`, body)
    expect(reply).toMatchObject({ status: 200, body: { id, active: false } })
    expect((await app.scim('GET', `/Users/${id}`)).body.active).toBe(false)
    expect((await search(`id eq "${id}"`)).body.Resources[0]).toMatchObject({ id, active: false })
  })
})

test('I11 paths that are unknown or malformed, and targets that are not there, have their words', async () => {
  const id = await user()
  const team = await group([id])
  const cases: [string, object, string][] = [
    [`/Users/${id}`, { op: 'replace', path: 'favouriteColour', value: 'x' }, 'invalidPath'],
    [`/Users/${id}`, { op: 'replace', path: 'emails[0].value', value: 'x' }, 'invalidPath'],
    [`/Users/${id}`, { op: 'replace', path: 'name.constructor', value: 'x' }, 'invalidPath'],
    [`/Users/${id}`, { op: 'replace', path: '__proto__', value: 'x' }, 'invalidPath'],
    [`/Users/${id}`, { op: 'remove' }, 'noTarget'],
    [`/Groups/${team}`, { op: 'remove' }, 'noTarget'],
    [`/Groups/${team}`, { op: 'remove', path: 'members[value eq "x"]' }, 'noTarget'],
    [`/Groups/${team}`, { op: 'remove', path: 'members[1]' }, 'invalidPath'],
    [`/Groups/${team}`, { op: 'add', path: 'members', value: [{ value: 'f'.repeat(24) }] }, 'noTarget'],
  ]
  for (const [path, operation, scimType] of cases)
    expect(await app.scim('PATCH', path, patch(operation)), JSON.stringify(operation)).toMatchObject({
      status: 400,
      body: { scimType },
    })
  const removal = patch({ op: 'remove', path: `members[value eq "${id}"]` })
  expect((await app.scim('PATCH', `/Groups/${team}`, removal)).status).toBe(204)
  expect((await app.scim('GET', `/Groups/${team}`)).body.members).toEqual([])
})

test('I12 null and empty values clear optional attributes', async () => {
  const full = {
    externalId: `clear-${++counter}`,
    title: 'Title',
    preferredLanguage: 'fr',
    phoneNumbers: [{ value: '1' }],
  }
  const empties: [string, unknown][] = [
    ['externalId', null],
    ['title', ''],
    ['preferredLanguage', null],
    ['phoneNumbers', []],
    ['name.givenName', null],
    ['name.familyName', ''],
  ]
  const id = await user(anAddress(), full)
  for (const [path, value] of empties) {
    const reply = await app.scim('PATCH', `/Users/${id}`, patch({ op: 'Replace', path, value }))
    expect(reply.status, path).toBe(200)
  }
  const { body } = await app.scim('GET', `/Users/${id}`)
  for (const name of ['externalId', 'title', 'preferredLanguage', 'phoneNumbers'])
    expect(body).not.toHaveProperty(name)
  expect(body).toMatchObject({ name: { givenName: '', familyName: '' } })
})

test('I13 PUT clears what it leaves out and ignores what is read-only', async () => {
  const email = anAddress()
  const id = await user(email, { title: 'Title', externalId: `put-${email}` })
  const other = await group()
  const reply = await app.scim('PUT', `/Users/${id}`, {
    ...aUser(email),
    id: 'f'.repeat(24),
    meta: { created: '2001-01-01T00:00:00Z', resourceType: 'Robot' },
    groups: [{ value: other }],
    roles: [{ value: 'admin' }],
  })
  expect(reply).toMatchObject({ status: 200, body: { id, meta: { resourceType: 'User' } } })
  expect(reply.body).not.toHaveProperty('title')
  expect(reply.body).not.toHaveProperty('externalId')
  expect(await app.teamsOf(id)).toEqual(['Everyone'])
  expect(await app.roleOf(id)).toBe('viewer')
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

  test('is not demoted by losing the group that made one', async () => {
    const admins = (await app.other.scim('POST', '/Groups', aGroup('Admins', [app.other.admin.id]))).body.id
    const { rows } = await app.database.pool.query(
      `select id from roles where company_id = $1 and name = 'admin'`,
      [app.other.companyId],
    )
    const rules = { roleSource: 'groups', roleMapping: [{ group: 'admins', roleId: rows[0].id }] }
    expect((await app.other.call('PATCH', '/v2/entities/scim/config', rules)).statusCode).toBe(200)
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
    const email = anAddress()
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

test('I16 neither address nor password of anybody can be set', async () => {
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
  const own = await user(anAddress(), { roles: [{ value: 'admin' }] })
  expect(await app.roleOf(own)).toBe('viewer')
})

test('I17 paging reads small numbers as the least, caps large ones and refuses what is no number', async () => {
  for (const start of ['0', '-5'])
    expect((await app.scim('GET', `/Users?startIndex=${start}`)).body.startIndex).toBe(1)
  const total = (await app.scim('GET', '/Users')).body.totalResults
  for (const count of ['0', '-1'])
    expect((await app.scim('GET', `/Users?count=${count}`)).body).toMatchObject({
      totalResults: total,
      itemsPerPage: 0,
      Resources: [],
    })
  await app.database.pool.query(
    `insert into users (id, company_id, email, status, role_id)
     select 'b' || lpad(to_hex(n), 23, '0'), $1, 'many-' || n || '@acme.example', 'active', $2 from generate_series(1, 250) n`,
    [app.companyId, await app.roleId('viewer')],
  )
  expect((await app.scim('GET', '/Users?count=100000')).body.itemsPerPage).toBe(200)
  expect((await app.scim('GET', '/Users')).body.itemsPerPage).toBe(100)
  for (const query of ['startIndex=abc', 'count=abc', 'count=', 'count=1.5', 'count=1e3', 'count=1&count=2'])
    expect(await app.scim('GET', `/Users?${query}`), query).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    })
})

describe('I18 groups', () => {
  test('have room for 50,000 people, not for more, and can be emptied at once', async () => {
    const { rows } = await app.database.pool.query<{ id: string }>(
      `insert into users (id, company_id, email, status, role_id)
       select 'c' || lpad(to_hex(n), 23, '0'), $1, 'crowd-' || n || '@acme.example', 'active', $2
       from generate_series(1, $3::int) n returning id`,
      [app.companyId, await app.roleId('viewer'), mostMembers + 1],
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
    expect(shown.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(mostMembers)
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
  }, 120_000)

  test('whose name is taken are 409', async () => {
    await app.scim('POST', '/Groups', aGroup('Clash'))
    expect(await app.scim('POST', '/Groups', aGroup('clash'))).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    })
  })

  test('are 501 on every route while they are not synchronised', async () => {
    const id = await group()
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
    const member = await user()
    expect((await app.scim('GET', `/Users/${member}`)).body.groups).toEqual([])
    const types = (await app.scim('GET', '/ResourceTypes')).body.Resources.map(({ id: name }) => name)
    expect(types).toEqual(['User'])
    await app.call('PATCH', '/v2/entities/scim/config', { groupSync: true })
    expect((await app.scim('GET', `/Groups/${id}`)).status).toBe(200)
  })
})

describe('I19 discovery', () => {
  test('says what the service does', async () => {
    const { status, headers, body } = await app.scim('GET', '/ServiceProviderConfig')
    expect(status).toBe(200)
    expect(headers['content-type']).toMatch(/^application\/scim\+json/)
    expect(body).toMatchObject({
      patch: { supported: true },
      filter: { supported: true, maxResults: 200 },
      bulk: { supported: false },
      sort: { supported: false },
      etag: { supported: false },
      changePassword: { supported: false },
    })
  })

  test('every attribute that a user and a group have is in their schemas, and no other', async () => {
    const id = await user(anAddress(), {
      externalId: `all-${++counter}`,
      title: 'x',
      preferredLanguage: 'en',
      phoneNumbers: [{ value: '1' }],
    })
    const team = await app.scim('POST', '/Groups', { ...aGroup(`All ${counter}`, [id]), externalId: 'all' })
    const { Resources } = (await app.scim('GET', '/Schemas')).body
    const common = ['schemas', 'meta']
    for (const [schema, resource] of [
      ['User', (await app.scim('GET', `/Users/${id}`)).body],
      ['Group', team.body],
    ] as const) {
      const urn = `urn:ietf:params:scim:schemas:core:2.0:${schema}`
      const described = Resources.find((each) => each.id === urn) as unknown as {
        attributes: { name: string }[]
      }
      const names = described.attributes.map(({ name }) => name)
      expect([...names, ...common].sort()).toEqual(Object.keys(resource).sort())
      expect((await app.scim('GET', `/Schemas/${urn}`)).body).toEqual(described)
      expect((await app.scim('GET', `/ResourceTypes/${schema}`)).body).toMatchObject({
        schema: urn,
        endpoint: `/${schema}s`,
      })
    }
    expect((await app.scim('GET', '/Schemas/urn:x')).status).toBe(404)
    expect((await app.scim('GET', '/ResourceTypes/Robot')).status).toBe(404)
  })

  test.each(['/ServiceProviderConfig', '/ResourceTypes', '/Schemas', '/ResourceTypes/User'])(
    '%s answers no other method',
    async (path) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        const reply = await app.scim(method, path, method === 'DELETE' ? undefined : {})
        expect(reply).toMatchObject({ status: 405, body: { schemas: [errorSchema], status: '405' } })
        expect(reply.headers.allow).toMatch(/GET/)
      }
    },
  )

  test.each(['', '/', '/Bulk', '/Me', '/.search', '/users', '/Users/x/y', '/Users/'])(
    'there is nothing at %j',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE'] as const) {
        const reply = await app.scim(method, path, method === 'POST' ? {} : undefined)
        expect(reply).toMatchObject({ status: 404, body: { schemas: [errorSchema], status: '404' } })
        expect(reply.headers['content-type']).toMatch(/^application\/scim\+json/)
      }
    },
  )
})

describe('I20 repeated requests and two connectors at once', () => {
  let second = ''

  beforeAll(async () => {
    second = (await app.call('POST', '/v2/entities/scim/tokens', { label: 'Second' })).json().data.token
  })

  const from = (i: number) => (i % 2 === 0 ? {} : { authorization: `Bearer ${second}` })

  test('one of many equal creations succeeds', async () => {
    const body = aUser(anAddress())
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

  test('memberships converge, whoever repeats what', async () => {
    const [a, b] = [await user(), await user()]
    const id = await group()
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

describe('the audit log', () => {
  let before = 0

  beforeEach(async () => {
    before = (await auditOf(app, app.companyId, 'scim-request')).length
  })

  const entries = async () => (await auditOf(app, app.companyId, 'scim-request')).slice(before)

  test('has each request once, with who made it, what it was about and what came of it', async () => {
    const id = await user()
    await app.scim('GET', `/Users/${id}`)
    await app.scim('GET', `/Users/${'e'.repeat(24)}`)
    await app.scim('POST', '/Users', '{')
    await app.scim('GET', '/Bulk')
    await search('userName co "a"')
    const team = await group([id])
    await app.scim('DELETE', `/Groups/${team}`)
    const users = '/v2/scim/v2/Users'
    const request = (method: string, path: string, more: object = {}) => ({
      actor_kind: 'identity-provider',
      actor_name: 'Directory',
      details: { method, path, ...more },
    })
    expect(await entries()).toMatchObject([
      { ...request('POST', users), outcome: 'success', target_kind: 'user', target_id: id },
      { ...request('GET', `${users}/:id`), outcome: 'success', target_id: id },
      { ...request('GET', `${users}/:id`, { status: 404 }), outcome: 'failure', error: 'notFound' },
      { ...request('POST', users, { scimType: 'invalidSyntax' }), outcome: 'failure', error: 'malformed' },
      { ...request('GET', '/v2/scim/v2/*', { status: 404 }), outcome: 'failure', error: 'unknownPath' },
      { ...request('GET', users, { scimType: 'invalidFilter' }), outcome: 'failure', error: 'validation' },
      { ...request('POST', '/v2/scim/v2/Groups'), outcome: 'success', target_kind: 'team', target_id: team },
      { ...request('DELETE', '/v2/scim/v2/Groups/:id'), outcome: 'success', target_id: team },
    ])
  })

  test('has requests that come while provisioning is off, and none with an unknown token', async () => {
    await app.call('PATCH', '/v2/entities/scim/config', { enabled: false })
    await app.scim('GET', '/Users')
    await app.scim('GET', '/Users', undefined, { authorization: 'Bearer x' })
    await app.call('PATCH', '/v2/entities/scim/config', { enabled: true })
    expect(await entries()).toMatchObject([{ outcome: 'failure', error: 'unauthenticated' }])
  })

  test('holds no token and no password', async () => {
    await app.scim('POST', '/Users', aUser(anAddress(), { password: 'a very secret password' }))
    const text = JSON.stringify(await auditOf(app, app.companyId))
    expect(text).not.toContain('a very secret password')
    expect(text).not.toContain(app.scimToken.slice(5))
  })
})
