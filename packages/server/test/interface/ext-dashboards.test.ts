import type { Dashboard } from '@millrace/contract/resources/dashboard.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
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
beforeEach(() => opened.relational.pool.query('delete from dashboards'))

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

async function ask<T = Dashboard>(
  method: Method,
  path = '',
  body?: object,
  by: Person = ada,
  headers: Record<string, string> = {},
) {
  opened.app.auth.cache.forget()
  const reply = await opened.app.auth.app.inject({
    method,
    url: `/v2/statistics/dashboards${path}`,
    headers: { authorization: `Bearer ${by.token}`, ...headers },
    ...(body && { payload: body }),
  })
  return { ...reply.json(), status: reply.statusCode, etag: reply.headers.etag } as {
    readonly status: number
    readonly etag: unknown
    readonly message: string
    readonly data: T & { readonly errors?: readonly { readonly path: string }[] }
    readonly paginationCount?: number
  }
}

const query = (more: object = {}) => ({
  measures: ['events.count'],
  dimensions: [],
  filters: [],
  timeDimensions: [],
  ...more,
})
const place = { title: '', x: 0, y: 0, w: 6, h: 4 }
const queryTile = { id: 'a', ...place, kind: 'query', query: query(), view: 'number' }
const funnel = { steps: [{ events: ['view'] }, { events: ['purchase'] }], dateRange: 'last 30 days' }
const tiles = [
  queryTile,
  { id: 'b', ...place, x: 6, kind: 'text', text: '<b>plain</b>\ntext' },
  { id: 'c', ...place, kind: 'exploration', exploration: 'funnel', definition: funnel },
]

async function create(fields: object = {}, by: Person = ada): Promise<Dashboard> {
  const { status, message, data } = await ask('POST', '', { name: 'Sales', tiles, ...fields }, by)
  if (status !== 200) throw new Error(message)
  return data
}

const fault = (reply: Awaited<ReturnType<typeof ask>>) => [reply.status, reply.data.errors?.[0]?.path]

describe('a dashboard', () => {
  test('is made, read, replaced, duplicated and deleted', async () => {
    const made = await ask('POST', '', { name: ' Sales ', tiles })
    expect(made).toMatchObject({
      status: 200,
      etag: '"1"',
      data: {
        name: 'Sales',
        description: '',
        tiles,
        filters: [],
        range: null,
        comparison: 'none',
        ownerId: ada.id,
        resourceGroupIds: [],
        revision: 1,
        lastSavedBy: ada.id,
      },
    })
    const path = `/${made.data.id}`
    expect((await ask('GET', path.toUpperCase())).data).toEqual(made.data)
    const filters = [{ member: 'events.country', operator: 'equals', values: ['FR'] }]
    const shared = { filters, range: 'last 7 days', comparison: 'year' }
    const replaced = await ask('PUT', path, { ...made.data, ...shared, description: 'a\nb' })
    expect(replaced.data).toMatchObject({ ...shared, description: 'a\nb', tiles, revision: 2 })
    expect((await ask('PUT', path, replaced.data)).data).toEqual(replaced.data)

    const copy = await ask('POST', `${path}/duplicate`, undefined, bob)
    expect(copy.data).toMatchObject({ ...shared, name: 'Copy of Sales', tiles, ownerId: bob.id, revision: 1 })
    expect((await ask('DELETE', path)).status).toBe(200)
    expect(await ask('GET', path)).toMatchObject({ status: 404, error_code: 9350 })
    expect((await ask('GET', `/${copy.data.id}`)).status).toBe(200)
  })

  test('keeps the order of keys, by which a query sorts', async () => {
    const order = { 'events.people': 'asc', 'events.count': 'desc' }
    const asked = query({ measures: ['events.count', 'events.people'], order })
    const { id } = await create({ tiles: [{ ...queryTile, query: asked }] })
    const [tile] = (await ask('GET', `/${id}`)).data.tiles
    expect(JSON.stringify(tile?.query?.order)).toBe(JSON.stringify(order))
  })

  test('is listed without its tiles, found by name and description, sorted and paged', async () => {
    await create({ name: 'beta', description: 'about sales' })
    await create({ name: 'Alpha' })
    await create({ name: 'gamma_x', tiles: [] })
    type Listed = readonly { readonly name: string; readonly tiles: number }[]
    const list = async (search: string) => {
      const { data, paginationCount } = await ask<Listed>('GET', search)
      return [data.map(({ name, tiles: count }) => `${name} ${count}`), paginationCount]
    }
    expect(await list('')).toEqual([['gamma_x 0', 'Alpha 3', 'beta 3'], 3])
    expect(await list('?sortBy=name&perPage=2')).toEqual([['Alpha 3', 'beta 3'], 3])
    expect(await list('?sortBy=name&sortOrder=desc&perPage=2&page=2')).toEqual([['Alpha 3'], 3])
    expect(await list('?sortBy=createdAt&sortOrder=asc&perPage=1')).toEqual([['beta 3'], 3])
    expect(await list('?q=SALES')).toEqual([['beta 3'], 1])
    expect(await list('?q=_')).toEqual([['gamma_x 0'], 1])
  })
})

describe('what is refused names the tile and the field', () => {
  const withTile = (tile: object) => ({
    name: 'Sales',
    tiles: [queryTile, { ...queryTile, id: 'b', ...tile }],
  })

  test.each([
    ['a second tile with the same id', { id: 'a' }, 'tiles.1.id'],
    ['columns beyond the grid', { x: 7 }, 'tiles.1.w'],
    ['a column that is not there', { x: 12 }, 'tiles.1.x'],
    ['a kind that is not known', { kind: 'clock' }, 'tiles.1.kind'],
    ['a query without its view', { view: undefined }, 'tiles.1.view'],
    ['a text beside a query', { text: 'x' }, 'tiles.1.text'],
    ['a text that is too long', { kind: 'text', text: 'x'.repeat(5_001) }, 'tiles.1.text'],
    ['a title of two lines', { title: 'a\nb' }, 'tiles.1.title'],
    ['a query of another shape', { query: query({ limit: 0 }) }, 'tiles.1.query.limit'],
    [
      'a member that is not there',
      { query: query({ measures: ['events.cuont'] }) },
      'tiles.1.query.measures.0',
    ],
    ['a query that asks for nothing', { query: query({ measures: [] }) }, 'tiles.1.query.measures'],
  ])('%s', async (_, tile, path) => {
    expect(fault(await ask('POST', '', withTile(tile)))).toEqual([400, path])
  })

  const exploration = (definition: unknown) => ({
    name: 'Sales',
    tiles: [{ ...tiles[2], definition }],
  })

  test.each([
    ['of another shape', { steps: [] }, 'tiles.0.definition.steps'],
    ['with an unknown field', { ...funnel, stepz: [] }, 'tiles.0.definition.stepz'],
    [
      'with a breakdown that is not there',
      { ...funnel, breakdown: 'events.nothing' },
      'tiles.0.definition.breakdown',
    ],
  ])('an exploration %s', async (_, definition, path) => {
    expect(fault(await ask('POST', '', exploration(definition)))).toEqual([400, path])
  })

  test.each([
    ['range', { range: 'some day' }, 'range'],
    ['filter', { filters: [filterOf('events.country'), filterOf('events.nothing')] }, 'filters.1.member'],
    [
      'innermost filter',
      { filters: [{ or: [filterOf('events.country'), filterOf('sessions.nope')] }] },
      'filters.0.or.1.member',
    ],
    ['comparison', { comparison: 'decade' }, 'comparison'],
  ])('a wrong %s', async (_, fields, path) => {
    expect(fault(await ask('POST', '', { name: 'Sales', tiles: [], ...fields }))).toEqual([400, path])
  })

  test.each([
    ['a label', [filterOf('events.label.plan')]],
    ['a measure', [{ member: 'events.count', operator: 'gt', values: ['3'] }]],
    ['sources that do not meet', [filterOf('sessions.channel'), filterOf('events.path')]],
    ['a group', [{ or: [filterOf('purchases.os'), filterOf('purchases.deviceType')] }]],
  ])('filters on %s are taken', async (_, filters) => {
    const reply = await ask('POST', '', { name: 'Sales', tiles: [], filters })
    expect([reply.status, reply.message]).toEqual([200, expect.anything()])
  })

  test('more tiles or characters than there may be', async () => {
    const many = (count: number, text: string) =>
      Array.from({ length: count }, (_, i) => ({ id: `t${i}`, ...place, kind: 'text', text }))
    expect(fault(await ask('POST', '', { name: 'S', tiles: many(41, '') }))).toEqual([400, 'tiles'])
    expect(fault(await ask('POST', '', { name: 'S', tiles: many(40, 'x'.repeat(3_000)) }))).toEqual([
      400,
      'tiles',
    ])
    expect((await ask('POST', '', { name: 'S', tiles: many(40, '') })).status).toBe(200)
  })

  test('an experiment of another company, or none', async () => {
    const own = await opened.create()
    const foreign = await opened.create({}, opened.stranger.token)
    const tile = (experimentId: string) => ({ id: 'e', ...place, kind: 'experiment', experimentId })
    const body = (experimentId: string) => ({ name: 'Sales', tiles: [tile(experimentId)] })
    expect((await ask('POST', '', body(own._id.toUpperCase()))).status).toBe(200)
    for (const id of [foreign._id, 'f'.repeat(24)])
      expect(fault(await ask('POST', '', body(id)))).toEqual([400, 'tiles.0.experimentId'])
  })

  test('what is saved already is not checked again', async () => {
    const { id } = await create()
    const gone = { ...queryTile, query: query({ measures: ['events.gone'] }) }
    await opened.relational.pool.query('update dashboards set tiles = $1, range = $2 where id = $3', [
      JSON.stringify([gone]),
      '"sometime"',
      id,
    ])
    const moved = { name: 'Sales', tiles: [{ ...gone, x: 2, title: 'Gone' }], range: 'sometime' }
    expect((await ask('PUT', `/${id}`, moved)).status).toBe(200)
    const changed = { ...gone, query: { ...gone.query, limit: 5 } }
    const refused = await ask('PUT', `/${id}`, { ...moved, tiles: [changed] })
    expect(fault(refused)).toEqual([400, 'tiles.0.query.measures.0'])
  })
})

describe('who sees it', () => {
  test('every user of the company, where it names no team; nobody of another', async () => {
    const { id } = await create()
    expect((await ask('GET', `/${id}`, undefined, bob)).status).toBe(200)
    for (const [method, path, body] of [
      ['GET', `/${id}`],
      ['PUT', `/${id}`, { name: 'Mine', tiles: [] }],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/duplicate`],
    ] as const)
      expect((await ask(method, path, body, opened.stranger)).status).toBe(404)
    expect((await ask<unknown[]>('GET', '', undefined, opened.stranger)).data).toEqual([])
  })

  test('else its teams, its owner and who may manage what others saved', async () => {
    const { app } = opened
    const team = await app.team()
    const member = await app.personWith('statistics:access')
    await app.putInto(ada.id, team)
    await app.putInto(member.id, team)
    const { id } = await create({ resourceGroupIds: [team] })
    const sees = async (by: Person) => {
      const { status } = await ask('GET', `/${id}`, undefined, by)
      const { paginationCount } = await ask('GET', '', undefined, by)
      return [status, paginationCount]
    }
    expect(await sees(member)).toEqual([200, 1])
    expect(await sees(opened.admin)).toEqual([200, 1])
    expect(await sees(bob)).toEqual([404, 0])
    expect((await ask('POST', `/${id}/duplicate`, undefined, bob)).status).toBe(404)
    await app.putInto(ada.id)
    expect(await sees(ada)).toEqual([200, 1])
    const copy = await ask('POST', `/${id}/duplicate`, undefined, opened.admin)
    expect(copy.data.resourceGroupIds).toEqual([team])
    const deletion = await app.call(opened.admin.token, 'DELETE', `/teams/${team}`)
    expect(deletion).toMatchObject({ status: 409, data: { id: team } })
    expect((await ask('PUT', `/${id}`, { name: 'Open', tiles: [] })).data.resourceGroupIds).toEqual([])
    expect(await sees(bob)).toEqual([200, 1])
  })
})

function filterOf(member: string) {
  return { member, operator: 'equals', values: ['x'] }
}
