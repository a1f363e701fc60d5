import { maxTagValues, type TagKey } from '@millrace/contract/resources/tag-key.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ListUsesOfTag } from '../../src/features/tag-keys/tag-key-service.ts'
import { type AnalyticsApp, openAnalyticsApp } from '../support/analytics-settings.ts'

let opened: AnalyticsApp
/** What the other features say that they use. */
let uses: Awaited<ReturnType<ListUsesOfTag>>

beforeAll(async () => {
  opened = await openAnalyticsApp({ listUsesOfTag: async () => uses })
})

beforeEach(async () => {
  uses = []
  await opened.relational.pool.query('delete from tag_keys')
  await opened.app.audit()
})

afterAll(() => opened.close())

const nobody = 'f'.repeat(24)

const post = (body: unknown, token?: string) => opened.call('POST', '/tags', body, token)
const patch = (key: TagKey, body: unknown, token?: string) =>
  opened.call('PATCH', `/tags/${key.id}`, body, token)
const list = (search = '', token?: string) => opened.call('GET', `/tags${search}`, undefined, token)
const read = async (key: TagKey, token?: string) =>
  (await opened.call('GET', `/tags/${key.id}`, undefined, token)).data as unknown as TagKey

async function create(definition: Record<string, unknown>, token?: string): Promise<TagKey> {
  const { status, data, message } = await post({ definition }, token)
  if (status !== 200) throw new Error(message)
  return data as unknown as TagKey
}

describe('a tag key', () => {
  test('is created with defaults, and read back as it was answered', async () => {
    const { status, data } = await post({ definition: { name: 'Season' } })
    expect(status).toBe(200)
    expect(data).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      companyId: opened.app.companyId,
      resourceGroupIds: [],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      type: 'Tag',
      definition: {
        name: 'Season',
        description: '',
        assignmentMode: 'custom',
        cardinality: 'single',
        values: [],
      },
    })
    expect(await read(data as unknown as TagKey)).toEqual(data)
  })

  test('is created with its values in their order', async () => {
    const names = ['Winter', 'Spring', 'Autumn', '7']
    const values = names.map((name) => ({ name, description: `the ${name}` }))
    const { definition } = await create({
      name: 'Season',
      cardinality: 'multiple',
      description: 'Line 1\nLine 2',
      values,
    })
    expect(definition).toMatchObject({ cardinality: 'multiple', description: 'Line 1\nLine 2', values })
    expect(new Set(definition.values.map(({ _id }) => _id)).size).toBe(4)
  })

  test('can be sent back as it was read, and a copy of it be made under another name', async () => {
    const key = await create({ name: 'Season', values: [{ name: 'Spring' }] })
    await opened.app.audit()
    expect(await patch(key, key)).toMatchObject({ status: 200, data: key })
    expect(await opened.app.audit()).toEqual([])
    const copy = await post({ ...key, definition: { ...key.definition, name: 'Copy' } })
    expect(copy).toMatchObject({ status: 200, data: { definition: { values: [{ name: 'Spring' }] } } })
    expect(copy.data.id).not.toBe(key.id)
  })

  test('is stored without the spaces around its name', async () => {
    expect((await create({ name: '  Season of year \u3000' })).definition.name).toBe('Season of year')
  })

  test('is changed field by field, and the change is recorded', async () => {
    const key = await create({ name: 'Season', description: 'x', values: [{ name: 'Spring' }] })
    await opened.app.audit()
    const { status, data } = await patch(key, { definition: { cardinality: 'multiple' } })
    expect(status).toBe(200)
    expect(data).toMatchObject({ definition: { ...key.definition, cardinality: 'multiple' } })
    expect(await read(key)).toEqual(data)
    expect(await opened.app.audit()).toMatchObject([
      {
        action: 'tag-key-update',
        target_id: key.id,
        details: {
          changed: ['cardinality'],
          from: { cardinality: 'single' },
          to: { cardinality: 'multiple' },
        },
      },
    ])
    expect(await patch(key, { definition: { name: 'Year', description: '' } })).toMatchObject({
      data: { definition: { name: 'Year', description: '', cardinality: 'multiple' } },
    })
    expect(await patch(key, {})).toMatchObject({ status: 200, data: { definition: { name: 'Year' } } })
  })

  test('is switched back to one value, and keeps all of its values', async () => {
    const key = await create({
      name: 'Season',
      cardinality: 'multiple',
      values: [{ name: 'a' }, { name: 'b' }],
    })
    expect(await patch(key, { definition: { cardinality: 'single' } })).toMatchObject({
      data: { definition: { cardinality: 'single', values: key.definition.values } },
    })
  })

  test('names teams of its company that it is meant for', async () => {
    const [a, b] = [await opened.app.team(), await opened.app.team()].sort()
    const made = await post({ definition: { name: 'Season' }, resourceGroupIds: [b?.toUpperCase(), a, b] })
    expect(made).toMatchObject({ status: 200, data: { resourceGroupIds: [a, b] } })
    const key = made.data as unknown as TagKey
    const foreign = opened.app.other.teamId
    for (const wanted of [foreign, nobody]) {
      const refused = { status: 400, error_code: 2052, data: { teamIds: [wanted] } }
      expect(await post({ definition: { name: 'Other' }, resourceGroupIds: [a, wanted] })).toMatchObject(
        refused,
      )
      expect(await patch(key, { definition: { name: 'Other' }, resourceGroupIds: [wanted] })).toMatchObject(
        refused,
      )
    }
    expect(await read(key)).toEqual(key)
    expect(await patch(key, { resourceGroupIds: [b] })).toMatchObject({ data: { resourceGroupIds: [b] } })
    // It protects nothing: users of other teams see the key, and it outlives the team.
    const reader = await opened.app.personWith('workflowSettings:read')
    expect((await read(key, reader.token)).resourceGroupIds).toEqual([b])
    expect(await opened.app.call(opened.admin.token, 'DELETE', `/teams/${b}`)).toMatchObject({ status: 200 })
    expect(await read(key)).toMatchObject({ resourceGroupIds: [], definition: { name: 'Season' } })
  })

  test('is deleted with its values', async () => {
    const key = await create({ name: 'Season', values: [{ name: 'Spring' }, { name: 'Summer' }] })
    await opened.app.audit()
    const reply = await opened.call('DELETE', `/tags/${key.id}`)
    expect(reply).toMatchObject({ status: 200, data: {} })
    expect(await opened.app.audit()).toMatchObject([
      { action: 'tag-key-delete', target_id: key.id, details: { values: 2 } },
    ])
    for (const method of ['GET', 'PATCH', 'DELETE'] as const)
      expect(await opened.call(method, `/tags/${key.id}`, method === 'PATCH' ? {} : undefined)).toMatchObject(
        {
          status: 404,
          error_code: 9002,
          data: { id: key.id },
        },
      )
    const { rows } = await opened.relational.pool.query('select 1 from tag_values')
    expect(rows).toEqual([])
    await create({ name: 'season' })
  })

  test('G03: that is used stays, and the failure names what uses it', async () => {
    const key = await create({ name: 'Season', values: [{ name: 'Spring' }] })
    uses = [
      { kind: 'workflow', id: 'a'.repeat(24), name: 'Welcome' },
      { kind: 'experiment', id: 'b'.repeat(24), name: 'Homepage' },
    ]
    const refused = await opened.call('DELETE', `/tags/${key.id}`)
    expect(refused).toMatchObject({ status: 409, error_code: 9041, data: { id: key.id, uses } })
    expect(refused.message).toContain('the workflow "Welcome", the experiment "Homepage"')
    uses = Array.from({ length: 30 }, (_, i) => ({
      kind: 'workflow' as const,
      id: i.toString(16).padStart(24, '0'),
      name: `${i}`,
    }))
    const bounded = await opened.call('DELETE', `/tags/${key.id}`)
    expect(bounded.data.uses).toHaveLength(20)
    expect(bounded.message).toContain('and 10 more')
    expect(await read(key)).toEqual(key)
    uses = []
    expect(await opened.call('DELETE', `/tags/${key.id}`)).toMatchObject({ status: 200 })
  })

  test('is deleted once by deletions at once', async () => {
    const key = await create({ name: 'Season' })
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => opened.call('DELETE', `/tags/${key.id}`)),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
  })

  test.each([
    [{}, 'definition'],
    [{ definition: null }, 'definition'],
    [{ definition: {} }, 'definition.name'],
    [{ definition: { name: '' } }, 'definition.name'],
    [{ definition: { name: '   ' } }, 'definition.name'],
    [{ definition: { name: '\u200b\u2060' } }, 'definition.name'],
    [{ definition: { name: 'a\nb' } }, 'definition.name'],
    [{ definition: { name: 'a\u0000' } }, 'definition.name'],
    [{ definition: { name: 'x'.repeat(101) } }, 'definition.name'],
    [{ definition: { name: 7 } }, 'definition.name'],
    [{ definition: { name: 'x', description: 'y'.repeat(501) } }, 'definition.description'],
    [{ definition: { name: 'x', cardinality: 'many' } }, 'definition.cardinality'],
    [{ definition: { name: 'x', assignmentMode: 'system' } }, 'definition.assignmentMode'],
    [{ definition: { name: 'x', values: {} } }, 'definition.values'],
    [{ definition: { name: 'x', values: ['Spring'] } }, 'definition.values.0'],
    [{ definition: { name: 'x', values: [{ name: 'a' }, {}] } }, 'definition.values.1.name'],
    [{ definition: { name: 'x', values: [{ name: '\u3164' }] } }, 'definition.values.0.name'],
    [{ definition: { name: 'x', color: 'red' } }, 'definition.color'],
    [{ definition: { name: 'x' }, resourceGroupIds: ['x'] }, 'resourceGroupIds.0'],
    [{ definition: { name: 'x' }, resourceGroupIds: Array(101).fill(nobody) }, 'resourceGroupIds'],
    [{ definition: { name: 'x', values: Array(maxTagValues + 1).fill({ name: 'a' }) } }, 'definition.values'],
  ])('is not made of %j', async (body, path) => {
    expect(await post(body)).toMatchObject({ status: 400, error_code: 1, data: { errors: [{ path }] } })
    expect((await list()).paginationCount).toBe(0)
  })

  test('takes nothing that the service decides from a body', async () => {
    const { data } = await post({
      id: nobody,
      companyId: opened.app.other.companyId,
      type: 'Other',
      createdAt: '2020-01-01T00:00:00.000Z',
      definition: { name: 'Season', values: [{ _id: nobody, name: 'Spring' }] },
    })
    const key = data as unknown as TagKey
    expect(key).toMatchObject({ companyId: opened.app.companyId, type: 'Tag' })
    expect([key.id, key.definition.values[0]?._id]).not.toContain(nobody)
    expect(key.createdAt).not.toMatch(/^2020/)
    const other = await create({ name: 'Other' })
    expect(await patch(other, { ...key, definition: { values: key.definition.values } })).toMatchObject({
      data: { id: other.id, definition: { name: 'Other', values: [] } },
    })
  })
})

describe('G06: names', () => {
  const taken = (name: string) => ({
    status: 409,
    error_code: 9001,
    message: 'A tag key with this name already exists',
    data: { name },
  })

  test.each([
    ['Season', ' sEASON '],
    ['Straße', 'STRASSE'],
    ['İstanbul', 'i̇stanbul'],
    ['ΟΔΟΣ', 'οδος'],
    ['Café', 'cafe\u0301'],
  ])('of keys: after %j, %j is taken', async (first, second) => {
    const key = await create({ name: first })
    expect(await post({ definition: { name: second } })).toEqual(
      expect.objectContaining(taken(second.trim())),
    )
    const other = await create({ name: 'Other' })
    expect(await patch(other, { definition: { name: second } })).toMatchObject(taken(second.trim()))
    expect(await read(other)).toEqual(other)
    // A key may change how its own name is written.
    expect(await patch(key, { definition: { name: second } })).toMatchObject({
      status: 200,
      data: { definition: { name: second.trim() } },
    })
  })

  test('of values are unique in their key alone', async () => {
    const key = await create({ name: 'Season', values: [{ name: 'Straße' }] })
    const other = await create({ name: 'Other', values: [{ name: 'strasse' }] })
    const valueTaken = { status: 409, error_code: 9042, data: { name: 'STRASSE' } }
    expect(await opened.call('POST', `/tags/${key.id}/values`, { name: 'STRASSE' })).toMatchObject(valueTaken)
    const added = await opened.call('POST', `/tags/${other.id}/values`, { name: 'Platz' })
    const [, platz] = (added.data as unknown as TagKey).definition.values
    expect(
      await opened.call('PATCH', `/tags/${other.id}/values/${platz?._id}`, { name: ' STRASSE' }),
    ).toMatchObject(valueTaken)
    expect(
      await post({ definition: { name: 'Third', values: [{ name: 'ß' }, { name: 'SS' }] } }),
    ).toMatchObject({
      status: 409,
      error_code: 9042,
      data: { name: 'SS' },
    })
    expect((await list()).paginationCount).toBe(2)
  })

  test('are taken in one company and free in another', async () => {
    const key = await create({ name: 'Season' })
    const foreign = await create({ name: 'Season' }, opened.stranger.token)
    expect(foreign.companyId).not.toBe(key.companyId)
  })

  test('are given once by creations at once', async () => {
    const replies = await Promise.all(
      ['Season', 'season', ' SEASON'].map((name) => post({ definition: { name } })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const key = replies.find(({ status }) => status === 200)?.data as unknown as TagKey
    const values = await Promise.all(
      ['Spring', 'spring', 'SPRING '].map((name) => opened.call('POST', `/tags/${key.id}/values`, { name })),
    )
    expect(values.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect((await read(key)).definition.values).toHaveLength(1)
  })

  test('may be as long as allowed whatever they become when they are compared', async () => {
    const name = '\ufdfa'.repeat(100)
    await create({ name })
    expect(await post({ definition: { name } })).toMatchObject({ status: 409, error_code: 9001 })
  })
})

describe('values', () => {
  test('are added at the end, changed, and answered with their key', async () => {
    const key = await create({ name: 'Season', values: [{ name: 'Spring' }] })
    const added = await opened.call('POST', `/tags/${key.id}/values`, {
      name: ' Summer ',
      description: 'hot',
    })
    expect(added).toMatchObject({
      status: 200,
      data: {
        id: key.id,
        definition: { values: [{ name: 'Spring' }, { name: 'Summer', description: 'hot' }] },
      },
    })
    const [spring, summer] = (added.data as unknown as TagKey).definition.values
    const changed = await opened.call('PATCH', `/tags/${key.id}/values/${spring?._id}`, { name: 'Lent' })
    expect(changed).toMatchObject({
      status: 200,
      data: { definition: { values: [{ _id: spring?._id, name: 'Lent', description: '' }, summer] } },
    })
    expect(await read(key)).toEqual(changed.data)
    expect(await opened.call('PATCH', `/tags/${key.id}/values/${summer?._id}`, summer)).toMatchObject({
      status: 200,
      data: changed.data,
    })
  })

  test('belong to their key', async () => {
    const key = await create({ name: 'Season', values: [{ name: 'Spring' }] })
    const other = await create({ name: 'Other', values: [{ name: 'a' }] })
    const id = other.definition.values[0]?._id
    for (const value of [id, nobody])
      expect(await opened.call('PATCH', `/tags/${key.id}/values/${value}`, { name: 'b' })).toMatchObject({
        status: 404,
        error_code: 9003,
        data: { id: value },
      })
    expect(await opened.call('POST', `/tags/${nobody}/values`, { name: 'b' })).toMatchObject({
      status: 404,
      error_code: 9002,
    })
    expect(await read(other)).toEqual(other)
  })

  test.each([
    [{}],
    [{ name: '' }],
    [{ name: 'x'.repeat(101) }],
    [{ name: 'a', description: 7 }],
    [{ name: 'a', x: 1 }],
  ])('are not made of %j', async (body) => {
    const key = await create({ name: 'Season' })
    expect(await opened.call('POST', `/tags/${key.id}/values`, body)).toMatchObject({
      status: 400,
      error_code: 1,
    })
    expect(await read(key)).toEqual(key)
  })
})

describe('G07: bounds', () => {
  test('a company has 200 keys of its own at most, however many are created at once', async () => {
    await opened.relational.pool.query(
      `insert into tag_keys (id, company_id, name, name_hash, assignment_mode)
       select lpad(to_hex(n), 24, '0'), $1, n::text, sha256(n::text::bytea),
         case when n <= 198 then 'custom' else 'system' end
       from generate_series(1, 250) n`,
      [opened.app.companyId],
    )
    const replies = await Promise.all(['a', 'b', 'c', 'd'].map((name) => post({ definition: { name } })))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409])
    expect(replies.find(({ status }) => status === 409)).toMatchObject({
      error_code: 9044,
      data: { limit: 200 },
    })
  })

  test('a key has 1,000 values at most, however many are added at once', async () => {
    const values = Array.from({ length: maxTagValues - 1 }, (_, i) => ({ name: `value ${i}` }))
    const key = await create({ name: 'Season', values })
    const replies = await Promise.all(
      ['a', 'b', 'c'].map((name) => opened.call('POST', `/tags/${key.id}/values`, { name })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect(replies.find(({ status }) => status === 409)).toMatchObject({
      error_code: 9045,
      data: { limit: 1000 },
    })
    expect((await read(key)).definition.values.slice(0, 999)).toEqual(key.definition.values)
  })
})

describe('the list', () => {
  test('comes page by page, the oldest first, without keys that the service made unless asked for', async () => {
    for (const name of ['c', 'a', 'b']) await create({ name })
    await create({ name: 'a' }, opened.stranger.token)
    await opened.relational.pool.query(
      `insert into tag_keys (id, company_id, name, name_hash, assignment_mode, created_at)
       values ($1, $2, 'Experiment', sha256('e'), 'system', '2001-01-01Z')`,
      ['0'.repeat(24), opened.app.companyId],
    )
    const names = async (search: string) => {
      const { data, paginationCount } = await list(search)
      return [(data as unknown as TagKey[]).map(({ definition }) => definition.name), paginationCount]
    }
    expect(await names('')).toEqual([['c', 'a', 'b'], 3])
    expect(await names('?includeSystem=false')).toEqual([['c', 'a', 'b'], 3])
    expect(await names('?includeSystem=true')).toEqual([['Experiment', 'c', 'a', 'b'], 4])
    expect(await names('?perPage=2&page=2')).toEqual([['b'], 3])
    expect(await names('?page=9')).toEqual([[], 3])
  })

  test.each([
    'includeSystem=TRUE',
    'includeSystem=1',
    'includeSystem=',
    'perPage=101',
    'page=0',
    'companyId=x',
  ])('refuses ?%s', async (search) => {
    expect(await list(`?${search}`)).toMatchObject({ status: 400, error_code: 1 })
  })
})

test('a key that the service made is read, and neither changed nor deleted', async () => {
  const key = await create({ name: 'Season', values: [{ name: 'Spring' }] })
  const [spring] = key.definition.values
  await opened.relational.pool.query(`update tag_keys set assignment_mode = 'system'`)
  const refused = { status: 409, error_code: 9043, data: { id: key.id } }
  expect(await patch(key, { definition: { name: 'x' } })).toMatchObject(refused)
  expect(await opened.call('DELETE', `/tags/${key.id}`)).toMatchObject(refused)
  expect(await opened.call('POST', `/tags/${key.id}/values`, { name: 'x' })).toMatchObject(refused)
  expect(await opened.call('PATCH', `/tags/${key.id}/values/${spring?._id}`, { name: 'x' })).toMatchObject(
    refused,
  )
  expect(await read(key)).toMatchObject({ definition: { ...key.definition, assignmentMode: 'system' } })
  // Its name is taken like any other.
  expect(await post({ definition: { name: 'season' } })).toMatchObject({ status: 409, error_code: 9001 })
})

test('a key of another company is absent for every operation', async () => {
  const key = await create({ name: 'Season', values: [{ name: 'Spring' }] })
  const { token } = opened.stranger
  const value = `/tags/${key.id}/values/${key.definition.values[0]?._id}`
  for (const [method, path, body] of [
    ['GET', `/tags/${key.id}`],
    ['PATCH', `/tags/${key.id}`, { definition: { name: 'x' } }],
    ['DELETE', `/tags/${key.id}`],
    ['POST', `/tags/${key.id}/values`, { name: 'x' }],
    ['PATCH', value, { name: 'x' }],
    ['DELETE', value],
  ] as const)
    expect(await opened.call(method, path, body, token)).toMatchObject({
      status: 404,
      error_code: 9002,
      data: { id: key.id },
    })
  expect(await list('', token)).toMatchObject({ paginationCount: 0 })
  expect(await read(key)).toEqual(key)
})
