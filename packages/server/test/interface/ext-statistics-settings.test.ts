import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAnalyticsSettingsStore } from '../../src/features/analytics/settings/analytics-settings-store.ts'
import { type AnalyticsApp, openAnalyticsApp } from '../support/analytics-settings.ts'

let opened: AnalyticsApp

beforeAll(async () => {
  opened = await openAnalyticsApp()
})

beforeEach(async () => {
  await opened.relational.pool.query(
    `update companies set attribution_model = default, click_window_hours = default,
       display_window_hours = default, exact_counts = default, countries = default,
       shows_other_teams = default`,
  )
  await opened.app.audit()
})

afterAll(() => opened.close())

const read = async (token?: string) => (await opened.call('GET', '', undefined, token)).data
const patch = (body: unknown, token?: string) => opened.call('PATCH', '', body, token)

const defaults = {
  attribution: { model: 'last-touch', windows: { clickHours: 720, displayHours: 168 } },
  exactCounts: false,
  countries: true,
  showsOtherTeams: false,
}

test('begin with the documented values', async () => {
  expect(await read()).toEqual(defaults)
})

test('change field by field at any depth, and the change is recorded with what was', async () => {
  const changed = {
    ...defaults,
    attribution: { model: 'decay', windows: { clickHours: 24, displayHours: 168 } },
  }
  const wanted = { attribution: { model: 'decay', windows: { clickHours: 24 } } }
  expect(await patch(wanted)).toMatchObject({ status: 200, data: changed })
  expect(await opened.app.audit()).toMatchObject([
    {
      action: 'statistics-settings-update',
      outcome: 'success',
      actor_id: opened.admin.id,
      target_id: opened.app.companyId,
      details: {
        changed: ['attributionModel', 'clickWindowHours'],
        from: { attributionModel: 'last-touch', clickWindowHours: 720 },
        to: { attributionModel: 'decay', clickWindowHours: 24 },
      },
    },
  ])
  expect(await patch({ countries: false, exactCounts: true, showsOtherTeams: true })).toMatchObject({
    status: 200,
  })
  expect(await read()).toEqual({ ...changed, countries: false, exactCounts: true, showsOtherTeams: true })
})

test('stay as they are for a body that says nothing new, which leaves no entry', async () => {
  for (const body of [{}, { attribution: {} }, { attribution: { windows: {} } }, await read()]) {
    expect(await patch(body)).toMatchObject({ status: 200, data: defaults })
  }
  expect(await opened.app.audit()).toEqual([])
})

test('are those that the settings of the company show, and that queries are compiled with', async () => {
  const { app, admin, relational } = opened
  await patch({ attribution: { model: 'linear', windows: { displayHours: 8760 } }, exactCounts: true })
  expect((await app.call(admin.token, 'GET', '/company')).data).toMatchObject({
    attributionModel: 'linear',
    clickWindowHours: 720,
    displayWindowHours: 8760,
    exactCounts: true,
  })
  await app.call(admin.token, 'PATCH', '/company', { clickWindowHours: 1, timezone: 'Europe/Paris' })
  expect(await createAnalyticsSettingsStore(relational.db).findForQuery(app.companyId)).toEqual({
    timezone: 'Europe/Paris',
    attribution: { model: 'linear', windows: { clickHours: 1, displayHours: 8760 } },
    exactCounts: true,
    eventAliases: new Map(),
  })
})

test.each([
  [{ attribution: { model: 'first-touch' } }, 'attribution.model'],
  [{ attribution: { model: null } }, 'attribution.model'],
  [{ attribution: null }, 'attribution'],
  [{ attribution: { windows: { clickHours: 0 } } }, 'attribution.windows.clickHours'],
  [{ attribution: { windows: { clickHours: 8761 } } }, 'attribution.windows.clickHours'],
  [{ attribution: { windows: { clickHours: 1.5 } } }, 'attribution.windows.clickHours'],
  [{ attribution: { windows: { displayHours: '24' } } }, 'attribution.windows.displayHours'],
  [{ attribution: { windows: { displayHours: -1 } } }, 'attribution.windows.displayHours'],
  [{ attribution: { windows: { hours: 1 } } }, 'attribution.windows.hours'],
  [{ attribution: { model: 'linear', windows: { clickHours: 1e9 } } }, 'attribution.windows.clickHours'],
  [{ exactCounts: 'true' }, 'exactCounts'],
  [{ countries: 1 }, 'countries'],
  [{ country: false }, 'country'],
  [{ exactCounts: true, companyId: 'f'.repeat(24) }, 'companyId'],
])('refuse %j, naming the field, and change nothing', async (body, path) => {
  expect(await patch(body)).toMatchObject({ status: 400, error_code: 1, data: { errors: [{ path }] } })
  expect(await read()).toEqual(defaults)
})

test('are those of the caller’s company alone', async () => {
  const { stranger } = opened
  expect(await patch({ countries: false }, stranger.token)).toMatchObject({ status: 200 })
  expect(await read(stranger.token)).toMatchObject({ countries: false })
  expect(await read()).toEqual(defaults)
})

test('are read with Statistics: access and changed with Company: update', async () => {
  const analyst = await opened.app.personWith('statistics:access')
  const keeper = await opened.app.personWith('company:update')
  expect(await read(analyst.token)).toEqual(defaults)
  expect(await patch({ countries: false }, analyst.token)).toMatchObject({ status: 403, error_code: 4 })
  expect(await opened.call('GET', '', undefined, keeper.token)).toMatchObject({ status: 403 })
  expect(await patch({ countries: false }, keeper.token)).toMatchObject({ status: 200 })
})

test('keep both of two changes that come at once', async () => {
  await Promise.all([patch({ countries: false }), patch({ exactCounts: true })])
  expect(await read()).toEqual({ ...defaults, countries: false, exactCounts: true })
})
