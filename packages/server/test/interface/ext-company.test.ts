import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTimezoneStore } from '../../src/features/identity/people/company/timezone-store.ts'
import { type AccountsApp, createAccountsApp, type Person } from '../support/accounts.ts'
import { createTestColumnar } from '../support/columnar.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let relational: TestDatabase
let app: AccountsApp
let admin: Person

beforeAll(async () => {
  relational = await createTestDatabase()
  app = await createAccountsApp(relational)
  admin = await app.person('admin')
})

beforeEach(async () => {
  await app.audit()
})

afterAll(async () => {
  await app.app.close()
  await relational.close()
})

const read = async () => (await app.call(admin.token, 'GET', '/company')).data
const patch = (body: Record<string, unknown>, token = admin.token) =>
  app.call(token, 'PATCH', '/company', body)

test('a company begins with its defaults', async () => {
  expect(await read()).toMatchObject({
    id: app.companyId,
    name: 'Acme',
    timezone: 'UTC',
    language: 'en',
    attributionModel: 'last-touch',
    clickWindowHours: 720,
    displayWindowHours: 168,
    exactCounts: false,
    auditRetentionDays: 90,
    eventRetentionDays: null,
    defaultRoleId: null,
    currency: null,
  })
})

test('settings change field by field, and are recorded with what they were', async () => {
  const before = await read()
  expect(await patch(before)).toMatchObject({ status: 200, data: before })
  expect(await app.audit()).toEqual([])
  const wanted = {
    name: 'Acme & Sons',
    timezone: 'Europe/Paris',
    language: 'fr',
    currency: 'EUR',
    attributionModel: 'decay',
    clickWindowHours: 24,
    displayWindowHours: 1,
    exactCounts: true,
    auditRetentionDays: 365,
    eventRetentionDays: 730,
  }
  expect(await patch(wanted)).toMatchObject({ status: 200, data: wanted })
  expect(await app.audit()).toMatchObject([
    {
      action: 'company-update',
      outcome: 'success',
      actor_id: admin.id,
      target_id: app.companyId,
      details: { changed: Object.keys(wanted), from: { timezone: 'UTC' }, to: wanted },
    },
  ])
  await Promise.all([patch({ language: 'en' }), patch({ exactCounts: false })])
  expect(await read()).toMatchObject({ ...wanted, language: 'en', exactCounts: false })
})

test.each([
  { timezone: 'Europe/Atlantis' },
  { timezone: '+02:00' },
  { timezone: 'europe/paris' },
  { timezone: "UTC'; drop table companies; --" },
  { timezone: '' },
  { timezone: null },
  { currency: 'eur' },
  { currency: 'EURO' },
  { currency: 'XQZ' },
  { currency: '' },
  { name: '' },
  { language: 'de' },
  { clickWindowHours: 0 },
  { clickWindowHours: 8761 },
  { clickWindowHours: 1.5 },
  { displayWindowHours: '24' },
  { attributionModel: 'first-touch' },
  { exactCounts: 'true' },
  { auditRetentionDays: 29 },
  { auditRetentionDays: 3651 },
  { eventRetentionDays: 6 },
  { eventRetentionDays: 36501 },
  { eventRetentionDays: 'ever' },
  { defaultRoleId: 'admin' },
  { audit_retention_days: 30 },
])('refuses %j and changes nothing', async (body) => {
  const before = await read()
  expect(await patch(body)).toMatchObject({ status: 400, error_code: 1 })
  expect(await read()).toEqual(before)
})

test('the default role is one of the company that the caller may give', async () => {
  const viewer = await app.roleIdOf('viewer')
  const foreign = await app.roleIdOf('viewer', app.other.companyId)
  expect(await patch({ defaultRoleId: viewer.toUpperCase() })).toMatchObject({
    data: { defaultRoleId: viewer },
  })
  for (const defaultRoleId of [foreign, 'f'.repeat(24)])
    expect(await patch({ defaultRoleId })).toMatchObject({ status: 400, error_code: 2050 })
  const clerk = await app.person((await app.role(['company:update', 'company:read'])).name)
  await app.audit()
  const defaultRoleId = await app.roleIdOf('admin')
  expect(await patch({ defaultRoleId }, clerk.token)).toMatchObject({ status: 403, error_code: 2051 })
  expect(await app.audit()).toMatchObject([{ action: 'company-update', error: 'roleAboveOwn' }])
  // What is set already is given by nobody anew.
  expect(await patch({ defaultRoleId: viewer, exactCounts: true }, clerk.token)).toMatchObject({
    status: 200,
  })
  expect(await patch({ defaultRoleId: null })).toMatchObject({ status: 200, data: { defaultRoleId: null } })
})

describe('the default team', () => {
  const isDefault = async (id: string) => (await app.call(admin.token, 'GET', `/teams/${id}`)).data.isDefault
  const teamsOf = async (id: string) =>
    (await app.call(admin.token, 'GET', `/users/${id}`)).data.resourceGroupIds
  const choose = async (defaultTeamId: unknown, token = admin.token) => patch({ defaultTeamId }, token)

  test('is another one from now on, for new users without one, and the change is recorded', async () => {
    const first = String((await read()).defaultTeamId)
    expect(await isDefault(first)).toBe(true)
    const early = await app.person()
    const team = await app.team()
    await app.audit()
    expect(await choose(team.toUpperCase())).toMatchObject({ status: 200, data: { defaultTeamId: team } })
    expect(await app.audit()).toMatchObject([
      {
        action: 'company-update',
        outcome: 'success',
        actor_id: admin.id,
        target_id: app.companyId,
        details: { changed: ['defaultTeamId'], from: { defaultTeamId: first }, to: { defaultTeamId: team } },
      },
    ])
    expect([await isDefault(first), await isDefault(team)]).toEqual([false, true])
    const late = await app.person()
    expect([await teamsOf(early.id), await teamsOf(late.id)]).toEqual([[first], [team]])
    expect(await patch(await read())).toMatchObject({ status: 200 })
    expect(await app.audit()).toEqual([])
    expect(await choose(first)).toMatchObject({ status: 200, data: { defaultTeamId: first } })
  })

  test('is a team of the company', async () => {
    const before = await read()
    for (const id of [app.other.teamId, 'f'.repeat(24)])
      expect(await choose(id)).toMatchObject({ status: 400, error_code: 2052, data: { teamIds: [id] } })
    for (const id of [null, '', 'everyone'])
      expect(await choose(id)).toMatchObject({ status: 400, error_code: 1 })
    expect(await read()).toEqual(before)
  })

  test('is one that the caller uses or may change, unless it is so already', async () => {
    const first = String((await read()).defaultTeamId)
    const team = await app.team()
    const clerk = await app.personWith('company:update', 'company:read')
    await app.audit()
    const refused = { status: 403, error_code: 2053, data: { teamIds: [team] } }
    expect(await choose(team, clerk.token)).toMatchObject(refused)
    expect(await app.audit()).toMatchObject([{ action: 'company-update', error: 'notInTeam' }])
    await app.putInto(clerk.id, team)
    expect(await choose(team, clerk.token)).toMatchObject({ status: 200 })
    expect(await choose(first, clerk.token)).toMatchObject({ status: 403, data: { teamIds: [first] } })
    await app.putInto(clerk.id, first)
    expect(await patch({ defaultTeamId: team, exactCounts: true }, clerk.token)).toMatchObject({
      status: 200,
    })
    expect(await choose(first, clerk.token)).toMatchObject({ status: 200 })
    const arranger = await app.personWith('company:update', 'team:update')
    expect(await choose(team, arranger.token)).toMatchObject({ status: 200 })
    expect(await choose(first, arranger.token)).toMatchObject({ status: 200 })
  })

  test('is none that the identity provider keeps', async () => {
    const team = await app.team()
    await relational.pool.query('update teams set provisioned = true where id = $1', [team])
    expect(await choose(team)).toMatchObject({ status: 409, error_code: 2078, data: { teamIds: [team] } })
  })

  test('is exactly one, however many choose at once', async () => {
    const first = String((await read()).defaultTeamId)
    const teams = await Promise.all([app.team(), app.team(), app.team()])
    for (let round = 0; round < 5; round++) {
      const replies = await Promise.all(teams.map((id) => choose(id)))
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
      const { rows } = await relational.pool.query(
        'select id from teams where company_id = $1 and is_default',
        [app.companyId],
      )
      expect(rows).toEqual([{ id: (await read()).defaultTeamId }])
    }
    expect(await choose(first)).toMatchObject({ status: 200 })
  })
})

test('each company has its own settings, and the caller’s is the only one there is', async () => {
  const stranger = await app.person('admin', app.other.companyId)
  expect(await patch({ name: 'Elsewhere', id: app.companyId }, stranger.token)).toMatchObject({
    status: 200,
    data: { id: app.other.companyId, name: 'Elsewhere' },
  })
  expect((await read()).name).not.toBe('Elsewhere')
  expect(await app.call(stranger.token, 'GET', `/company?companyId=${app.companyId}`)).toMatchObject({
    status: 400,
    data: { errors: [{ path: 'companyId' }] },
  })
})

test('reading and changing take their permissions', async () => {
  const reader = await app.person((await app.role(['company:read'])).name)
  const nobody = await app.person((await app.role([])).name)
  expect(await app.call(reader.token, 'GET', '/company')).toMatchObject({ status: 200 })
  expect(await patch({ language: 'fr' }, reader.token)).toMatchObject({ status: 403 })
  expect(await app.call(nobody.token, 'GET', '/company')).toMatchObject({ status: 403 })
  await app.call(reader.token, 'DELETE', '/users/me/sessions')
  expect(await app.call(reader.token, 'GET', '/company')).toMatchObject({ status: 401 })
})

test('every zone of Node is known, other names of one when the engine lists them, asked once and again after a failure', async () => {
  const columnar = await createTestColumnar({ migrated: false })
  try {
    let asked = 0
    let failing = true
    const { knowsTimezone } = createTimezoneStore({
      columnar: {
        query(statement) {
          asked++
          if (failing) return Promise.reject(new Error('is starting'))
          return columnar.query(statement)
        },
      },
    })
    expect(await knowsTimezone('America/Coyhaique')).toBe(true)
    await expect(knowsTimezone('Europe/Kyiv')).rejects.toThrow('is starting')
    failing = false
    expect(await Promise.all(['UTC', 'Europe/Kyiv', 'Europe/Atlantis', ''].map(knowsTimezone))).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(asked).toBe(2)
  } finally {
    await columnar.close()
  }
})
