import type { TagKey } from '@millrace/contract/resources/tag-key.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ListUsesOfTag } from '../../src/features/tag-keys/tag-key-service.ts'
import { asOwner } from '../support/accounts.ts'
import { type AnalyticsApp, openAnalyticsApp } from '../support/analytics-settings.ts'

let opened: AnalyticsApp
/** What the other features say that they use. */
let uses: Awaited<ReturnType<ListUsesOfTag>>
let asked: Parameters<ListUsesOfTag>[1][]

beforeAll(async () => {
  opened = await openAnalyticsApp({
    listUsesOfTag: async (_tx, tag) => {
      asked.push(tag)
      return uses
    },
  })
})

beforeEach(async () => {
  uses = []
  asked = []
  await opened.relational.pool.query('delete from tag_keys')
  await opened.app.audit()
})

afterAll(() => opened.close())

async function create(names: readonly string[], token?: string, name = 'Season'): Promise<TagKey> {
  const definition = { name, values: names.map((each) => ({ name: each })) }
  const { status, data, message } = await opened.call('POST', '/tags', { definition }, token)
  if (status !== 200) throw new Error(message)
  return data as unknown as TagKey
}
const valueId = (key: TagKey, i: number) => key.definition.values[i]?._id ?? ''
const remove = (tagId: string, id: string, token?: string) =>
  opened.call('DELETE', `/tags/${tagId}/values/${id}`, undefined, token)
const read = async (key: TagKey, token?: string) =>
  (await opened.call('GET', `/tags/${key.id}`, undefined, token)).data as unknown as TagKey

test('answers the record as it is stored afterwards, in the shape of the interface', async () => {
  const key = await create(['Spring', 'Summer', 'Autumn'])
  const reply = await remove(key.id, valueId(key, 1))
  expect(reply).toMatchObject({ status: 200, code: 200, message: 'ok' })
  expect(reply.data).toEqual({
    id: key.id,
    companyId: opened.app.companyId,
    resourceGroupIds: [],
    createdAt: key.createdAt,
    updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    type: 'Tag',
    definition: {
      name: 'Season',
      assignmentMode: 'custom',
      cardinality: 'single',
      description: '',
      values: [
        { _id: valueId(key, 0), name: 'Spring', description: '' },
        { _id: valueId(key, 2), name: 'Autumn', description: '' },
      ],
    },
  })
  expect(await read(key)).toEqual(reply.data)
  expect(await opened.app.audit()).toMatchObject([
    { action: 'tag-key-create' },
    { action: 'tag-value-delete', target_id: valueId(key, 1), details: { tagKeyId: key.id } },
  ])
})

test('takes identifiers in upper case', async () => {
  const key = await create(['Spring'])
  expect(await remove(key.id.toUpperCase(), valueId(key, 0).toUpperCase())).toMatchObject({ status: 200 })
})

test('G01: an unknown key, an unknown value, a value of another key and one of another company are 404', async () => {
  const key = await create(['Spring'])
  const other = await create(['Monday'], undefined, 'Day')
  const foreign = await create(['Spring'], opened.stranger.token)
  const nobody = 'f'.repeat(24)
  const noKey = { status: 404, error_code: 9002 }
  const noValue = { status: 404, error_code: 9003 }
  expect(await remove(nobody, valueId(key, 0))).toMatchObject({ ...noKey, data: { id: nobody } })
  expect(await remove(key.id, nobody)).toMatchObject({ ...noValue, data: { id: nobody } })
  expect(await remove(key.id, valueId(other, 0))).toMatchObject(noValue)
  expect(await remove(key.id, valueId(foreign, 0))).toMatchObject(noValue)
  const absent = await remove(nobody, valueId(foreign, 0))
  const hidden = await remove(foreign.id, valueId(foreign, 0))
  expect(hidden).toMatchObject(noKey)
  expect(hidden.message).toBe(absent.message)
  expect(await read(key)).toEqual(key)
  expect(await read(other)).toEqual(other)
  expect(await read(foreign, opened.stranger.token)).toEqual(foreign)
})

test('G02: deleting twice is 200, then 404', async () => {
  const key = await create(['Spring', 'Summer'])
  const once = await remove(key.id, valueId(key, 0))
  expect(once.status).toBe(200)
  expect(await remove(key.id, valueId(key, 0))).toMatchObject({ status: 404, error_code: 9003 })
  expect(await read(key)).toEqual(once.data)
})

test('G02: of deletions at once one is answered 200 and the others 404', async () => {
  for (let round = 0; round < 5; round++) {
    const key = await create(['Spring', 'Summer'], undefined, `Season ${round}`)
    const replies = await Promise.all(Array.from({ length: 4 }, () => remove(key.id, valueId(key, 0))))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
    expect((await read(key)).definition.values).toEqual([key.definition.values[1]])
  }
})

test('G02: deletions of different values at once keep both deletions', async () => {
  const key = await create(['Spring', 'Summer', 'Autumn', 'Winter'])
  const replies = await Promise.all([0, 1, 2].map((i) => remove(key.id, valueId(key, i))))
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
  // Each was answered what was stored at its turn.
  const lengths = replies.map(({ data }) => (data as unknown as TagKey).definition.values.length)
  expect(lengths.sort()).toEqual([1, 2, 3])
  expect((await read(key)).definition.values).toEqual([key.definition.values[3]])
})

test('G03: a value that a running experiment uses stays', async () => {
  const key = await create(['Spring'])
  const experiment = { kind: 'experiment', id: 'e'.repeat(24), name: 'Homepage' } as const
  uses = [experiment]
  expect(await remove(key.id, valueId(key, 0))).toMatchObject({
    status: 409,
    error_code: 9040,
    data: { id: valueId(key, 0), experimentIds: [experiment.id] },
  })
  expect(asked).toMatchObject([
    { companyId: opened.app.companyId, tagKeyId: key.id, valueId: valueId(key, 0) },
  ])
  expect(await read(key)).toEqual(key)
  uses = []
  expect(await remove(key.id, valueId(key, 0))).toMatchObject({ status: 200 })
})

test('G04: the last value leaves an empty list, and more segments are no address', async () => {
  const key = await create(['Spring'])
  for (const path of [`${valueId(key, 0)}/x`, `${valueId(key, 0)}/`, `..%2F${valueId(key, 0)}`])
    expect(await remove(key.id, path)).toMatchObject({ status: expect.toBeOneOf([400, 404]) })
  expect(await read(key)).toEqual(key)
  const { status, data } = await remove(key.id, valueId(key, 0))
  expect({ status, values: (data as unknown as TagKey).definition.values }).toEqual({
    status: 200,
    values: [],
  })
})

test.each(['x', '0'.repeat(23), '0'.repeat(25), `${'0'.repeat(24)}%0A`, '%27%20or%201=1%20--'])(
  'refuses %j as an identifier of either',
  async (text) => {
    const key = await create(['Spring'])
    expect(await remove(key.id, text)).toMatchObject({ status: 400, data: { errors: [{ path: 'valueId' }] } })
    expect(await remove(text, valueId(key, 0))).toMatchObject({
      status: 400,
      data: { errors: [{ path: 'tagId' }] },
    })
    expect(await read(key)).toEqual(key)
  },
)

test('G05: what is recorded and what is stored are one: a deletion that cannot be recorded has not happened', async () => {
  const key = await create(['Spring'])
  const before = await read(key)
  const { relational } = opened
  await asOwner(
    relational.owner,
    `alter table audit_entries add constraint nothing_more check (action <> 'tag-value-delete') not valid`,
  )
  try {
    expect(await remove(key.id, valueId(key, 0))).toMatchObject({ status: 500 })
    expect(await read(key)).toEqual(before)
  } finally {
    await asOwner(relational.owner, 'alter table audit_entries drop constraint nothing_more')
  }
  const after = await remove(key.id, valueId(key, 0))
  expect(after.status).toBe(200)
  expect(await read(key)).toEqual(after.data)
})

test('a key that the service made is not changed here', async () => {
  const key = await create(['Spring'])
  await opened.relational.pool.query(`update tag_keys set assignment_mode = 'system'`)
  expect(await remove(key.id, valueId(key, 0))).toMatchObject({
    status: 409,
    error_code: 9043,
    data: { id: key.id },
  })
  expect((await read(key)).definition.values).toEqual(key.definition.values)
})
