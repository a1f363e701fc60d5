import type { SavedExploration } from '@millrace/contract/resources/saved-exploration.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Person } from '../support/accounts.ts'
import { type ExperimentsApp, openExperimentsApp } from '../support/experiments.ts'

let opened: ExperimentsApp
let ada: Person
let bob: Person

beforeAll(async () => {
  opened = await openExperimentsApp()
  ada = await opened.app.personWith('statistics:access')
  bob = await opened.app.personWith('statistics:access')
})
afterAll(() => opened.close())
beforeEach(() => opened.relational.pool.query('delete from saved_explorations'))

async function ask<T = SavedExploration>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path = '',
  body?: object,
  by: Person = ada,
  headers: Record<string, string> = {},
) {
  opened.app.auth.cache.forget()
  const reply = await opened.app.auth.app.inject({
    method,
    url: `/v2/statistics/${path.startsWith('/') || path.startsWith('?') || path === '' ? 'explorations' : ''}${path}`,
    headers: { authorization: `Bearer ${by.token}`, ...headers },
    ...(body && { payload: body }),
  })
  const isJson = String(reply.headers['content-type']).startsWith('application/json')
  return { ...(isJson && reply.json()), status: reply.statusCode, text: reply.body } as {
    readonly status: number
    readonly error_code?: number
    readonly text: string
    readonly data: T & { readonly errors?: readonly { readonly path: string }[] }
    readonly paginationCount?: number
  }
}

const definitions = {
  funnel: { steps: [{ events: ['view'] }, { events: ['purchase'] }], dateRange: 'last 30 days' },
  retention: { firstEvent: {}, returnEvent: {}, granularity: 'week', dateRange: 'last 30 days' },
  paths: { by: 'path', dateRange: 'last 30 days' },
} as const
type Kind = keyof typeof definitions
const operations: Readonly<Record<Kind, string>> = {
  funnel: 'funnels',
  retention: 'retention',
  paths: 'paths',
}

const bodyOf = (exploration: Kind, fields: object = {}) => ({
  name: 'Orders',
  exploration,
  definition: definitions[exploration],
  ...fields,
})

test.for(Object.keys(definitions) as Kind[])(
  '%s: saved, read, renamed, changed, run, deleted',
  async (kind) => {
    const made = await ask('POST', '', bodyOf(kind, { name: ' Orders ' }))
    expect(made.status, made.text).toBe(200)
    expect(made.data).toMatchObject({
      ...bodyOf(kind),
      ownerId: ada.id,
      revision: 1,
      lastSavedBy: ada.id,
    })
    const path = `/${made.data.id}`
    expect((await ask('GET', path.toUpperCase(), undefined, bob)).data).toEqual(made.data)
    const renamed = await ask('PATCH', path, { name: 'Sales' })
    expect(renamed.data).toMatchObject({ name: 'Sales', definition: definitions[kind], revision: 2 })
    const definition = { ...definitions[kind], dateRange: 'yesterday' }
    const changed = await ask('PATCH', path, { definition })
    expect(changed.data).toMatchObject({ name: 'Sales', exploration: kind, definition, revision: 3 })
    expect((await ask('PATCH', path, {})).data.revision).toBe(3)

    const run = await ask<string>('POST', `${path}/run`, undefined, bob)
    const own = await ask<string>('POST', operations[kind], definition, bob)
    expect([run.status, run.data]).toEqual([200, own.data])
    expect((await ask('DELETE', path)).status).toBe(200)
    expect(await ask('GET', path)).toMatchObject({ status: 404, error_code: 9206 })
    expect(await ask('POST', `${path}/run`)).toMatchObject({ status: 404, error_code: 9206 })
  },
)

test('leaves as a file for those alone who may export', async () => {
  const { data } = await ask('POST', '', bodyOf('funnel'))
  expect((await ask('POST', `/${data.id}/run?format=csv`)).status).toBe(403)
  expect((await ask('POST', `/${data.id}/run`, undefined, ada, { accept: 'text/csv' })).status).toBe(403)
  const may = await opened.app.personWith('statistics:access', 'statistics:export')
  const file = await ask('POST', `/${data.id}/run`, undefined, may, { accept: 'text/csv' })
  expect([file.status, file.text.split('\r\n')[0]]).toEqual([
    200,
    'step,name,people,conversionFromPrevious,conversionFromFirst,medianSeconds',
  ])
})

test('is listed by kind and name, sorted and paged', async () => {
  await ask('POST', '', bodyOf('funnel', { name: 'beta_x' }))
  await ask('POST', '', bodyOf('paths', { name: 'Alpha' }))
  await ask('POST', '', bodyOf('funnel', { name: 'gamma' }))
  const list = async (search: string) => {
    const { data, paginationCount } = await ask<readonly SavedExploration[]>('GET', search)
    return [data.map(({ name }) => name), paginationCount]
  }
  expect(await list('')).toEqual([['gamma', 'Alpha', 'beta_x'], 3])
  expect(await list('?sortBy=name&perPage=2&page=2')).toEqual([['gamma'], 3])
  expect(await list('?exploration=funnel')).toEqual([['gamma', 'beta_x'], 2])
  expect(await list('?q=_')).toEqual([['beta_x'], 1])
})

test('what is refused says where it is, and nothing is saved', async () => {
  const path = async (body: object) => {
    const { status, data } = await ask('POST', '', body)
    return [status, data.errors?.[0]?.path]
  }
  expect(await path(bodyOf('funnel', { definition: {} }))).toEqual([400, 'definition.steps'])
  expect(await path(bodyOf('funnel', { definition: { ...definitions.funnel, limit: 3 } }))).toEqual([
    400,
    'definition.limit',
  ])
  expect(await path(bodyOf('paths', { definition: { ...definitions.paths, dateRange: 'someday' } }))).toEqual(
    [400, 'definition.dateRange'],
  )
  const filters = [{ member: 'events.gone', operator: 'set' }]
  expect(await path(bodyOf('retention', { definition: { ...definitions.retention, filters } }))).toEqual([
    400,
    'definition.filters.0.member',
  ])
  const long = { ...definitions.funnel, steps: definitions.funnel.steps.map(() => ({ events: many() })) }
  expect((await ask('POST', '', bodyOf('funnel', { definition: long }))).status).toBe(400)
  expect((await ask('POST', '', { ...bodyOf('funnel'), exploration: 'cohort' })).status).toBe(400)
  expect((await ask('GET')).paginationCount).toBe(0)
})

const many = () => Array.from({ length: 51 }, (_, i) => `${i}`)

test('a company has 1,000 of them', async () => {
  await opened.relational.pool.query(
    `insert into saved_explorations (id, company_id, name, exploration, definition)
     select substr(md5($1::text || n), 1, 24), $1, n::text, 'paths', '{}'
     from generate_series(1, 1000) n`,
    [opened.app.auth.companyId],
  )
  expect(await ask('POST', '', bodyOf('funnel'))).toMatchObject({ status: 409, error_code: 9207 })
})

test('a definition whose members are gone is renamed, and says at its run what is gone', async () => {
  const { data } = await ask('POST', '', bodyOf('funnel'))
  const filters = [{ member: 'events.gone', operator: 'set' }]
  const definition = { ...definitions.funnel, filters }
  await opened.relational.pool.query('update saved_explorations set definition = $1', [definition])
  expect((await ask('PATCH', `/${data.id}`, { name: 'Old', definition })).data.name).toBe('Old')
  const run = await ask('POST', `/${data.id}/run`)
  expect([run.status, run.data.errors?.[0]?.path]).toEqual([400, 'filters.0.member'])
})
