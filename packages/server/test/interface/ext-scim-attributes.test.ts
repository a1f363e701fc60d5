import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aUser, auditOf, openProvisioning, type ProvisioningApp, patch } from '../support/provisioning.ts'

/** Attributes of a user that the identity provider sends are given back as it has sent them. */

const core = 'urn:ietf:params:scim:schemas:core:2.0:User'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

let app: ProvisioningApp

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

const read = async (id: string) => (await app.scim('GET', `/Users/${id}`)).body

/** Everything of RFC 7643 8.3 that is not read-only, beside a userName. */
const whole = {
  externalId: 'bjensen',
  name: {
    formatted: 'Ms. Barbara J Jensen, III',
    familyName: 'Jensen',
    givenName: 'Barbara',
    middleName: 'Jane',
    honorificPrefix: 'Ms.',
    honorificSuffix: 'III',
  },
  displayName: 'Babs Jensen',
  nickName: 'Babs',
  profileUrl: 'https://login.example.com/bjensen',
  emails: [
    { value: 'Bjensen@Example.com', type: 'work', primary: true },
    { value: 'babs@jensen.org', type: 'home' },
  ],
  addresses: [
    {
      type: 'work',
      streetAddress: '100 Universal City Plaza',
      locality: 'Hollywood',
      region: 'CA',
      postalCode: '91608',
      country: 'USA',
      formatted: '100 Universal City Plaza\nHollywood, CA 91608 USA',
      primary: true,
    },
    { type: 'home', locality: 'Hollywood' },
  ],
  phoneNumbers: [
    { value: '555-555-5555', type: 'work' },
    { value: '555-555-4444', type: 'mobile', primary: true },
  ],
  ims: [{ value: 'someaimhandle', type: 'aim' }],
  photos: [{ value: 'https://photos.example.com/profilephoto/72930000000Ccne/F', type: 'photo' }],
  userType: 'Employee',
  title: 'Tour Guide',
  preferredLanguage: 'en-US',
  locale: 'en-US',
  timezone: 'America/Los_Angeles',
  entitlements: [{ value: 'tours' }],
  roles: [{ value: 'guide', display: 'Guide', primary: true }],
  x509Certificates: [{ value: 'MIIDQzCCAqygAwIBAgICEAAwDQYJKoZIhvcNAQEFBQAw' }],
  [enterprise]: {
    employeeNumber: '701984',
    costCenter: '4130',
    organization: 'Universal Studios',
    division: 'Theme Park',
    department: 'Tour Operations',
    manager: {
      value: '26118915-6090-4610-87e4-49d8ca9f808d',
      $ref: '../Users/26118915',
      displayName: 'John Smith',
    },
  },
}

test('POST, GET, PUT and a list give back what was sent', async () => {
  const userName = app.anAddress()
  const created = await app.scim('POST', '/Users', {
    schemas: [core, enterprise],
    userName,
    ...whole,
    active: true,
  })
  expect(created).toMatchObject({ status: 201, body: whole })
  const { id } = created.body
  expect(created.body.schemas).toEqual([core, enterprise])
  expect(await read(id)).toEqual(created.body)
  const filter = encodeURIComponent(`id eq "${id}"`)
  expect((await app.scim('GET', `/Users?filter=${filter}`)).body.Resources).toEqual([created.body])

  const changed = {
    ...whole,
    displayName: 'B',
    emails: [{ value: 'b@example.com', type: 'other' }],
    nickName: null,
  }
  const put = await app.scim('PUT', `/Users/${id}`, { userName, ...changed })
  const { nickName: _, ...kept } = changed
  expect(put).toMatchObject({ status: 200, body: kept })
  expect(put.body).not.toHaveProperty('nickName')
  expect(await read(id)).toEqual(put.body)

  const bare = await app.scim('PUT', `/Users/${id}`, { userName })
  expect(Object.keys(bare.body).sort()).toEqual(
    ['active', 'displayName', 'emails', 'groups', 'id', 'meta', 'name', 'schemas', 'userName'].sort(),
  )
  expect(bare.body).toMatchObject({
    schemas: [core],
    displayName: userName,
    emails: [{ value: userName, type: 'work', primary: true }],
  })
})

test('a repeated PUT is no change in the audit log', async () => {
  const userName = app.anAddress()
  const body = { userName, ...whole, externalId: 'repeated' }
  const id = (await app.scim('POST', '/Users', body)).body.id
  const changes = async () =>
    (await auditOf(app, app.companyId, 'user-update')).filter((row) => row.target_id === id)
  for (let i = 0; i < 2; i++) await app.scim('PUT', `/Users/${id}`, body)
  expect(await changes()).toEqual([])
  await app.scim('PUT', `/Users/${id}`, { ...body, displayName: 'Other', title: 'Other' })
  expect(await changes()).toMatchObject([{ details: { fields: ['jobTitle', 'displayName', 'title'] } }])
})

test('what people change about themselves is shown instead of what was sent', async () => {
  const userName = app.anAddress()
  const id = (await app.scim('POST', '/Users', { userName, ...whole, externalId: 'own' })).body.id
  await app.auth.accounts.setPassword(userName, 'a field of 7 poppies')
  const { access_token } = (await app.auth.signIn(userName)).json()
  const own = { firstName: 'Barb', jobTitle: 'Pilot', phone: '1', language: 'fr' as const }
  expect((await app.auth.call(access_token, 'PATCH', '/v2/entities/users/me', own)).statusCode).toBe(200)
  expect(await read(id)).toMatchObject({
    name: { ...whole.name, givenName: 'Barb' },
    title: 'Pilot',
    phoneNumbers: [{ value: '1', type: 'work', primary: true }],
    preferredLanguage: 'fr',
    emails: whole.emails,
  })
})

test('an account has the first name, the last name, the title, a number and a language of what was sent', async () => {
  const { body } = await app.scim('POST', '/Users', {
    userName: app.anAddress(),
    ...whole,
    externalId: 'account',
  })
  const accountOf = async () => (await app.call('GET', `/v2/entities/users/${body.id}`)).json().data
  expect(await accountOf()).toMatchObject({
    firstName: 'Barbara',
    lastName: 'Jensen',
    jobTitle: 'Tour Guide',
    phone: '555-555-4444',
    language: 'en',
  })
  const other = patch(
    { op: 'replace', path: 'preferredLanguage', value: 'de-DE' },
    { op: 'remove', path: 'phoneNumbers[primary eq true]' },
  )
  expect((await app.scim('PATCH', `/Users/${body.id}`, other)).body).toMatchObject({
    preferredLanguage: 'de-DE',
    phoneNumbers: [{ value: '555-555-5555', type: 'work' }],
  })
  expect(await accountOf()).toMatchObject({ phone: '555-555-5555', language: null })
})

describe('PATCH', () => {
  const work = 'emails[type eq "work"]'
  const emails = [
    { value: 'w@x.example', type: 'work', primary: true },
    { value: 'h@x.example', type: 'home' },
  ]

  test.each<[string, object[], object]>([
    [
      'replaces the address of work alone',
      [{ op: 'Replace', path: `${work}.value`, value: 'new@x.example' }],
      { emails: [{ value: 'new@x.example', type: 'work', primary: true }, emails[1]] },
    ],
    [
      'reads the type in any case, and primary as a text',
      [
        { op: 'replace', path: 'EMAILS[TYPE EQ "WORK"].VALUE', value: 'a@x.example' },
        { op: 'replace', path: 'emails[primary eq "True"].display', value: 'A' },
      ],
      { emails: [{ value: 'a@x.example', type: 'work', primary: true, display: 'A' }, emails[1]] },
    ],
    [
      'makes a value that is meant and not there',
      [
        { op: 'Replace', path: 'emails[type eq "other"].value', value: 'o@x.example' },
        { op: 'Add', path: 'addresses[type eq "work"].country', value: 'FR' },
        { op: 'Add', path: 'addresses[type eq "work"].locality', value: 'Paris' },
      ],
      {
        emails: [...emails, { type: 'other', value: 'o@x.example' }],
        addresses: [{ type: 'work', country: 'FR', locality: 'Paris' }],
      },
    ],
    [
      'reads filters of several comparisons',
      [
        {
          op: 'replace',
          path: 'emails[type eq "home" and not (primary eq true)].value',
          value: 'n@x.example',
        },
      ],
      { emails: [emails[0], { value: 'n@x.example', type: 'home' }] },
    ],
    [
      'has one primary value',
      [{ op: 'replace', path: 'emails[type eq "home"].primary', value: 'True' }],
      {
        emails: [
          { value: 'w@x.example', type: 'work' },
          { ...emails[1], primary: true },
        ],
      },
    ],
    [
      'adds a value that becomes the primary one, once',
      Array(2).fill({
        op: 'add',
        path: 'emails',
        value: [{ value: 'p@x.example', type: 'p', primary: true }],
      }),
      {
        emails: [
          { value: 'w@x.example', type: 'work' },
          emails[1],
          { value: 'p@x.example', type: 'p', primary: true },
        ],
      },
    ],
    [
      'merges an object into the value meant',
      [{ op: 'replace', path: work, value: { value: 'm@x.example', display: 'M' } }],
      { emails: [{ value: 'm@x.example', type: 'work', primary: true, display: 'M' }, emails[1]] },
    ],
    ['removes a value', [{ op: 'remove', path: work }], { emails: [emails[1]] }],
    ['removes an address with its kind', [{ op: 'remove', path: `${work}.value` }], { emails: [emails[1]] }],
    ['removes what is not there', [{ op: 'remove', path: 'emails[type eq "x"].value' }], { emails }],
    [
      'replaces all values',
      [{ op: 'replace', path: 'emails', value: [{ value: 'r@x.example' }] }],
      { emails: [{ value: 'r@x.example' }] },
    ],
    [
      'changes parts of the name and leaves the others',
      [
        { op: 'replace', path: 'name', value: { middleName: 'M' } },
        { op: 'add', value: { 'name.honorificPrefix': 'Dr' } },
        { op: 'replace', path: 'name.formatted', value: 'Dr Ada' },
      ],
      {
        name: {
          givenName: 'Ada',
          familyName: 'Lovelace',
          middleName: 'M',
          honorificPrefix: 'Dr',
          formatted: 'Dr Ada',
        },
      },
    ],
    [
      'reads the extension by path, by key and as a whole',
      [
        { op: 'add', path: `${enterprise}:department`, value: 'D' },
        { op: 'add', value: { [`${enterprise}:costCenter`]: 'C' } },
        { op: 'add', value: { [enterprise]: { division: 'V' } } },
        { op: 'add', path: enterprise, value: { organization: 'O' } },
        { op: 'add', path: `${enterprise}:manager`, value: 'm' },
        { op: 'add', path: 'employeeNumber', value: 7 },
      ],
      {
        schemas: [core, enterprise],
        [enterprise]: {
          department: 'D',
          costCenter: 'C',
          division: 'V',
          organization: 'O',
          manager: { value: 'm' },
          employeeNumber: '7',
        },
      },
    ],
    [
      'gives a new manager no name of the former one',
      [
        { op: 'add', path: `${enterprise}:manager`, value: { value: 'm', displayName: 'M' } },
        { op: 'replace', path: `${enterprise}:manager`, value: [{ value: 'n' }] },
      ],
      { [enterprise]: { manager: { value: 'n' } } },
    ],
    [
      'ignores what it does not know where a key names it',
      [
        { op: 'add', value: { favouriteColour: 'red', displayName: 'D' } },
        { op: 'add', path: 'urn:example:2.0:User:favouriteColour', value: 'red' },
        { op: 'add', path: 'password', value: 'secret' },
      ],
      { displayName: 'D', emails },
    ],
  ])('%s', async (_what, operations, expected) => {
    const id = await app.user(app.anAddress(), { emails })
    const reply = await app.scim('PATCH', `/Users/${id}`, patch(...operations))
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    for (const [name, value] of Object.entries(expected)) expect(reply.body[name], name).toEqual(value)
    expect(await read(id)).toEqual(reply.body)
    expect(JSON.stringify(reply.body)).not.toMatch(/red|secret/)
  })

  test('clears what is removed, null or empty', async () => {
    const clearing = [
      ['remove', undefined],
      ['replace', null],
      ['replace', ''],
    ] as const
    for (const [i, [op, value]] of clearing.entries()) {
      const id = await app.user(app.anAddress(), { ...whole, externalId: `clear-${i}` })
      const names = Object.keys(whole).filter((name) => name !== 'name' && name !== enterprise)
      const paths = [...names, `${enterprise}:department`, `${enterprise}:manager`, 'name.middleName']
      const operations = paths.map((path) => ({ op, path, ...(value !== undefined && { value }) }))
      const { status, body } = await app.scim('PATCH', `/Users/${id}`, patch(...operations))
      expect(status, JSON.stringify(body)).toBe(200)
      for (const name of names.filter((each) => each !== 'displayName' && each !== 'emails'))
        expect(body).not.toHaveProperty(name)
      expect(body.displayName).toBe('Barbara Jensen')
      expect(body[enterprise]).not.toHaveProperty('manager')
      expect(body.name).not.toHaveProperty('middleName')
      const gone = patch({ op: 'remove', path: enterprise })
      const after = await app.scim('PATCH', `/Users/${id}`, gone)
      expect(after.body.schemas).toEqual([core])
      expect(after.body).not.toHaveProperty(enterprise)
    }
  })

  test.each<[object, string]>([
    [{ op: 'replace', path: 'displayName[type eq "work"]', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'emails[colour eq "red"].value', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'emails[type eq "work"].colour', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'emails[type co "nothing"].value', value: 'x' }, 'noTarget'],
    [{ op: 'replace', path: 'name.nickName', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'department.name', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'nickName', value: { x: 1 } }, 'invalidValue'],
    [{ op: 'replace', path: 'emails', value: [7] }, 'invalidValue'],
    [{ op: 'replace', path: 'emails[type eq "work"].primary', value: 'perhaps' }, 'invalidValue'],
    [
      { op: 'replace', path: `${enterprise}:manager`, value: [{ value: 'a' }, { value: 'b' }] },
      'invalidValue',
    ],
  ])('refuses %j and changes nothing', async (operation, scimType) => {
    const id = await app.user()
    const before = await read(id)
    const both = patch({ op: 'replace', path: 'nickName', value: 'N' }, operation)
    expect(await app.scim('PATCH', `/Users/${id}`, both)).toMatchObject({ status: 400, body: { scimType } })
    expect(await read(id)).toEqual(before)
  })
})

describe('what is kept is bounded', () => {
  const refused = { status: 400, body: { scimType: 'invalidValue' } }

  test('in the whole', async () => {
    const id = await app.user()
    const long = (length: number) => patch({ op: 'replace', path: 'nickName', value: 'x'.repeat(length) })
    expect((await app.scim('PATCH', `/Users/${id}`, long(60_000))).status).toBe(200)
    expect(await app.scim('PATCH', `/Users/${id}`, long(66_000))).toMatchObject(refused)
    const more = patch({ op: 'add', path: 'userType', value: 'x'.repeat(6_000) })
    expect(await app.scim('PATCH', `/Users/${id}`, more)).toMatchObject(refused)
    expect(
      await app.scim('POST', '/Users', aUser(app.anAddress(), { nickName: 'x'.repeat(66_000) })),
    ).toMatchObject(refused)
  })

  test('and in the number of values, however many requests add them', async () => {
    const id = await app.user(app.anAddress(), { emails: [] })
    const values = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({ value: `${from + i}@x.example` }))
    const add = (from: number, count: number) =>
      app.scim('PATCH', `/Users/${id}`, patch({ op: 'add', path: 'ims', value: values(from, count) }))
    expect((await add(0, 100)).status).toBe(200)
    expect((await add(0, 100)).status).toBe(200)
    expect(await add(100, 1)).toMatchObject(refused)
    expect(await app.scim('POST', '/Users', aUser(app.anAddress(), { ims: values(0, 101) }))).toMatchObject(
      refused,
    )
  })
})

test('attributes and excludedAttributes know the extension', async () => {
  const id = await app.user(app.anAddress(), { ...whole, externalId: 'projected' })
  const keys = async (query: string) =>
    Object.keys((await app.scim('GET', `/Users/${id}?${query}`)).body).sort()
  expect(await keys(`attributes=${enterprise}:department,nickName`)).toEqual([
    'id',
    'nickName',
    'schemas',
    enterprise,
  ])
  expect(await keys(`attributes=${enterprise}`)).toEqual(['id', 'schemas', enterprise])
  expect(await keys(`excludedAttributes=${enterprise}`)).not.toContain(enterprise)
})

test('an erased person leaves nothing of what was sent', async () => {
  const id = await app.user(app.anAddress(), { ...whole, externalId: 'erased' })
  expect((await app.call('DELETE', `/v2/entities/users/${id}`)).statusCode).toBe(200)
  const { rows } = await app.database.pool.query('select 1 from scim_user_attributes where user_id = $1', [
    id,
  ])
  expect(rows).toEqual([])
})
