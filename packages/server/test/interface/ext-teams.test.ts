import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertDatasource } from '../../src/features/datasources/datasource-service.ts'
import { type AccountsApp, asOwner, createAccountsApp, type Person } from '../support/accounts.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let app: AccountsApp
let admin: Person
let stranger: Person
let everyone: string

const unknown = 'f'.repeat(24)

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
  admin = await app.person('admin')
  stranger = await app.person('admin', app.other.companyId)
  const { rows } = await relational.pool.query('select id from teams where company_id = $1', [app.companyId])
  everyone = rows[0].id
})

beforeEach(async () => {
  await app.audit()
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

const post = (body: Record<string, unknown>, token = admin.token) => app.call(token, 'POST', '/teams', body)
const patch = (id: string, body: Record<string, unknown>) =>
  app.call(admin.token, 'PATCH', `/teams/${id}`, body)
const read = async (id: string) => (await app.call(admin.token, 'GET', `/teams/${id}`)).data
const remove = (id: string) => app.call(admin.token, 'DELETE', `/teams/${id}`)

describe('a team', () => {
  test('is created below others, read with its relations and counts, changed and deleted', async () => {
    const person = await app.person()
    const parent = String((await post({ name: 'Europe' })).data.id)
    const made = await post({ name: 'France', parentIds: [parent.toUpperCase()], memberIds: [person.id] })
    expect(made).toMatchObject({
      status: 200,
      data: {
        companyId: app.companyId,
        name: 'France',
        description: '',
        isDefault: false,
        reachesAncestors: false,
        parentIds: [parent],
        childIds: [],
        memberCount: 1,
        totalMemberCount: 1,
      },
    })
    const id = String(made.data.id)
    expect(await read(parent)).toMatchObject({ childIds: [id], memberCount: 0, totalMemberCount: 1 })
    await app.audit()
    expect(await patch(id, made.data)).toMatchObject({ status: 200, data: made.data })
    expect(await app.audit()).toEqual([])
    expect(
      await patch(id, { name: 'Gaul', description: 'All of it', reachesAncestors: true, parentIds: [] }),
    ).toMatchObject({
      status: 200,
      data: { name: 'Gaul', description: 'All of it', reachesAncestors: true, parentIds: [] },
    })
    expect(await patch(id, { members: { add: [admin.id], remove: [person.id] } })).toMatchObject({
      status: 200,
      data: { memberCount: 1 },
    })
    expect(await remove(id)).toMatchObject({ status: 200, data: {} })
    expect(await app.call(admin.token, 'GET', `/teams/${id}`)).toMatchObject({
      status: 404,
      error_code: 2071,
    })
    expect(await app.audit()).toMatchObject([
      {
        action: 'team-update',
        details: {
          changed: ['name', 'description', 'reachesAncestors', 'parentIds'],
          from: { name: 'France', parentIds: [parent] },
          to: { name: 'Gaul', parentIds: [] },
        },
      },
      { action: 'team-update', details: { members: { added: [admin.id], removed: [person.id] } } },
      { action: 'team-delete', target_id: id },
    ])
  })

  test('has a name of its own, whatever the case', async () => {
    const { data } = await post({ name: 'Nordics' })
    expect(await post({ name: 'NORDICS' })).toMatchObject({ status: 409, error_code: 2072 })
    const other = await app.team()
    expect(await patch(other, { name: 'nordics' })).toMatchObject({ status: 409, data: { name: 'nordics' } })
    expect(await patch(String(data.id), { name: 'nOrdics' })).toMatchObject({ status: 200 })
    expect(await post({ name: 'Nordics' }, stranger.token)).toMatchObject({ status: 200 })
  })

  test('is found by its name', async () => {
    await post({ name: '100% Sale' })
    const reply = await app.call(admin.token, 'GET', '/teams?search=0%25%20sa')
    expect(reply).toMatchObject({ paginationCount: 1, data: [{ name: '100% Sale' }] })
  })

  test('counts everybody below it once', async () => {
    const [person, colleague] = [await app.person(), await app.person()]
    const top = await app.team()
    const [left, right] = [await app.team([top]), await app.team([top])]
    const bottom = await app.team([left, right])
    await app.putInto(person.id, bottom, left)
    await app.putInto(colleague.id, right)
    expect(await read(top)).toMatchObject({ memberCount: 0, totalMemberCount: 2 })
    expect(await read(left)).toMatchObject({ memberCount: 1, totalMemberCount: 1 })
  })

  test.each([
    {},
    { name: ' ' },
    { name: 'X', parentIds: 'x' },
    { name: 'X', parentIds: [unknown, unknown] },
    { name: 'X', memberIds: [5] },
    { name: 'X', nmae: 'Y' },
    { name: 'X', reachesAncestors: 'true' },
  ])('is not created from %j', async (body) => {
    expect(await post(body)).toMatchObject({ status: 400, error_code: 1 })
  })
})

describe('members', () => {
  test('no user is left without a team', async () => {
    const person = await app.person()
    const team = await app.team()
    await app.putInto(person.id, team)
    for (const reply of [await patch(team, { members: { remove: [person.id] } }), await remove(team)])
      expect(reply).toMatchObject({ status: 409, error_code: 2076, data: { userIds: [person.id] } })
    await app.putInto(person.id, team, everyone)
    expect(await patch(team, { members: { remove: [person.id] } })).toMatchObject({ status: 200 })
  })

  test('taken out of two teams at once, a user stays in one', async () => {
    const person = await app.person()
    const teams = [await app.team(), await app.team()]
    await app.putInto(person.id, ...teams)
    const replies = await Promise.all(teams.map((id) => patch(id, { members: { remove: [person.id] } })))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('people of other companies and unknown ones are the same failure', async () => {
    const team = await app.team()
    for (const id of [unknown, stranger.id]) {
      for (const members of [{ add: [id] }, { remove: [id] }])
        expect(await patch(team, { members })).toMatchObject({
          status: 400,
          error_code: 2028,
          data: { userIds: [id] },
        })
      expect(await post({ name: 'With them', memberIds: [id] })).toMatchObject({
        status: 400,
        error_code: 2028,
      })
    }
    expect(await patch(team, { members: { add: [admin.id], remove: [admin.id] } })).toMatchObject({
      status: 400,
      error_code: 1,
    })
  })

  test('being put in twice and taken out without being in changes nothing', async () => {
    const team = await app.team()
    const person = await app.person()
    await patch(team, { members: { add: [person.id] } })
    await app.audit()
    expect(await patch(team, { members: { add: [person.id] } })).toMatchObject({ data: { memberCount: 1 } })
    expect(await patch(team, { members: { remove: [admin.id] } })).toMatchObject({ status: 200 })
    expect(await app.audit()).toEqual([])
  })
})

describe('the hierarchy', () => {
  test('a team never stands below itself, however long the way', async () => {
    const a = await app.team()
    const b = await app.team([a])
    const c = await app.team([b])
    for (const [child, parent] of [
      [a, a],
      [a, b],
      [a, c],
      [b, c],
    ] as const)
      expect(await patch(child, { parentIds: [parent] })).toMatchObject({
        status: 409,
        error_code: 2073,
        data: { teamIds: [parent] },
      })
    expect(await patch(c, { parentIds: [a, b] })).toMatchObject({
      status: 200,
      data: { parentIds: [a, b].sort() },
    })
    for (const parent of [unknown, app.other.teamId])
      expect(await patch(a, { parentIds: [parent] })).toMatchObject({ status: 400, error_code: 2052 })
  })

  test('two requests at once cannot make a cycle', async () => {
    for (let round = 0; round < 5; round++) {
      const teams = await Promise.all([app.team(), app.team(), app.team(), app.team()])
      const replies = await Promise.all(
        teams.map((id, i) => patch(id, { parentIds: [teams[(i + 1) % teams.length] ?? ''] })),
      )
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409])
    }
  })
})

describe('deleting', () => {
  test('is refused for the default team until another one is chosen', async () => {
    const choose = (defaultTeamId: string) => app.call(admin.token, 'PATCH', '/company', { defaultTeamId })
    const refused = await remove(everyone)
    expect(refused).toMatchObject({ status: 409, error_code: 2075, data: { id: everyone } })
    expect(refused.message).toContain('choose another one in the settings of the company (`defaultTeamId`)')
    const team = await app.team()
    expect(await choose(team)).toMatchObject({ status: 200 })
    expect(await remove(team)).toMatchObject({ status: 409, error_code: 2075, data: { id: team } })
    expect(await choose(everyone)).toMatchObject({ status: 200 })
    expect(await remove(team)).toMatchObject({ status: 200 })
  })

  test('a user who is added while the default team is replaced and deleted is in a team', async () => {
    const choose = (defaultTeamId: string) => app.call(admin.token, 'PATCH', '/company', { defaultTeamId })
    for (let round = 0; round < 5; round++) {
      const team = await app.team()
      expect(await choose(team)).toMatchObject({ status: 200 })
      const [person] = await Promise.all([
        app.person(),
        choose(everyone).then(() => remove(team)),
        app.person(),
      ])
      const { data } = await app.call(admin.token, 'GET', `/users/${person.id}`)
      expect(data.resourceGroupIds).toHaveLength(1)
    }
    const { rowCount } = await relational.pool.query(
      `select 1 from users where status <> 'deleted'
         and not exists (select 1 from team_members where user_id = users.id)`,
    )
    expect(rowCount).toBe(0)
    expect(await read(everyone)).toMatchObject({ isDefault: true })
  })

  test('is refused while there are teams below or resources', async () => {
    const team = await app.team()
    const child = await app.team([team])
    expect(await remove(team)).toMatchObject({
      status: 409,
      error_code: 2074,
      data: { id: team, children: 1, resources: 0 },
    })
    expect(await remove(child)).toMatchObject({ status: 200 })
    const datasource = await relational.transaction((tx) =>
      insertDatasource(tx, { companyId: app.companyId, name: 'Shop', teamIds: [team] }),
    )
    expect(await remove(team)).toMatchObject({ status: 409, data: { children: 0, resources: 1 } })
    await relational.pool.query(`update datasources set status = 'deleted' where id = $1`, [datasource.id])
    expect(await remove(team)).toMatchObject({ status: 200 })
  })

  test('what another feature has put into a team keeps it, too', async () => {
    await asOwner(
      relational.owner,
      'create table things (team_id text references teams); grant all on things to public',
    )
    const team = await app.team()
    await relational.pool.query('insert into things values ($1)', [team])
    expect(await remove(team)).toMatchObject({ status: 409, error_code: 2074 })
    await relational.pool.query('delete from things')
    expect(await remove(team)).toMatchObject({ status: 200 })
  })

  test('a team below others goes, and those above stay', async () => {
    const parent = await app.team()
    const child = await app.team([parent])
    expect(await remove(child)).toMatchObject({ status: 200 })
    expect(await read(parent)).toMatchObject({ childIds: [] })
  })
})

test('a user invited into a team that is deleted at once is in a team or was not invited', async () => {
  const roleId = await app.roleIdOf('viewer')
  for (let round = 0; round < 5; round++) {
    const team = await app.team()
    const [invited, deleted] = await Promise.all([
      app.call(admin.token, 'POST', '/invitations', {
        email: `round${round}@example.com`,
        roleId,
        resourceGroupIds: [team],
      }),
      remove(team),
    ])
    expect([
      [200, 409],
      [400, 200],
    ]).toContainEqual([invited.status, deleted.status])
  }
  const { rowCount } = await relational.pool.query(
    'select 1 from users where not exists (select 1 from team_members where user_id = users.id)',
  )
  expect(rowCount).toBe(0)
})

describe('who may do it', () => {
  test('a team of another company is answered like none', async () => {
    for (const id of [app.other.teamId, unknown])
      for (const [method, body] of [
        ['GET', undefined],
        ['PATCH', { name: 'Taken over' }],
        ['DELETE', undefined],
      ] as const)
        expect(await app.call(admin.token, method, `/teams/${id}`, body)).toMatchObject({
          status: 404,
          error_code: 2071,
          data: { id },
        })
    const { data } = await app.call(stranger.token, 'GET', '/teams?perPage=100')
    expect(data.every(({ companyId }) => companyId === app.other.companyId)).toBe(true)
  })

  test('without the permission nothing is done', async () => {
    const person = await app.person((await app.role([])).name)
    for (const [method, path, body] of [
      ['GET', '/teams', undefined],
      ['GET', `/teams/${everyone}`, undefined],
      ['POST', '/teams', { name: 'X' }],
      ['PATCH', `/teams/${everyone}`, {}],
      ['DELETE', `/teams/${everyone}`, undefined],
    ] as const)
      expect(await app.call(person.token, method, path, body)).toMatchObject({ status: 403 })
    await app.call(person.token, 'DELETE', '/users/me/sessions')
    expect(await app.call(person.token, 'GET', '/teams')).toMatchObject({ status: 401 })
  })

  test('making a team is no way into other teams', async () => {
    const person = await app.person((await app.role(['team:create'])).name)
    for (const body of [
      { name: 'Ladder', parentIds: [everyone], reachesAncestors: true },
      { name: 'Ladder', memberIds: [person.id] },
    ])
      expect(await post(body, person.token)).toMatchObject({
        status: 403,
        error_code: 4,
        data: { resource: 'team', action: 'update' },
      })
    expect(await post({ name: 'Island' }, person.token)).toMatchObject({ status: 200 })
  })
})

describe('a team that the identity provider keeps', () => {
  test('takes no members, loses none, and is not renamed or deleted by operations', async () => {
    const team = await app.team()
    const [inside, outside] = [await app.person(), await app.person()]
    const { rows } = await relational.pool.query(
      'select id from teams where company_id = $1 and is_default',
      [app.companyId],
    )
    await app.putInto(inside.id, rows[0].id, team)
    await relational.pool.query('update teams set provisioned = true where id = $1', [team])
    const refused = { status: 409, error_code: 2078, data: { teamIds: [team] } }
    const path = `/teams/${team}`
    expect(await app.call(admin.token, 'PATCH', path, { members: { add: [outside.id] } })).toMatchObject(
      refused,
    )
    expect(await app.call(admin.token, 'PATCH', path, { members: { remove: [inside.id] } })).toMatchObject(
      refused,
    )
    expect(await app.call(admin.token, 'PATCH', path, { name: 'Another name' })).toMatchObject(refused)
    expect(await app.call(admin.token, 'DELETE', path)).toMatchObject(refused)
    const users = { resourceGroupIds: [rows[0].id, team] }
    expect(await app.call(admin.token, 'PATCH', `/users/${outside.id}`, users)).toMatchObject(refused)
    const without = { resourceGroupIds: [rows[0].id] }
    expect(await app.call(admin.token, 'PATCH', `/users/${inside.id}`, without)).toMatchObject(refused)
    const invitation = { email: 'into@example.com', roleId: await app.roleIdOf('viewer'), ...users }
    expect(await app.call(admin.token, 'POST', '/invitations', invitation)).toMatchObject(refused)
    const both = { resourceGroupIds: [rows[0].id, team], firstName: 'Ada' }
    expect(await app.call(admin.token, 'PATCH', `/users/${inside.id}`, both)).toMatchObject({ status: 200 })
    expect(await app.call(admin.token, 'PATCH', path, { description: 'Kept' })).toMatchObject({ status: 200 })
  })
})
