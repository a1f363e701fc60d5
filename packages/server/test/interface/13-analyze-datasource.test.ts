import { gzipSync } from 'node:zlib'
import type { Datasource } from '@millrace/contract/resources/datasource.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fieldOf, openWorkerDatasources, type WorkerDatasources } from '../support/worker-datasources.ts'

let world: WorkerDatasources

beforeAll(async () => {
  world = await openWorkerDatasources()
})

afterAll(() => world.close())

const products = 'sku,name,price\nA1,Anvil,12.5\nB2,Bolt,0.2\nC3,Crane,\n'
const fields = [
  { name: 'sku', type: 'reference_id', isKey: true },
  { name: 'name' },
  { name: 'price', type: 'price', primitive: 'number' },
] as const

describe('the way to a live version', () => {
  test('an uploaded file is analysed, its fields are chosen, and its rows go live', async () => {
    const { id, status, mode, type } = await world.create({ source: { type: 'file' } })
    expect([status, mode, type]).toEqual(['draft', 'worker', 'generic'])
    expect((await world.call('POST', `/${id}/versions/live`)).error_code).toBe(1021)
    const uploaded = await world.upload(id, products, 'products.csv')
    expect(uploaded.data.source).toEqual({
      type: 'file',
      content: {
        bytes: products.length,
        fileName: 'products.csv',
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        uploadedAt: expect.any(String),
      },
    })
    expect((await world.call('POST', `/${id}/versions/live`)).error_code).toBe(1022)
    const analysed = await world.call<{ fields: object[] }>('POST', `/worker/${id}/analyzer`)
    expect(analysed.data.fields.map((field) => (field as { name: string }).name)).toEqual([
      'sku',
      'name',
      'price',
    ])
    await world.call('PATCH', `/${id}/fields`, { fields: fields.map(fieldOf) })
    const published = await world.call<Datasource>('POST', `/${id}/versions/live`)
    expect([published.status, published.data.status]).toEqual([200, 'updating'])
    expect((await world.call('POST', `/${id}/versions/live`)).error_code).toBe(1024)
    expect(await world.work()).toBe(1)
    const [done] = await world.imports(id)
    expect(done).toMatchObject({
      trigger: 'live',
      state: 'done',
      progress: 1,
      rowsRead: 3,
      rowsStored: 3,
      rowsRefused: 0,
      bytes: products.length,
      fault: null,
    })
    const { data } = await world.call<Datasource>('GET', `/${id}`)
    expect(data.status).toBe('published')
    expect(data.versions).toMatchObject([
      { id: null, state: 'DRAFT' },
      { state: 'LIVE', rows: 3, revision: expect.any(String) },
    ])
    expect(data.queriableFields?.[2]).toEqual({
      name: 'price',
      type: 'price',
      primitive: 'number',
      unique: false,
      sortable: true,
      allowedOperators: ['$neq', '$nne', '$lt', '$lte', '$gt', '$gte', '$empty'],
    })
    expect(await world.rows(id)).toEqual([
      { sku: 'A1', name: 'Anvil', price: 12.5 },
      { sku: 'B2', name: 'Bolt', price: 0.2 },
      { sku: 'C3', name: 'Crane', price: null },
    ])
  })

  test('a file packed with gzip is read as the file within', async () => {
    const { id } = await world.live(products, fields)
    await world.upload(id, gzipSync('sku,name,price\nZ9,Zip,1\n'), 'products.csv.gz')
    await world.work()
    expect(await world.rows(id)).toEqual([{ sku: 'Z9', name: 'Zip', price: 1 }])
  })

  test('a failed import leaves the live version as it is, and says why', async () => {
    const { id, versions } = await world.live(products, fields)
    await world.upload(id, 'sku,name,price\n,no key,1\n,none either,2\nD4,Drill,3\n')
    expect(await world.work()).toBe(1)
    const [failed] = await world.imports(id)
    expect(failed).toMatchObject({
      state: 'failed',
      trigger: 'upload',
      fault: { reason: 'too-many-refused' },
    })
    expect(failed?.fault?.message).toContain('2 of 3 rows (66.7 %)')
    const { data } = await world.call<Datasource>('GET', `/${id}`)
    expect(data).toMatchObject({ status: 'error', failure: failed?.fault?.message })
    expect(data.versions?.[1]).toEqual(versions?.[1])
    expect(await world.rows(id)).toHaveLength(3)
    const logs = await world.call<{ rule: string; count: number }[]>('GET', `/${id}/logs`)
    expect(logs.data.map(({ rule, count }) => [rule, count])).toContainEqual(['key_missing', 2])
    await world.call('PATCH', `/${id}`, { maxRefusedShare: 0.9 })
    await world.call('POST', `/${id}/refresh`)
    await world.work()
    expect(await world.rows(id)).toEqual([{ sku: 'D4', name: 'Drill', price: 3 }])
    expect((await world.call<Datasource>('GET', `/${id}`)).data.status).toBe('published')
  })

  test('of rows with the same key the last one counts', async () => {
    const { id } = await world.live('sku,name\nA,first\nB,other\nA,last\n', fields.slice(0, 2))
    expect(await world.rows(id)).toEqual([
      { sku: 'B', name: 'other' },
      { sku: 'A', name: 'last' },
    ])
    const logs = await world.call<{ rule: string; count: number }[]>('GET', `/${id}/logs?rule=duplicate_key`)
    expect(logs.data).toMatchObject([{ count: 1 }])
  })

  test('texts that a store cannot hold lose what it cannot', async () => {
    const content = '{"sku":"A\\u0000\\\\\\t1","name":"half \\ud800 \\"x\\"\\n"}\n'
    const { id } = await world.live(content, fields.slice(0, 2), {
      source: { type: 'file', format: 'ndjson' },
    })
    expect(await world.rows(id)).toEqual([{ sku: 'A\\\t1', name: 'half \ufffd "x"' }])
    expect(await world.rows(id, { sku: { $eq: 'A\\\t1' } })).toHaveLength(1)
  })
})
