import { readFileSync } from 'node:fs'
import type { Operation } from '@millrace/contract/operation.ts'
import { allOperations } from '@millrace/contract/operations/all.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../support/accounts.ts'
import { explorationBody } from '../support/permission-rows-dashboards.ts'
import { templateBody } from '../support/permission-rows-workflow-settings.ts'
import { eventsQuery, openSavedQueries, type SavedQueriesApp } from '../support/saved-queries.ts'

/** What several users save: `ETag`, `If-Match`, and who may change what another has saved. */

let opened: SavedQueriesApp
let admin: Person
let teamId: string

beforeAll(async () => {
  opened = await openSavedQueries()
  admin = opened.people.admin
  const { rows } = await opened.relational.pool.query<{ id: string }>(
    'select id from teams where company_id = $1 and is_default',
    [opened.app.auth.companyId],
  )
  teamId = rows[0]?.id ?? ''
})

afterAll(() => opened.close())

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

async function call(by: Person, method: Method, url: string, body?: object, ifMatch?: string) {
  opened.app.auth.cache.forget()
  const reply = await opened.app.auth.app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${by.token}`, ...(ifMatch !== undefined && { 'if-match': ifMatch }) },
    ...(body && { payload: body }),
  })
  return { ...reply.json(), status: reply.statusCode, etag: reply.headers.etag }
}

let made = 0

/** A way to save something and to change it, each change another one. */
interface Kind {
  readonly address: string
  readonly create: { readonly address: string; readonly body: () => object }
  readonly changes: Readonly<Record<string, readonly [Method, suffix: string, body: () => object]>>
  /** Whose change of it needs more than the permission of the operation. */
  readonly owned: boolean
}

const kinds: Readonly<Record<string, Kind>> = {
  'a saved query': {
    address: '/v2/statistics/query',
    create: {
      address: '/v2/statistics/query/save',
      body: () => ({ name: 'Sales', queries: [eventsQuery] }),
    },
    changes: {
      updateSavedQuery: ['PATCH', '', () => ({ name: `Sales ${++made}` })],
      deleteSavedQuery: ['DELETE', '', () => ({})],
    },
    owned: true,
  },
  'a cohort': {
    address: '/v2/statistics/cohorts',
    create: {
      address: '/v2/statistics/cohorts',
      body: () => ({ name: `Panel ${++made}`, persons: ['ada'] }),
    },
    changes: {
      updateCohort: ['PATCH', '', () => ({ description: `for ${++made}` })],
      replaceCohortMembers: ['PUT', '/members', () => ({ persons: [`ada ${++made}`] })],
      deleteCohort: ['DELETE', '', () => ({})],
    },
    owned: true,
  },
  'a dashboard': {
    address: '/v2/statistics/dashboards',
    create: { address: '/v2/statistics/dashboards', body: () => ({ name: 'Sales', tiles: [] }) },
    changes: {
      replaceDashboard: ['PUT', '', () => ({ name: `Sales ${++made}`, tiles: [] })],
      deleteDashboard: ['DELETE', '', () => ({})],
    },
    owned: true,
  },
  'a saved exploration': {
    address: '/v2/statistics/explorations',
    create: { address: '/v2/statistics/explorations', body: () => explorationBody() },
    changes: {
      updateSavedExploration: ['PATCH', '', () => ({ name: `Orders ${++made}` })],
      deleteSavedExploration: ['DELETE', '', () => ({})],
    },
    owned: true,
  },
  'a JSON template': {
    address: '/v2/workflows/json-templates',
    create: { address: '/v2/workflows/json-templates', body: () => templateBody(teamId) },
    changes: {
      replaceJsonTemplate: ['PUT', '', () => ({ ...templateBody(teamId), name: `Card ${++made}` })],
      deleteJsonTemplate: ['DELETE', '', () => ({})],
    },
    owned: false,
  },
}

async function save({ create }: Kind, by: Person) {
  const reply = await call(by, 'POST', create.address, create.body())
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.message}`)
  return reply
}

test('everything that takes If-Match is tried here, but versions, which have a file of their own', () => {
  const takes = allOperations.filter((operation: Operation) =>
    Object.hasOwn((operation.schema.headers as { properties?: object })?.properties ?? {}, 'if-match'),
  )
  const tried = Object.values(kinds).flatMap(({ changes }) => Object.keys(changes))
  expect(takes.map(({ id }) => id).filter((id) => !id.endsWith('WorkflowVersion'))).toEqual(
    expect.arrayContaining(tried),
  )
  expect(takes.map(({ id }) => id).filter((id) => !id.endsWith('WorkflowVersion'))).toHaveLength(tried.length)
})

const changes = Object.entries(kinds).flatMap(([name, kind]) =>
  Object.entries(kind.changes).map(([id, [method, suffix, body]]) => ({
    name,
    id,
    kind,
    change: (by: Person, path: string, ifMatch?: string) =>
      call(by, method, `${path}${suffix}`, method === 'DELETE' ? undefined : body(), ifMatch),
  })),
)

describe.each(changes)('$id of $name', ({ id, kind, change }) => {
  const isDeletion = id.startsWith('delete')
  const pathOf = (reply: { data: { id: string } }) => `${kind.address}/${reply.data.id}`

  test('heeds If-Match, and says who has saved it meanwhile and when (V08)', async () => {
    const first = await save(kind, admin)
    const path = pathOf(first)
    expect(first).toMatchObject({ etag: '"1"', data: { revision: 1, lastSavedBy: admin.id } })
    const [again] = changes.filter((each) => each.kind === kind)
    const colleague = await opened.app.person('admin')
    await opened.app.putInto(colleague.id, teamId)
    const second = await again?.change(colleague, path, '"1"')
    expect(second).toMatchObject({ status: 200, etag: '"2"', data: { revision: 2 } })
    const { updatedAt } = second?.data ?? {}
    for (const stale of ['"1"', 'W/"1"', '"1", "3"', '"abc"']) {
      const late = await change(admin, path, stale)
      expect(late).toMatchObject({
        status: 412,
        error_code: 22,
        data: { id: first.data.id, revision: 2, updatedAt, lastSavedBy: colleague.id },
      })
      expect(late.message).toContain(`by ${colleague.email} at ${updatedAt}`)
    }
    expect((await change(admin, path, '2')).status).toBe(400)
    expect(await call(admin, 'GET', path)).toMatchObject({ status: 200, etag: '"2"', data: second?.data })
    // A proxy that compresses replies makes their tags weak.
    expect(await change(admin, path, 'W/"2"')).toMatchObject({
      status: 200,
      ...(!isDeletion && { etag: '"3"', data: { revision: 3, lastSavedBy: admin.id } }),
    })
  })

  test.each(['*', undefined])('takes %s for whatever is there', async (ifMatch) => {
    expect((await change(admin, pathOf(await save(kind, admin)), ifMatch)).status).toBe(200)
  })

  test('of two at once that have seen the same, one wins', async () => {
    const path = pathOf(await save(kind, admin))
    const replies = await Promise.all([1, 2, 3].map(() => change(admin, path, '"1"')))
    const lost = isDeletion ? 404 : 412
    expect(replies.map(({ status }) => status).sort()).toEqual([200, lost, lost])
  })

  if (!kind.owned) return

  test('is for who saved it, and for those who may manage what others saved (V07)', async () => {
    const right = { resource: 'statistics', action: 'manage' }
    const reader = await opened.app.personWith('statistics:access', 'statistics:export')
    const editor = await opened.app.person('editor')
    const manager = await opened.app.personWith('statistics:access', 'statistics:manage')
    const first = await save(kind, admin)
    const path = pathOf(first)
    for (const other of [reader, editor]) {
      expect(await change(other, path)).toMatchObject({ status: 403, error_code: 4, data: right })
      expect(await change(other, path, '"9"')).toMatchObject({ status: 403 })
    }
    expect((await call(admin, 'GET', path)).data).toEqual(first.data)
    expect((await change(manager, path)).status).toBe(200)
    expect((await change(reader, pathOf(await save(kind, reader)))).status).toBe(200)
  })

  test('is for those who may manage alone once the user who saved it is deleted', async () => {
    const leaver = await opened.app.personWith('statistics:access')
    const path = pathOf(await save(kind, leaver))
    expect((await call(admin, 'DELETE', `/v2/entities/users/${leaver.id}`)).status).toBe(200)
    const other = await opened.app.personWith('statistics:access')
    expect((await change(other, path)).status).toBe(403)
    expect((await change(admin, path)).status).toBe(200)
  })
})

test('a saved query whose runs have another’s rights now stays who saved it first’s to change', async () => {
  const kind = kinds['a saved query'] as Kind
  const author = await opened.app.personWith('statistics:access')
  const { data } = await save(kind, author)
  const path = `${kind.address}/${data.id}`
  const queries = [{ ...eventsQuery, limit: 5 }]
  expect((await call(admin, 'PATCH', path, { queries })).data).toMatchObject({
    ownerId: admin.id,
    createdBy: author.id,
  })
  expect(await call(author, 'PATCH', path, { name: 'Mine' })).toMatchObject({ status: 200 })
})

test('what was read can be sent back with its revision, which counts on', async () => {
  const kind = kinds['a JSON template'] as Kind
  const { data } = await save(kind, admin)
  const path = `${kind.address}/${data.id}`
  expect((await call(admin, 'PUT', path, { ...data, revision: 40 }, '"1"')).data).toEqual(data)
  expect((await call(admin, 'PUT', path, { ...data, name: 'Other' }, '"1"')).data.revision).toBe(2)
})

test('the migration lets those who administer a company manage, and nobody else', async () => {
  const { pool } = opened.relational
  const keeper = await opened.app.role(['statistics:access', 'user:update', 'role:update', 'company:update'])
  const officer = await opened.app.role(['statistics:access', 'statistics:export', 'company:update'])
  const blind = await opened.app.role(['user:update', 'role:update', 'company:update'])
  await pool.query(`delete from role_permissions where resource = 'statistics' and action = 'manage'`)
  const migration = new URL('../../src/database/migrations/0017-ownership-of-saves.sql', import.meta.url)
  const [, grant = ''] = readFileSync(migration, 'utf8').split(/^(?=insert into role_permissions)/m)
  await pool.query(grant)
  const { rows } = await pool.query<{ name: string }>(
    `select name from roles where company_id = $1 and id in (
       select role_id from role_permissions where resource = 'statistics' and action = 'manage')`,
    [opened.app.auth.companyId],
  )
  const names = rows.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['admin', keeper.name]))
  for (const other of ['editor', 'viewer', officer.name, blind.name]) expect(names).not.toContain(other)
})
