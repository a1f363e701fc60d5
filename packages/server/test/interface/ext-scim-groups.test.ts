import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertDatasource } from '../../src/features/datasources/datasource-service.ts'
import { createCompanyStore } from '../../src/features/identity/people/company/company-store.ts'
import { newId } from '../../src/platform/ids.ts'
import {
  aGroup,
  aUser,
  auditOf,
  openProvisioning,
  type ProvisioningApp,
  patch,
  scimBase,
} from '../support/provisioning.ts'

/** `/Groups` of the SCIM service: teams, their members, and the roles that groups give. */

let app: ProvisioningApp

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

let counter = 0
const fresh = (what: string) => `${what} ${++counter}`

async function user(more: object = {}): Promise<string> {
  const reply = await app.scim('POST', '/Users', aUser(`person-${++counter}@acme.example`, more))
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.id
}

async function group(name: string, members: string[] = []): Promise<string> {
  const reply = await app.scim('POST', '/Groups', aGroup(name, members))
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.id
}

async function membersOf(id: string): Promise<string[]> {
  const { body } = await app.scim('GET', `/Groups/${id}`)
  return body.members.map(({ value }) => value).sort()
}

const change = (id: string, ...operations: object[]) =>
  app.scim('PATCH', `/Groups/${id}`, patch(...operations))

describe('creating a group', () => {
  test('answers 201 with the team and its members', async () => {
    const ada = await user()
    const reply = await app.scim('POST', '/Groups', { ...aGroup('Marketing', [ada]), externalId: 'g-1' })
    expect(reply.status).toBe(201)
    expect(reply.headers.location).toBe(`${scimBase}/Groups/${reply.body.id}`)
    expect(reply.body).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      externalId: 'g-1',
      displayName: 'Marketing',
      members: [{ value: ada, display: expect.any(String), type: 'User', $ref: `${scimBase}/Users/${ada}` }],
      meta: {
        resourceType: 'Group',
        created: expect.any(String),
        lastModified: expect.any(String),
        location: reply.headers.location,
      },
    })
    expect((await app.scim('GET', `/Groups/${reply.body.id}`)).body).toEqual(reply.body)
    expect(await app.teamsOf(ada)).toEqual(['Everyone', 'Marketing'])
    expect((await app.scim('GET', `/Users/${ada}`)).body.groups).toContainEqual({
      value: reply.body.id,
      display: 'Marketing',
      type: 'direct',
      $ref: reply.headers.location,
    })
  })

  test('refuses names and external ids that are taken, whatever the case', async () => {
    await app.scim('POST', '/Groups', { ...aGroup('Taken'), externalId: 'taken' })
    for (const body of [aGroup('TAKEN'), { ...aGroup('Free'), externalId: 'taken' }, aGroup('everyone')])
      expect(await app.scim('POST', '/Groups', body)).toMatchObject({
        status: 409,
        body: { status: '409', scimType: 'uniqueness' },
      })
    const id = await group(fresh('Renamed'))
    expect(await change(id, { op: 'replace', path: 'displayName', value: 'tAKEN' })).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    })
    expect((await app.other.scim('POST', '/Groups', aGroup('Taken'))).status).toBe(201)
  })

  test.each([
    [{ displayName: undefined }, 'invalidValue'],
    [{ displayName: '  ' }, 'invalidValue'],
    [{ displayName: 'x'.repeat(257) }, 'invalidValue'],
    [{ displayName: 'a\u0007b' }, 'invalidValue'],
    [{ members: [7] }, 'invalidValue'],
    [{ members: [{ display: 'x' }] }, 'invalidValue'],
    [{ members: [{ value: 'x' }] }, 'noTarget'],
    [{ members: [{ value: 'f'.repeat(24) }] }, 'noTarget'],
    [{ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'] }, 'invalidSyntax'],
  ])('refuses %j', async (part, scimType) => {
    const reply = await app.scim('POST', '/Groups', { ...aGroup(fresh('Refused')), ...part })
    expect(reply).toMatchObject({ status: 400, body: { scimType } })
  })

  test('takes no people of another company and no service accounts', async () => {
    const foreign = (await app.other.scim('POST', '/Users', aUser('foreign@other.example'))).body.id
    const robot = (await app.auth.addUser('robot@acme.example')).id
    await app.database.pool.query('update users set service_account = true where id = $1', [robot])
    for (const id of [foreign, robot])
      expect(await app.scim('POST', '/Groups', aGroup(fresh('Mixed'), [id]))).toMatchObject({
        status: 400,
        body: { scimType: 'noTarget' },
      })
  })
})

describe('changing a group', () => {
  test('PUT replaces name, external id and all members', async () => {
    const [a, b, c] = [await user(), await user(), await user()]
    const id = await group(fresh('Put'), [a, b])
    const name = fresh('Put again')
    const reply = await app.scim('PUT', `/Groups/${id}`, { ...aGroup(name, [b, c, c]), externalId: 'put' })
    expect(reply).toMatchObject({ status: 200, body: { id, displayName: name, externalId: 'put' } })
    expect(await membersOf(id)).toEqual([b, c].sort())
    const emptied = await app.scim('PUT', `/Groups/${id}`, { displayName: name })
    expect(emptied.body).toMatchObject({ members: [] })
    expect(emptied.body).not.toHaveProperty('externalId')
  })

  test('PATCH adds and removes members in every form that is sent', async () => {
    const [a, b, c] = [await user(), await user(), await user()]
    const id = await group(fresh('Patched'), [a])
    const steps: [object, string[]][] = [
      [{ op: 'Add', path: 'members', value: [{ value: b }, { value: c.toUpperCase() }] }, [a, b, c]],
      [{ op: 'remove', path: `members[value eq "${a}"]` }, [b, c]],
      [{ op: 'Remove', path: 'members', value: [{ value: c, $ref: null }] }, [b]],
      [{ op: 'add', value: { members: [{ value: a }] } }, [a, b]],
      [{ op: 'replace', path: 'members', value: [{ value: c }] }, [c]],
      [{ op: 'add', path: 'members', value: { value: a } }, [a, c]],
      [{ op: 'remove', path: 'members', value: [] }, [a, c]],
      [{ op: 'remove', path: 'members' }, []],
      [{ op: 'replace', value: { id: 'ignored', displayName: `Patched by value ${counter}` } }, []],
    ]
    for (const [operation, members] of steps) {
      const reply = await change(id, operation)
      expect(reply.status, JSON.stringify(reply.body)).toBe(204)
      expect(await membersOf(id)).toEqual(members.toSorted())
    }
    const last = await app.scim('GET', `/Groups/${id}`)
    expect(last.body.displayName).toMatch(/^Patched by value/)
  })

  test('operations hold in their order', async () => {
    const [a, b] = [await user(), await user()]
    const id = await group(fresh('Ordered'), [a])
    await change(
      id,
      { op: 'remove', path: `members[value eq "${a}"]` },
      { op: 'add', path: 'members', value: [{ value: a }, { value: b }] },
      { op: 'remove', path: `members[value eq "${b}"]` },
    )
    expect(await membersOf(id)).toEqual([a])
  })

  test.each([
    [{ op: 'remove' }, 'noTarget'],
    [{ op: 'remove', path: `members[value eq "${'f'.repeat(24)}"]` }, 'noTarget'],
    [{ op: 'remove', path: 'members[display eq "x"]' }, 'invalidPath'],
    [{ op: 'remove', path: 'members[0]' }, 'invalidPath'],
    [{ op: 'replace', path: 'members[value eq "x"].display', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'owner', value: 'x' }, 'invalidPath'],
    [{ op: 'remove', path: 'displayName' }, 'invalidValue'],
    [{ op: 'replace', path: 'id', value: 'x' }, 'mutability'],
  ])('PATCH refuses %j', async (operation, scimType) => {
    const id = await group(fresh('Refuses'))
    expect(await change(id, operation)).toMatchObject({ status: 400, body: { scimType } })
  })

  test('a user who is no longer in any team joins the default team', async () => {
    const a = await user()
    const id = await group(fresh('Last'), [a])
    await app.database.pool.query(
      `delete from team_members where user_id = $1 and team_id = (select id from teams where company_id = $2 and is_default)`,
      [a, app.companyId],
    )
    expect((await app.teamsOf(a))[0]).toMatch(/^Last/)
    await change(id, { op: 'remove', path: 'members' })
    expect(await app.teamsOf(a)).toEqual(['Everyone'])
  })

  test('and into another one, once the company has chosen that', async () => {
    const company = createCompanyStore(app.database.db)
    const everyone = (await company.find(app.companyId))?.defaultTeamId ?? ''
    const { rows } = await app.database.pool.query<{ id: string }>(
      `insert into teams (id, company_id, name) values ($1, $2, 'Newcomers') returning id`,
      ['a'.repeat(24), app.companyId],
    )
    await company.update(app.companyId, { defaultTeamId: rows[0]?.id ?? '' })
    const a = await user()
    expect(await app.teamsOf(a)).toEqual(['Newcomers'])
    const id = await group(fresh('Last'), [a])
    await app.database.pool.query('delete from team_members where user_id = $1 and team_id <> $2', [a, id])
    await change(id, { op: 'remove', path: 'members' })
    expect(await app.teamsOf(a)).toEqual(['Newcomers'])
    await company.update(app.companyId, { defaultTeamId: everyone })
  })

  test('service accounts in a team are neither shown nor touched', async () => {
    const robot = (await app.auth.addUser(`robot-${++counter}@acme.example`)).id
    await app.database.pool.query('update users set service_account = true where id = $1', [robot])
    const id = await group(fresh('With a robot'))
    await app.database.pool.query('insert into team_members values ($1, $2, $3)', [app.companyId, id, robot])
    expect(await membersOf(id)).toEqual([])
    await change(id, { op: 'remove', path: 'members' })
    expect(await app.teamsOf(robot)).toHaveLength(2)
  })
})

describe('deleting a group', () => {
  test('takes the team away and leaves its people a team', async () => {
    const a = await user()
    const id = await group(fresh('Gone'), [a])
    await app.database.pool.query('delete from team_members where user_id = $1 and team_id <> $2', [a, id])
    expect((await app.scim('DELETE', `/Groups/${id}`)).status).toBe(204)
    expect((await app.scim('GET', `/Groups/${id}`)).status).toBe(404)
    expect(await app.teamsOf(a)).toEqual(['Everyone'])
  })

  test('refuses the default team, teams with parents or children, and teams that something belongs to', async () => {
    const refused = { status: 400, body: { scimType: 'mutability' } }
    const { body } = await app.scim('GET', '/Groups?filter=displayName%20eq%20%22Everyone%22')
    const everyone = body.Resources[0]?.id ?? ''
    expect(await app.scim('DELETE', `/Groups/${everyone}`)).toMatchObject(refused)

    const [parent, child] = [await group(fresh('Parent')), await group(fresh('Child'))]
    const relation = [app.companyId, parent, child]
    await app.database.pool.query('insert into team_parents values ($1, $2, $3)', relation)
    expect(await app.scim('DELETE', `/Groups/${parent}`)).toMatchObject(refused)
    expect(await app.scim('DELETE', `/Groups/${child}`)).toMatchObject(refused)

    const member = await user()
    const owner = await group(fresh('Owner'), [member])
    await insertDatasource(app.database.db, {
      companyId: app.companyId,
      name: 'Shop',
      teamIds: [owner],
    })
    expect(await app.scim('DELETE', `/Groups/${owner}`)).toMatchObject(refused)
    expect(await membersOf(owner)).toEqual([member])
  })
})

describe('other companies', () => {
  test('a group of another company answers like one that does not exist', async () => {
    const theirs = (await app.other.scim('POST', '/Groups', aGroup('Theirs'))).body.id
    const nobody = newId()
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', aGroup('Mine')],
      ['PATCH', patch({ op: 'replace', path: 'displayName', value: 'Mine' })],
      ['DELETE', undefined],
    ] as const) {
      const foreign = await app.scim(method, `/Groups/${theirs}`, body)
      const absent = await app.scim(method, `/Groups/${nobody}`, body)
      expect(foreign.status).toBe(404)
      expect(JSON.stringify(foreign.body).replaceAll(theirs, nobody)).toBe(JSON.stringify(absent.body))
    }
    const filter = encodeURIComponent('displayName eq "Theirs"')
    expect((await app.scim('GET', `/Groups?filter=${filter}`)).body.totalResults).toBe(0)
  })
})

describe('listing groups', () => {
  test('filters by displayName whatever its case, by externalId and by id', async () => {
    const name = fresh('Listed "x" \\ (y)')
    const { id } = (await app.scim('POST', '/Groups', { ...aGroup(name), externalId: 'listed' })).body
    for (const filter of [
      `DisplayName Eq ${JSON.stringify(name.toUpperCase())}`,
      'externalId eq "listed"',
      `id eq "${id}"`,
    ]) {
      const reply = await app.scim('GET', `/Groups?filter=${encodeURIComponent(filter)}`)
      expect(reply.body, filter).toMatchObject({ totalResults: 1, Resources: [{ id }] })
    }
    const wrong = await app.scim('GET', `/Groups?filter=${encodeURIComponent('userName eq "x"')}`)
    expect(wrong).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } })
  })

  test('members can be left out', async () => {
    const [first] = (await app.scim('GET', '/Groups?excludedAttributes=members')).body.Resources
    expect(first).not.toHaveProperty('members')
    const id = await group(fresh('Without'))
    const one = await app.scim('GET', `/Groups/${id}?excludedAttributes=members`)
    expect(one.body).not.toHaveProperty('members')
  })
})

describe('roles by groups', () => {
  let admins = ''
  let editors = ''

  beforeAll(async () => {
    admins = await group('Role admins')
    editors = await group('Role editors')
    const reply = await app.call('PATCH', '/v2/entities/scim/config', {
      roleSource: 'groups',
      roleMapping: [
        { group: 'role ADMINS', roleId: await app.roleId('admin') },
        { group: 'Role editors', roleId: await app.roleId('editor') },
      ],
    })
    expect(reply.statusCode, reply.body).toBe(200)
  })

  const add = (id: string, member: string) =>
    change(id, { op: 'add', path: 'members', value: [{ value: member }] })
  const remove = (id: string, member: string) =>
    change(id, { op: 'remove', path: `members[value eq "${member}"]` })

  test('the first group of the mapping gives the role, and losing it gives the next or the default one', async () => {
    const a = await user()
    expect(await app.roleOf(a)).toBe('viewer')
    await add(editors, a)
    expect(await app.roleOf(a)).toBe('editor')
    await add(admins, a)
    expect(await app.roleOf(a)).toBe('admin')
    await remove(admins, a)
    expect(await app.roleOf(a)).toBe('editor')
    await remove(editors, a)
    expect(await app.roleOf(a)).toBe('viewer')
    const changes = (await auditOf(app, app.companyId, 'user-update')).filter(
      ({ target_id, details }) => target_id === a && 'roleId' in details,
    )
    expect(changes).toHaveLength(4)
    expect(changes[0]).toMatchObject({ actor_kind: 'identity-provider', actor_name: 'Directory' })
  })

  test('deleting and renaming a group change the roles of its people', async () => {
    const a = await user()
    const id = await group(fresh('Renamed to a mapped name'), [a])
    expect(await app.roleOf(a)).toBe('viewer')
    await app.scim('DELETE', `/Groups/${editors}`)
    await change(id, { op: 'replace', path: 'displayName', value: 'ROLE EDITORS' })
    expect(await app.roleOf(a)).toBe('editor')
    await app.scim('DELETE', `/Groups/${id}`)
    expect(await app.roleOf(a)).toBe('viewer')
    editors = await group('Role editors')
  })

  test('groups that give no role are written down and stop nothing', async () => {
    const a = await user()
    await group(fresh('Unmapped'), [a])
    expect(await app.roleOf(a)).toBe('viewer')
    expect((await auditOf(app, app.companyId, 'scim-unmatched-value')).at(-1)).toMatchObject({
      target_kind: 'user',
      target_id: a,
      details: { groups: [expect.stringMatching(/^Unmapped/)], users: 1 },
    })
  })

  test('a team that people made gives no role, whatever its name', async () => {
    const a = await user()
    await app.database.pool.query(`delete from teams where id = $1`, [editors])
    await app.database.pool.query(
      `insert into teams (id, company_id, name) values ($1, $2, 'Role editors')`,
      [newId(), app.companyId],
    )
    await app.database.pool.query(
      `insert into team_members select company_id, id, $1 from teams where name = 'Role editors'`,
      [a],
    )
    await group(fresh('Other'), [a])
    expect(await app.roleOf(a)).toBe('viewer')
    await app.database.pool.query(`delete from teams where name = 'Role editors'`)
    editors = await group('Role editors')
  })

  test('a changed mapping holds at once for everybody whom the identity provider keeps', async () => {
    const [a, b] = [await user(), await user()]
    await add(editors, a)
    const byHand = await app.auth.addUser(`by-hand-${++counter}@acme.example`, undefined, 'editor')
    const reply = await app.call('PATCH', '/v2/entities/scim/config', {
      roleMapping: [{ group: 'role admins', roleId: await app.roleId('admin') }],
      defaultRoleId: await app.roleId('editor'),
    })
    expect(reply.statusCode).toBe(200)
    expect(await app.roleOf(a)).toBe('editor')
    expect(await app.roleOf(b)).toBe('editor')
    await app.call('PATCH', '/v2/entities/scim/config', { defaultRoleId: await app.roleId('viewer') })
    expect(await app.roleOf(a)).toBe('viewer')
    expect(await app.roleOf(b)).toBe('viewer')
    expect(await app.roleOf(byHand.id)).toBe('editor')
  })
})
