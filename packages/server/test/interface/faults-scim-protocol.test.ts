import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  aGroup,
  aUser,
  auditOf,
  errorSchema,
  openProvisioning,
  type ProvisioningApp,
  patch,
} from '../support/provisioning.ts'

/** Inputs of docs/faults.md about requests and replies, for users and groups alike, against the SCIM service. */

let app: ProvisioningApp
let counter = 0

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

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
  const post = await app.scim('POST', '/Users', aUser(app.anAddress()), { authorization: 'Bearer non-token' })
  expect(post.status).toBe(401)
})

test('long answers are compressed: none shows a secret', async () => {
  const authorization = `Bearer ${app.scimToken}`
  for (const url of ['/v2/scim/v2/Schemas', '/metrics']) {
    const headers = { authorization, 'accept-encoding': 'gzip' }
    const reply = await app.auth.app.inject({ url, headers })
    expect([url, reply.statusCode, reply.headers['content-encoding']]).toEqual([url, 200, 'gzip'])
    expect(gunzipSync(reply.rawPayload).length).toBeGreaterThan(2 * reply.rawPayload.length)
  }
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

test('I04 a filter that matches no user answers an empty list', async () => {
  for (const filter of ['userName eq "nobody@acme.example"', 'userName eq "no address"', 'id eq "x"']) {
    const { status, body } = await search(filter)
    expect(status).toBe(200)
    expect(body).toMatchObject({ totalResults: 0, itemsPerPage: 0, Resources: [] })
  }
})

test('I05 a filter reads any case, percent signs and escapes', async () => {
  const email = 'fault+plus@acme.example'
  const externalId = 'a "quoted" \\ id \u00e9'
  const id = await app.user(email, { externalId })
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
  'userName eq',
  'userName eq a',
  'userName eq 7',
  'userName eq true',
  'userName is "a"',
  'userName eq "a" and',
  'userName eq "a" externalId eq "b"',
  'userName eq "a" xor externalId eq "b"',
  'not userName eq "a"',
  '(userName eq "a"',
  'userName eq "a")',
  'password eq "a"',
  'active gt true',
  'active eq "perhaps"',
  'meta.lastModified gt "yesterday"',
  'meta.lastModified co "2026"',
  'userName gt null',
  'name eq "Ada"',
  'emails.colour eq "red"',
  'emails[colour eq "red"]',
  'emails[type eq "work" and emails[type eq "home"]]',
  'groups.$ref eq "a"',
  'userName eq "a',
  'userName eq "a\\"',
  'userName eq "\\x"',
  "userName eq 'a'",
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

test('I06 refuses long and deep filters at the cost of any other', async () => {
  for (const filter of [
    `userName eq "${'a'.repeat(10_000)}"`,
    '('.repeat(10_000),
    'emails['.repeat(1_400),
    `userName eq "${'\\"'.repeat(900)}`,
    ' '.repeat(10_000),
  ]) {
    const refuse = async () =>
      expect(await search(filter)).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } })
    await expect(refuse).toCostAtMost(10, () => search('userName eq "ada@corp.example"'))
  }
})

test('I11 paths that are unknown or malformed, and targets that are not there, have their words', async () => {
  const id = await app.user()
  const team = await app.group([id])
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
  const id = await app.user(app.anAddress(), full)
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
  const email = app.anAddress()
  const id = await app.user(email, { title: 'Title', externalId: `put-${email}` })
  const other = await app.group()
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

describe('I19 discovery', () => {
  test('says what the service does', async () => {
    const { status, headers, body } = await app.scim('GET', '/ServiceProviderConfig')
    expect(status).toBe(200)
    expect(headers['content-type']).toMatch(/^application\/scim\+json/)
    expect(body).toMatchObject({
      patch: { supported: true },
      filter: { supported: true, maxResults: 200 },
      bulk: { supported: false },
      sort: { supported: true },
      etag: { supported: false },
      changePassword: { supported: false },
    })
  })

  test('every attribute that a user and a group have is in their schemas, and no other', async () => {
    const several = [{ value: 'x', type: 'work' }]
    const id = await app.user(app.anAddress(), {
      externalId: `all-${++counter}`,
      ...Object.fromEntries(
        ['title', 'nickName', 'profileUrl', 'userType', 'locale', 'timezone'].map((name) => [name, 'x']),
      ),
      preferredLanguage: 'en',
      ...Object.fromEntries(
        ['phoneNumbers', 'ims', 'photos', 'entitlements', 'roles', 'x509Certificates'].map((name) => [
          name,
          several,
        ]),
      ),
      addresses: [{ country: 'FR' }],
      [enterprise]: {
        ...Object.fromEntries(
          ['employeeNumber', 'costCenter', 'organization', 'division', 'department'].map((name) => [
            name,
            'x',
          ]),
        ),
        manager: { value: 'x' },
      },
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
      const own = Object.keys(resource).filter((name) => name !== enterprise)
      expect([...names, ...common].sort()).toEqual(own.sort())
      expect((await app.scim('GET', `/Schemas/${urn}`)).body).toEqual(described)
      expect((await app.scim('GET', `/ResourceTypes/${schema}`)).body).toMatchObject({
        schema: urn,
        endpoint: `/${schema}s`,
      })
    }
    const user = (await app.scim('GET', `/Users/${id}`)).body
    const extension = (await app.scim('GET', `/Schemas/${enterprise}`)).body as unknown as {
      attributes: { name: string }[]
    }
    expect(user.schemas).toContain(enterprise)
    expect(Object.keys(user[enterprise] ?? {}).sort()).toEqual(
      extension.attributes.map(({ name }) => name).sort(),
    )
    expect((await app.scim('GET', '/ResourceTypes/User')).body).toMatchObject({
      schemaExtensions: [{ schema: enterprise, required: false }],
    })
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

describe('the audit log', () => {
  let before = 0

  beforeEach(async () => {
    before = (await auditOf(app, app.companyId, 'scim-request')).length
  })

  const entries = async () => (await auditOf(app, app.companyId, 'scim-request')).slice(before)

  test('has each request once, with who made it, what it was about and what came of it', async () => {
    const id = await app.user()
    await app.scim('GET', `/Users/${id}`)
    await app.scim('GET', `/Users/${'e'.repeat(24)}`)
    await app.scim('POST', '/Users', '{')
    await app.scim('GET', '/Bulk')
    await search('userName is "a"')
    const team = await app.group([id])
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
    await app.scim('POST', '/Users', aUser(app.anAddress(), { password: 'a very secret password' }))
    const text = JSON.stringify(await auditOf(app, app.companyId))
    expect(text).not.toContain('a very secret password')
    expect(text).not.toContain(app.scimToken.slice(5))
  })
})
