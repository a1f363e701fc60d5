import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aUser, openProvisioning, type ProvisioningApp, patch, scimBase } from '../support/provisioning.ts'

/** `/Users` of the SCIM service: RFC 7644 in the shapes that identity providers send. */

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

let app: ProvisioningApp

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

async function create(userName: string, more: object = {}): Promise<string> {
  const reply = await app.scim('POST', '/Users', aUser(userName, more))
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.id
}

const read = async (id: string) => (await app.scim('GET', `/Users/${id}`)).body

describe('creating a user', () => {
  test('answers 201 with the resource, where it is and what was kept of it', async () => {
    const reply = await app.scim(
      'POST',
      '/Users',
      aUser('Grace@Acme.example', {
        externalId: '00ujl29u0le5T6Aj10h7',
        title: 'Rear admiral',
        preferredLanguage: 'fr-FR',
        phoneNumbers: [{ value: '+1 555 0100', type: 'mobile' }, { value: '+1 555 0101' }],
        password: 'ignored, whatever it is',
        nickName: 'Amazing',
        [enterprise]: { department: 'Navy' },
      }),
    )
    expect(reply.status).toBe(201)
    expect(reply.headers['content-type']).toMatch(/^application\/scim\+json/)
    expect(reply.headers.location).toBe(`${scimBase}/Users/${reply.body.id}`)
    expect(reply.body).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', enterprise],
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      externalId: '00ujl29u0le5T6Aj10h7',
      userName: 'grace@acme.example',
      name: { givenName: 'Ada', familyName: 'Lovelace', formatted: 'Ada Lovelace' },
      displayName: 'Ada Lovelace',
      title: 'Rear admiral',
      nickName: 'Amazing',
      preferredLanguage: 'fr-FR',
      active: true,
      emails: [{ value: 'Grace@Acme.example', type: 'work', primary: true }],
      phoneNumbers: [{ value: '+1 555 0100', type: 'mobile' }, { value: '+1 555 0101' }],
      [enterprise]: { department: 'Navy' },
      groups: [{ display: 'Everyone', type: 'direct', value: expect.any(String), $ref: expect.any(String) }],
      meta: {
        resourceType: 'User',
        created: expect.any(String),
        lastModified: expect.any(String),
        location: `${scimBase}/Users/${reply.body.id}`,
      },
    })
    expect(await read(reply.body.id)).toEqual(reply.body)
    expect((await app.auth.signIn('grace@acme.example', 'ignored, whatever it is')).statusCode).toBe(401)
    expect(await app.roleOf(reply.body.id)).toBe('viewer')
    expect(await app.auth.takeMails()).toEqual([])
  })

  test('an inactive one is created disabled', async () => {
    const id = await create('inactive@acme.example', { active: 'False' })
    expect(await read(id)).toMatchObject({ active: false })
  })

  test('the company’s default role is given', async () => {
    await app.database.pool.query('update companies set default_role_id = $1 where id = $2', [
      await app.roleId('editor'),
      app.companyId,
    ])
    expect(await app.roleOf(await create('editor@acme.example'))).toBe('editor')
    await app.database.pool.query('update companies set default_role_id = null where id = $1', [
      app.companyId,
    ])
  })

  test.each([
    [{ userName: undefined }, 'invalidValue'],
    [{ userName: 'no address' }, 'invalidValue'],
    [{ userName: 'a@x.example, b@x.example' }, 'invalidValue'],
    [{ userName: 7 }, 'invalidValue'],
    [{ active: 'perhaps' }, 'invalidValue'],
    [{ active: null }, 'invalidValue'],
    [{ name: 'Ada' }, 'invalidValue'],
    [{ name: { givenName: { x: 1 } } }, 'invalidValue'],
    [{ name: { givenName: 'x'.repeat(201) } }, 'invalidValue'],
    [{ title: 'two\nlines' }, 'invalidValue'],
    [{ externalId: 7 }, 'invalidValue'],
    [{ emails: [7] }, 'invalidValue'],
    [{ schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'] }, 'invalidSyntax'],
  ])('refuses %j', async (part, scimType) => {
    const reply = await app.scim('POST', '/Users', aUser('refused@acme.example', part))
    expect(reply).toMatchObject({ status: 400, body: { status: '400', scimType } })
  })

  test.each([
    ['{', 'invalidSyntax'],
    ['[]', 'invalidSyntax'],
    ['null', 'invalidSyntax'],
    ['', 'invalidSyntax'],
    ['['.repeat(40) + ']'.repeat(40), 'invalidSyntax'],
    ['{"userName":"a\\u0000@x.example"}', 'invalidValue'],
  ])('refuses the body %j', async (text, scimType) => {
    const reply = await app.scim('POST', '/Users', text)
    expect(reply).toMatchObject({ status: 400, body: { scimType } })
  })

  test('keys that reach a prototype change nothing', async () => {
    const text = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"userName":"proto@acme.example"}`
    expect(await app.scim('POST', '/Users', text)).toMatchObject({ status: 201 })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('refuses other content types and bodies that are too large', async () => {
    const xml = await app.scim('POST', '/Users', '<x/>', { 'content-type': 'text/xml' })
    expect(xml).toMatchObject({ status: 415, body: { status: '415', detail: expect.any(String) } })
    const large = await app.scim('POST', '/Users', aUser('x@y.example', { title: 'x'.repeat(1_100_000) }))
    expect(large).toMatchObject({ status: 413, body: { status: '413' } })
    const json = await app.scim('POST', '/Users', aUser('json@acme.example'), {
      'content-type': 'application/json; charset=utf-8',
    })
    expect(json.status).toBe(201)
  })
})

describe('a user of the company whom the identity provider does not keep yet', () => {
  test('is adopted under the same id, with the role and the teams there are', async () => {
    const user = await app.auth.addUser('known@acme.example', undefined, 'editor')
    const reply = await app.scim('POST', '/Users', aUser('KNOWN@acme.example', { externalId: 'ext-known' }))
    expect(reply).toMatchObject({ status: 201, body: { id: user.id, externalId: 'ext-known' } })
    expect(await app.roleOf(user.id)).toBe('editor')
    expect(await app.scim('POST', '/Users', aUser('known@acme.example'))).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    })
  })

  test('and was invited becomes active, and the invitation is revoked', async () => {
    const { id } = await app.auth.addUser('invited@acme.example')
    await app.database.pool.query(`update users set status = 'invited' where id = $1`, [id])
    await app.database.pool.query(
      `insert into user_links (id, kind, secret_hash, user_id, created_at, expires_at)
       values ($1, 'invitation', sha256('x'), $1, now(), now() + interval '1 day')`,
      [id],
    )
    expect(await app.scim('POST', '/Users', aUser('invited@acme.example'))).toMatchObject({
      status: 201,
      body: { id, active: true },
    })
    const { rows } = await app.database.pool.query(
      'select status, l.ended_at is not null as ended from users u join user_links l on l.user_id = u.id where u.id = $1',
      [id],
    )
    expect(rows).toEqual([{ status: 'active', ended: true }])
  })

  test('a service account is seen by no route and never adopted', async () => {
    const { id } = await app.auth.addUser('robot@acme.example')
    await app.database.pool.query('update users set service_account = true where id = $1', [id])
    expect((await app.scim('POST', '/Users', aUser('robot@acme.example'))).status).toBe(409)
    expect((await app.scim('GET', `/Users/${id}`)).status).toBe(404)
    expect((await app.scim('PUT', `/Users/${id}`, aUser('robot@acme.example'))).status).toBe(404)
    const off = patch({ op: 'replace', path: 'active', value: false })
    expect((await app.scim('PATCH', `/Users/${id}`, off)).status).toBe(404)
    expect((await app.scim('DELETE', `/Users/${id}`)).status).toBe(404)
    const filter = encodeURIComponent('userName eq "robot@acme.example"')
    expect((await app.scim('GET', `/Users?filter=${filter}`)).body.totalResults).toBe(0)
  })
})

describe('other companies', () => {
  test('people of another company answer like people who do not exist', async () => {
    const theirs = (await app.other.scim('POST', '/Users', aUser('theirs@other.example'))).body.id
    const nobody = 'f'.repeat(24)
    const off = patch({ op: 'replace', path: 'active', value: false })
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', aUser('theirs@other.example')],
      ['PATCH', off],
      ['DELETE', undefined],
    ] as const) {
      const foreign = await app.scim(method, `/Users/${theirs}`, body)
      const absent = await app.scim(method, `/Users/${nobody}`, body)
      expect(foreign.status).toBe(404)
      expect(JSON.stringify(foreign.body).replaceAll(theirs, nobody)).toBe(JSON.stringify(absent.body))
    }
    for (const filter of [`id eq "${theirs}"`, 'userName eq "theirs@other.example"']) {
      const reply = await app.scim('GET', `/Users?filter=${encodeURIComponent(filter)}`)
      expect(reply.body.totalResults).toBe(0)
    }
    expect((await app.other.scim('GET', `/Users/${theirs}`)).body.active).toBe(true)
  })
})

describe('changing a user', () => {
  test('PUT replaces what is kept and keeps whether a user is active where nothing is said', async () => {
    const id = await create('put@acme.example', { title: 'Clerk', externalId: 'put-1', active: false })
    const reply = await app.scim('PUT', `/Users/${id}`, {
      userName: 'PUT@acme.example',
      name: { familyName: 'B' },
    })
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ id, name: { givenName: '', familyName: 'B' }, active: false })
    expect(reply.body).not.toHaveProperty('title')
    expect(reply.body).not.toHaveProperty('externalId')
  })

  test.each([
    ['a path', patch({ op: 'replace', path: 'name.givenName', value: 'Zoe' })],
    ['an object', patch({ op: 'Replace', value: { name: { givenName: 'Zoe' } } })],
    ['a dotted key', patch({ op: 'Add', value: { 'name.givenName': 'Zoe' } })],
    [
      'a path with its schema',
      patch({ op: 'add', path: 'urn:ietf:params:scim:schemas:core:2.0:User:name.givenName', value: 'Zoe' }),
    ],
    ['a path in another case', patch({ op: 'REPLACE', path: 'NAME.GIVENNAME', value: 'Zoe' })],
    ['a wrapped value', patch({ op: 'replace', path: 'name.givenName', value: [{ value: 'Zoe' }] })],
    ['operations in lower case', { operations: [{ op: 'replace', path: 'name.givenName', value: 'Zoe' }] }],
  ])('PATCH reads %s', async (_name, body) => {
    const found = (await app.scim('GET', '/Users?filter=userName%20eq%20%22patched@acme.example%22')).body
    const id = found.Resources[0]?.id ?? (await create('patched@acme.example'))
    await app.scim('PATCH', `/Users/${id}`, patch({ op: 'replace', path: 'name.givenName', value: 'Ada' }))
    const reply = await app.scim('PATCH', `/Users/${id}`, body)
    expect(reply).toMatchObject({ status: 200, body: { name: { givenName: 'Zoe', familyName: 'Lovelace' } } })
  })

  test('PATCH reads values by their type, and a name is shown as it was sent', async () => {
    const id = await create('phones@acme.example')
    const reply = await app.scim(
      'PATCH',
      `/Users/${id}`,
      patch(
        { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '+44 1' },
        { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+44 2' },
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'else@acme.example' },
        { op: 'Add', path: 'addresses[type eq "work"].streetAddress', value: 'Somewhere 1' },
        { op: 'Add', path: `${enterprise}:manager`, value: 'x' },
        { op: 'Replace', path: 'displayName', value: 'Somebody' },
        { op: 'Replace', value: { 'emails[type eq "work"].value': 'else@acme.example', title: 'Captain' } },
      ),
    )
    expect(reply).toMatchObject({
      status: 200,
      body: {
        userName: 'phones@acme.example',
        displayName: 'Somebody',
        title: 'Captain',
        emails: [{ value: 'else@acme.example', type: 'work', primary: true }],
        phoneNumbers: [
          { value: '+44 1', type: 'work' },
          { value: '+44 2', type: 'mobile' },
        ],
        addresses: [{ type: 'work', streetAddress: 'Somewhere 1' }],
        [enterprise]: { manager: { value: 'x' } },
      },
    })
    const gone = patch({ op: 'remove', path: 'phoneNumbers' }, { op: 'remove', path: 'name' })
    const after = await app.scim('PATCH', `/Users/${id}`, gone)
    expect(after.body).toMatchObject({ name: { givenName: '', familyName: '' } })
    expect(after.body).not.toHaveProperty('phoneNumbers')
  })

  test.each([
    [patch({ op: 'replace', path: 'userName', value: 'other@elsewhere.example' }), 'mutability'],
    [patch({ op: 'replace', value: { userName: 'other@elsewhere.example' } }), 'mutability'],
    [patch({ op: 'replace', path: 'userName', value: 'no address' }), 'invalidValue'],
    [patch({ op: 'replace', path: 'userName[type eq "work"]', value: 'x@acme.example' }), 'invalidPath'],
    [patch({ op: 'replace', path: 'id', value: 'x' }), 'mutability'],
    [patch({ op: 'add', path: 'groups', value: [{ value: 'x' }] }), 'mutability'],
    [patch({ op: 'replace', path: 'userName', value: null }), 'invalidValue'],
    [patch({ op: 'remove', path: 'active' }), 'invalidValue'],
    [patch({ op: 'replace', path: 'title' }), 'invalidValue'],
    [patch({ op: 'replace', value: 'title' }), 'invalidValue'],
    [patch({ op: 'move', path: 'title', value: 'x' }), 'invalidSyntax'],
    [patch({ path: 'title', value: 'x' }), 'invalidSyntax'],
    [patch(), 'invalidSyntax'],
    [{ schemas: ['urn:x'], Operations: [{ op: 'replace', path: 'title', value: 'x' }] }, 'invalidSyntax'],
    [{ Operations: {} }, 'invalidSyntax'],
    [patch({ op: 'replace', path: 7, value: 'x' }), 'invalidPath'],
    [patch({ op: 'replace', path: 'title[', value: 'x' }), 'invalidPath'],
    [patch({ op: 'replace', path: 'title x', value: 'x' }), 'invalidPath'],
    [patch({ op: 'replace', path: 'title[type eq "work"]', value: 'x' }), 'invalidPath'],
    [{ Operations: Array(1001).fill({ op: 'replace', path: 'title', value: 'x' }) }, 'invalidValue'],
  ])('PATCH refuses %j', async (body, scimType) => {
    const found = (await app.scim('GET', '/Users?filter=userName%20eq%20%22stays@acme.example%22')).body
    const id = found.Resources[0]?.id ?? (await create('stays@acme.example', { title: 'Stays' }))
    const reply = await app.scim('PATCH', `/Users/${id}`, body)
    expect(reply).toMatchObject({ status: 400, body: { scimType, status: '400' } })
    expect(await read(id)).toMatchObject({ userName: 'stays@acme.example', title: 'Stays' })
  })

  test('one refused operation undoes the others of its request', async () => {
    const id = await create('atomic@acme.example', { title: 'Before' })
    const half = patch(
      { op: 'replace', path: 'title', value: 'After' },
      { op: 'replace', path: 'x', value: 1 },
    )
    expect((await app.scim('PATCH', `/Users/${id}`, half)).status).toBe(400)
    expect(await read(id)).toMatchObject({ title: 'Before' })
  })
})

describe('deleting a user', () => {
  test('deactivates; afterwards there is no such user, and its identifier is free', async () => {
    const id = await create('back@acme.example', { externalId: 'back-1' })
    expect((await app.scim('DELETE', `/Users/${id}`)).status).toBe(204)
    for (const method of ['GET', 'DELETE'] as const)
      expect((await app.scim(method, `/Users/${id}`)).status).toBe(404)
    const filter = encodeURIComponent('externalId eq "back-1"')
    expect((await app.scim('GET', `/Users?filter=${filter}`)).body.totalResults).toBe(0)
    const { rows } = await app.database.pool.query('select status from users where id = $1', [id])
    expect(rows).toEqual([{ status: 'disabled' }])
    expect(await create('successor@acme.example', { externalId: 'back-1' })).not.toBe(id)
  })

  test('whom an administrator lets in again is there again', async () => {
    const id = await create('revived@acme.example')
    await app.scim('DELETE', `/Users/${id}`)
    await app.database.pool.query(`update users set status = 'active' where id = $1`, [id])
    expect(await read(id)).toMatchObject({ id, active: true })
  })
})

describe('listing users', () => {
  test('pages in a stable order, each person once', async () => {
    const { totalResults } = (await app.scim('GET', '/Users?count=0')).body
    const seen = new Set<string>()
    for (let startIndex = 1; startIndex <= totalResults; startIndex += 3) {
      const page = (await app.scim('GET', `/Users?startIndex=${startIndex}&count=3`)).body
      expect(page).toMatchObject({ totalResults, startIndex, itemsPerPage: page.Resources.length })
      for (const { id } of page.Resources) seen.add(id)
    }
    expect(seen.size).toBe(totalResults)
    expect((await app.scim('GET', '/Users?startIndex=100000')).body).toMatchObject({
      totalResults,
      itemsPerPage: 0,
      Resources: [],
    })
  })

  test('attributes and excludedAttributes choose what is sent', async () => {
    const [first] = (await app.scim('GET', '/Users?count=1&attributes=userName,name.givenName')).body
      .Resources
    expect(Object.keys(first ?? {}).sort()).toEqual(['id', 'name', 'schemas', 'userName'])
    const [rest] = (await app.scim('GET', '/Users?count=1&excludedAttributes=groups,meta')).body.Resources
    expect(rest).not.toHaveProperty('groups')
    expect(rest).toHaveProperty('emails')
  })

  test.each([
    'id eq',
    'externalId eq',
    'emails.value eq',
    'emails[type eq "work"].value eq',
    'EMAILS[TYPE EQ "work"].VALUE EQ',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName eq',
  ])('filters by %s', async (filter) => {
    const email = `filter-${Math.random().toString(36).slice(2)}@acme.example`
    const externalId = `"${email}\\`
    const id = await create(email, { externalId })
    const value = filter.startsWith('id') ? id : filter.startsWith('external') ? externalId : email
    const text = `${filter} ${JSON.stringify(value)}`
    const reply = await app.scim('GET', `/Users?filter=${encodeURIComponent(text)}`)
    expect(reply.body).toMatchObject({ totalResults: 1, Resources: [{ id }] })
  })
})
