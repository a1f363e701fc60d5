import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openProvisioning, type ProvisioningApp, patch } from '../support/provisioning.ts'

/** Filters and sorting of lists (RFC 7644 3.4.2.2 and 3.4.2.3). */

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

let app: ProvisioningApp
/** Everybody of the list, by a short name. */
const ids = new Map<string, string>()
const groups = new Map<string, string>()

/** The administrator of the company is in the list too. */
const people: Record<string, object> = {
  ada: {
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    displayName: 'Countess',
    title: 'Analyst',
    externalId: 'Ext-1',
    emails: [
      { value: 'ada@home.example', type: 'home' },
      { value: 'ada@work.example', type: 'work', primary: true },
    ],
    preferredLanguage: 'en-GB',
    [enterprise]: { department: 'Engines', manager: { value: 'm-1' } },
  },
  bob: {
    name: { givenName: 'Bob', familyName: 'éclair' },
    externalId: 'ext-1',
    emails: [{ value: 'bob@home.example', type: 'home' }],
    phoneNumbers: [{ value: '+1', type: 'mobile' }],
    active: false,
  },
  cyd: { name: { givenName: 'cyd', familyName: 'Love' }, title: 'analyst', emails: [], userType: 'Guest' },
  dan: { name: {}, title: '100%_\\', emails: [], [enterprise]: { department: 'engines' } },
}

beforeAll(async () => {
  app = await openProvisioning()
  ids.set('admin', app.admin.id)
  for (const [name, more] of Object.entries(people))
    ids.set(name, await app.user(`${name}@acme.example`, more))
  for (const [name, members] of [
    ['Makers', ['ada', 'bob']],
    ['Sellers', ['ada']],
    ['Empty', []],
  ] as const) {
    const resource = {
      displayName: name,
      ...(name === 'Sellers' && { externalId: 'G-1' }),
      members: members.map((each) => ({ value: ids.get(each) })),
    }
    groups.set(name, (await app.scim('POST', '/Groups', resource)).body.id)
  }
  const { rows } = await app.database.pool.query(
    `select id from teams where company_id = $1 and name = 'Everyone'`,
    [app.companyId],
  )
  groups.set('Everyone', rows[0].id)
})

afterAll(() => app.close())

async function search(resource: 'Users' | 'Groups', query: Record<string, string>): Promise<string[]> {
  const reply = await app.scim('GET', `/${resource}?${new URLSearchParams(query)}`)
  expect(reply.status, JSON.stringify([query, reply.body])).toBe(200)
  const names = new Map([...(resource === 'Users' ? ids : groups)].map(([name, id]) => [id, name]))
  const found = reply.body.Resources.map(({ id }) => names.get(id) ?? id)
  if (!('count' in query)) expect(reply.body.totalResults).toBe(found.length)
  return found
}

const filtered = async (filter: string, resource: 'Users' | 'Groups' = 'Users') =>
  (
    await search(resource, {
      filter: filter.replaceAll(/\{(\w+)\}/g, (_, name) => ids.get(name) ?? groups.get(name) ?? ''),
    })
  ).sort()

describe('users are filtered', () => {
  test.each<[string, string[]]>([
    ['userName eq "ada@acme.example" and active eq true', ['ada']],
    ['userName eq "ADA@ACME.EXAMPLE" or userName eq "bob@acme.example"', ['ada', 'bob']],
    ['userName eq "\u212aada@acme.example"', []],
    ['active eq false', ['bob']],
    ['active ne "True"', ['bob']],
    ['not (active eq false) and userName sw "c"', ['cyd']],
    ['title eq "Analyst" and (userName sw "ada" or userName sw "bob")', ['ada']],
    ['title eq "Analyst" and userName sw "ada" or userName sw "bob"', ['ada', 'bob']],
    ['title pr', ['ada', 'cyd', 'dan']],
    ['not (title pr)', ['admin', 'bob']],
    ['title eq null', ['admin', 'bob']],
    ['title ne null', ['ada', 'cyd', 'dan']],
    ['title ne "analyst"', ['admin', 'bob', 'dan']],
    ['not (title eq "analyst")', ['admin', 'bob', 'dan']],
    ['title co "%"', ['dan']],
    ['title sw "100%_"', ['dan']],
    ['title ew "\\\\"', ['dan']],
    ['title ew "LYST"', ['ada', 'cyd']],
    ['externalId eq "ext-1"', ['bob']],
    ['externalId sw "Ext"', ['ada']],
    ['externalId pr', ['ada', 'bob']],
    ['id eq "{cyd}" or id eq "x"', ['cyd']],
    ['name.familyName co "LOVE"', ['ada', 'cyd']],
    ['name.familyName eq "ÉCLAIR"', ['bob']],
    ['name.givenName gt "b" and name.givenName le "CYD"', ['bob', 'cyd']],
    ['name.givenName ge "bob" and name.givenName lt "cyd"', ['bob']],
    ['name.formatted eq "ada lovelace"', ['ada']],
    [
      'displayName eq "countess" or displayName eq "Bob Éclair" or displayName eq "dan@acme.example"',
      ['ada', 'bob', 'dan'],
    ],
    ['preferredLanguage sw "en"', ['ada']],
    ['userType eq "guest"', ['cyd']],
    ['emails eq "ada@home.example"', ['ada']],
    ['emails.value eq "ADA@work.example"', ['ada']],
    ['emails[type eq "home"]', ['ada', 'bob']],
    ['emails[type eq "work"]', ['ada', 'admin', 'cyd', 'dan']],
    ['emails[type eq "work"].value eq "cyd@acme.example"', ['cyd']],
    ['emails[type eq "work" and value sw "ada"]', ['ada']],
    ['emails[type eq "home" and primary eq true]', []],
    ['emails[type eq "home" and not (primary pr)].value sw "ada"', ['ada']],
    ['emails[value sw "ada" or value sw "bob"] and active eq true', ['ada']],
    ['emails.type eq "home" and emails.value ew "work.example"', ['ada']],
    ['phoneNumbers[type eq "mobile"].value pr', ['bob']],
    ['phoneNumbers pr', ['bob']],
    ['groups.display eq "makers"', ['ada', 'bob']],
    ['groups[value eq "{Sellers}"]', ['ada']],
    ['department eq "engines"', ['ada', 'dan']],
    [`${enterprise}:department eq "Engines" and ${enterprise}:manager.value eq "m-1"`, ['ada']],
    ['manager.value pr', ['ada']],
    ['meta.created gt "2001-01-01T00:00:00Z" and meta.lastModified lt "2001-01-01T00:00:00+02:00"', []],
    ['urn:ietf:params:scim:schemas:core:2.0:User:title eq "analyst" and title pr', ['ada', 'cyd']],
  ])('by %s', async (filter, found) => {
    expect(await filtered(filter)).toEqual(found)
  })

  test('by when they were changed, to the millisecond that is shown', async () => {
    app.auth.time.advance(1)
    const before = (await app.scim('GET', `/Users/${ids.get('cyd')}`)).body
    const changed = await app.scim(
      'PATCH',
      `/Users/${ids.get('cyd')}`,
      patch({ op: 'add', path: 'nickName', value: 'C' }),
    )
    const { lastModified } = (changed.body as unknown as { meta: { lastModified: string } }).meta
    expect(lastModified > (before as unknown as { meta: { lastModified: string } }).meta.lastModified).toBe(
      true,
    )
    expect(await filtered(`meta.lastModified eq "${lastModified}"`)).toEqual(['cyd'])
    expect(await filtered(`meta.lastModified ge "${lastModified}"`)).toEqual(['cyd'])
    expect(await filtered(`meta.lastModified gt "${lastModified}"`)).toEqual([])
  })

  test('by any instant, also of years that a store writes otherwise', async () => {
    const all = await filtered('userName pr')
    for (const early of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+23:59'])
      expect(await filtered(`meta.created gt "${early}"`)).toEqual(all)
    expect(await filtered('meta.created lt "9999-12-31T23:59:59-23:59"')).toEqual(all)
  })

  test('and a list that is refused names what lists are filtered by', async () => {
    for (const [filter, named] of [
      ['favouriteColour eq "red"', ['username', 'externalid', 'emails', 'meta.lastmodified', 'department']],
      ['userName like "a"', ['eq, ne, co, sw, ew, gt, ge, lt, le or pr', 'and, or, not (...)']],
      ['userName eq', ['a text in quotation marks']],
    ] as const) {
      const { status, body } = await app.scim('GET', `/Users?filter=${encodeURIComponent(filter)}`)
      expect({ status, scimType: body.scimType }).toEqual({ status: 400, scimType: 'invalidFilter' })
      for (const name of named) expect(body.detail).toContain(name)
    }
  })

  test('as the sets that the parts of a filter find say', async () => {
    const parts = [
      'active eq true',
      'title pr',
      'emails[type eq "home"]',
      'name.familyName co "love"',
      'title eq "x"',
    ]
    const found = new Map<string, ReadonlySet<string>>()
    for (const part of parts) found.set(part, new Set(await filtered(part)))
    type Said = readonly [text: string, holds: (name: string) => boolean]
    const { filter } = fc.letrec<{ filter: Said }>((tie) => ({
      filter: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(...parts).map((part): Said => [part, (name) => found.get(part)?.has(name) ?? false]),
        fc
          .tuple(tie('filter'), tie('filter'))
          .map(([[a, inA], [b, inB]]): Said => [`(${a}) and (${b})`, (name) => inA(name) && inB(name)]),
        fc
          .tuple(tie('filter'), tie('filter'))
          .map(([[a, inA], [b, inB]]): Said => [`(${a}) or (${b})`, (name) => inA(name) || inB(name)]),
        tie('filter').map(([a, inA]): Said => [`not (${a})`, (name) => !inA(name)]),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(filter, async ([text, holds]) => {
        expect(await filtered(text)).toEqual([...ids.keys()].filter(holds).sort())
      }),
      { numRuns: 40 },
    )
  })
})

describe('groups are filtered', () => {
  test.each<[string, string[]]>([
    ['displayName eq "MAKERS"', ['Makers']],
    ['displayName sw "m" or externalId eq "G-1"', ['Makers', 'Sellers']],
    ['externalId eq "g-1"', []],
    ['members[value eq "{ada}"]', ['Everyone', 'Makers', 'Sellers']],
    ['members.value eq "{bob}" and displayName ne "everyone"', ['Makers']],
    ['members eq "{bob}" and not (displayName eq "everyone")', ['Makers']],
    ['members[display eq "ADA@acme.example"] and externalId pr', ['Sellers']],
    ['not (members pr)', ['Empty']],
    ['id eq "{Empty}" and members[value eq "{ada}"]', []],
    ['meta.created gt "2001-01-01T00:00:00Z" and displayName co "ell"', ['Sellers']],
  ])('by %s', async (filter, found) => {
    expect(await filtered(filter, 'Groups')).toEqual(found)
  })

  test.each(['userName eq "a"', 'members[type eq "User"]', 'members.$ref pr', 'displayName gt true'])(
    'not by %s',
    async (filter) => {
      const reply = await app.scim('GET', `/Groups?filter=${encodeURIComponent(filter)}`)
      expect(reply).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } })
    },
  )
})

test('a filter finds no user of another company, whatever it says', async () => {
  for (const filter of [
    'userName pr',
    'not (userName eq "x")',
    `id eq "${app.other.admin.id}" or userName pr`,
  ])
    expect(await filtered(filter)).toEqual([...ids.keys()].sort())
  const theirs = await app.other.scim(
    'GET',
    `/Groups?filter=${encodeURIComponent(`members[value eq "${ids.get('ada')}"]`)}`,
  )
  expect(theirs.body.totalResults).toBe(0)
})

describe('lists are sorted', () => {
  test.each<[string, string, string[]]>([
    ['userName', 'ascending', ['ada', 'admin', 'bob', 'cyd', 'dan']],
    ['USERNAME', 'Descending', ['dan', 'cyd', 'bob', 'admin', 'ada']],
    ['name.givenName', 'ascending', ['ada', 'bob', 'cyd', 'admin', 'dan']],
    ['name.givenName', 'descending', ['admin', 'dan', 'cyd', 'bob', 'ada']],
    ['meta.created', 'descending', ['dan', 'cyd', 'bob', 'ada', 'admin']],
    ['emails', 'ascending', ['ada', 'admin', 'bob', 'cyd', 'dan']],
    ['emails.value', 'descending', ['dan', 'cyd', 'bob', 'admin', 'ada']],
    [`${enterprise}:manager.value`, 'ascending', ['ada', 'admin', 'bob', 'cyd', 'dan']],
  ])('by %s, %s', async (sortBy, sortOrder, names) => {
    const found = await search('Users', { sortBy, sortOrder })
    // Those that are equal, or have nothing to be sorted by, come by their ids.
    const rank = new Map(names.map((name, i) => [name, i]))
    const tied = (name: string) => {
      if (sortBy.includes('manager')) return name !== 'ada'
      return sortBy === 'name.givenName' && (name === 'admin' || name === 'dan')
    }
    const firstTied = names.find(tied) ?? ''
    const expected = [...names].sort((a, b) => {
      const difference = (rank.get(tied(a) ? firstTied : a) ?? 0) - (rank.get(tied(b) ? firstTied : b) ?? 0)
      return difference || ((ids.get(a) ?? '') < (ids.get(b) ?? '') ? -1 : 1)
    })
    expect(found).toEqual(expected)
  })

  test('by displayName for groups', async () => {
    expect(await search('Groups', { sortBy: 'displayName' })).toEqual([
      'Empty',
      'Everyone',
      'Makers',
      'Sellers',
    ])
    expect(await search('Groups', { sortBy: 'displayName', sortOrder: 'descending' })).toEqual([
      'Sellers',
      'Makers',
      'Everyone',
      'Empty',
    ])
  })

  test('and paged: each resource once, equal ones always in the same order', async () => {
    for (const sortBy of ['active', 'title', 'userType', 'meta.created']) {
      const seen: string[] = []
      for (let startIndex = 1; startIndex <= ids.size; startIndex += 2)
        seen.push(...(await search('Users', { sortBy, startIndex: String(startIndex), count: '2' })))
      expect(seen).toEqual(await search('Users', { sortBy }))
      expect(new Set(seen).size).toBe(ids.size)
    }
  })

  test.each([
    ['Users', { sortBy: 'favouriteColour' }],
    ['Users', { sortBy: 'name' }],
    ['Users', { sortBy: 'groups' }],
    ['Users', { sortBy: 'addresses' }],
    ['Users', { sortBy: 'emails.type' }],
    ['Users', { sortBy: 'emails[type eq "work"].value' }],
    ['Users', { sortBy: '' }],
    ['Users', { sortBy: 'userName', sortOrder: 'up' }],
    ['Users', { sortBy: 'x', count: '0' }],
    ['Groups', { sortBy: 'userName' }],
    ['Groups', { sortBy: 'members' }],
  ])('not %s by %j', async (resource, query) => {
    const reply = await app.scim('GET', `/${resource}?${new URLSearchParams(query)}`)
    expect(reply).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } })
    expect(reply.body).not.toHaveProperty('Resources')
  })
})

describe('a text that no store keeps', () => {
  const texts = ['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00x"', '"\\ud83d \\ude00"']
  const names = [
    ...['userName', 'externalId', 'id', 'displayName', 'title', 'name.familyName', 'emails', 'emails.value'],
    ...['active', 'meta.lastModified', 'groups.value', 'department', 'emails[type eq "work"].value'],
  ]

  test.each(names)('is refused in a filter by %s', async (name) => {
    for (const text of texts) {
      for (const operator of ['eq', 'ne', 'co', 'sw', 'ew', 'gt']) {
        const filter = encodeURIComponent(`${name} ${operator} ${text}`)
        const reply = await app.scim('GET', `/Users?filter=${filter}`)
        expect(reply, `${name} ${operator} ${text}`).toMatchObject({
          status: 400,
          body: { scimType: 'invalidFilter', detail: expect.stringMatching(/U\+0000|surrogate/) },
        })
      }
    }
  })

  test.each(['displayName', 'externalId', 'id', 'members', 'members.value'])(
    'is refused in a filter of groups by %s',
    async (name) => {
      for (const text of texts) {
        const reply = await app.scim('GET', `/Groups?filter=${encodeURIComponent(`${name} eq ${text}`)}`)
        expect(reply).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } })
        const within = encodeURIComponent(`members[value eq ${text}]`)
        expect(await app.scim('GET', `/Groups?filter=${within}`)).toMatchObject({
          status: 400,
          body: { scimType: 'invalidFilter' },
        })
      }
    },
  )

  test('is refused as it is, in every part of the query', async () => {
    for (const [name, scimType] of [
      ['filter', 'invalidFilter'],
      ['sortBy', 'invalidValue'],
      ['sortOrder', 'invalidValue'],
      ['count', 'invalidValue'],
    ])
      for (const path of ['/Users', '/Groups'])
        for (const value of ['%00', 'userName%00', '%22%00%22'])
          expect(await app.scim('GET', `${path}?${name}=${value}`), `${name}=${value}`).toMatchObject({
            status: 400,
            body: { scimType },
          })
  })

  test('is refused in the path of a PATCH and in every value of a body', async () => {
    const user = `/Users/${ids.get('dan')}`
    const group = `/Groups/${groups.get('Empty')}`
    for (const text of texts) {
      const path = `emails[type eq ${text}].value`
      for (const operation of [
        { op: 'replace', path, value: 'x@acme.example' },
        { op: 'remove', path },
      ])
        expect(await app.scim('PATCH', user, patch(operation))).toMatchObject({
          status: 400,
          body: { scimType: 'invalidPath' },
        })
      const removal = patch({ op: 'remove', path: `members[value eq ${text}]` })
      expect(await app.scim('PATCH', group, removal)).toMatchObject({ status: 400 })
      const value = JSON.parse(text) as string
      for (const part of [
        { displayName: value },
        { externalId: value },
        { userName: value },
        { emails: [{ value }] },
        { [enterprise]: { department: value } },
        { [value]: 'x' },
      ]) {
        const whole = { userName: 'dan@acme.example', ...part }
        expect(await app.scim('PUT', user, whole), JSON.stringify(part)).toMatchObject({
          status: 400,
          body: { scimType: 'invalidValue' },
        })
        expect(await app.scim('PATCH', user, patch({ op: 'add', value: part }))).toMatchObject({
          status: 400,
        })
        expect(await app.scim('POST', '/Groups', { displayName: 'x', ...part })).toMatchObject({
          status: 400,
        })
      }
    }
    // A key that is a path is what it says, and one that is none is ignored.
    const key = patch({ op: 'replace', value: { 'emails[type eq "\\u0000"].value': 'x@acme.example' } })
    expect((await app.scim('PATCH', user, key)).status).toBe(200)
  })
})
