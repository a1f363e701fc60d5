import { PassThrough, Readable } from 'node:stream'
import {
  type Datasource,
  datasourceStatuses,
  datasourceTypes,
  workerTypes,
} from '@millrace/contract/resources/datasource.ts'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createDatasourceStore } from '../../src/features/datasources/datasource-store.ts'
import { tableOf } from '../../src/features/datasources/rows/row-tables.ts'
import { newId } from '../../src/platform/ids.ts'
import { callerToken } from '../support/service.ts'
import { fieldOf, openWorkerDatasources, type WorkerDatasources } from '../support/worker-datasources.ts'

let world: WorkerDatasources
let uses: { id: string; name: string }[] = []

beforeAll(async () => {
  world = await openWorkerDatasources({ listUsesOfDatasource: async () => uses })
})

afterEach(() => {
  uses = []
  Object.assign(world.caller, { companyId: world.companyId, teamIds: [world.teamId] })
  world.web = (_, response) => void response.writeHead(404).end()
})

afterAll(() => world.close())

const content = 'sku,price\nA,1\nB,2\n'
const fields = [
  { name: 'sku', isKey: true },
  { name: 'price', type: 'number', primitive: 'number' },
] as const
const read = async (id: string) => (await world.call<Datasource>('GET', `/${id}`)).data
const errorsOf = (reply: { data: unknown }) =>
  (reply.data as { errors: { path: string; message: string }[] }).errors

/** A worker datasource of an address whose rows are live. */
async function liveAddress(settings: object = {}): Promise<string> {
  const { id } = await world.create({ source: { type: 'url', url: world.url('/products.csv') }, ...settings })
  await world.call('PATCH', `/${id}/fields`, { fields: fields.map(fieldOf) })
  await world.call('POST', `/${id}/versions/live`)
  expect(await world.work()).toBe(1)
  return id
}

const serve = (text: string, headers: Record<string, string> = {}) => {
  world.web = (request, response) => {
    if (headers.etag !== undefined && request.headers['if-none-match'] === headers.etag) {
      response.writeHead(304).end()
      return
    }
    response.writeHead(200, { 'content-type': 'text/csv', ...headers }).end(text)
  }
}

describe('settings', () => {
  test('what was read can be sent back', async () => {
    const { id } = await world.live(content, fields)
    const before = await read(id)
    const reply = await world.call<Datasource>('PATCH', `/${id}`, before)
    expect(reply.status).toBe(200)
    const { updatedAt: _, ...rest } = before
    expect(reply.data).toMatchObject(rest)
  })

  test('a list shows neither versions nor fields', async () => {
    const { id } = await world.live(content, fields)
    const { data } = await world.call<Datasource[]>('GET', '?perPage=100')
    const found = data.find((each) => each.id === id)
    expect(found).toMatchObject({ mode: 'worker', status: 'published', updateStrategy: 'replace' })
    expect(found).not.toHaveProperty('versions')
  })

  test.each([
    [{ source: { type: 'file', url: 'https://shop.example/a' } }, 'source.url'],
    [{ source: { type: 'url' } }, 'source.url'],
    [{ source: { type: 'url', url: 'https://shop.example:9/', headers: { Host: 'x' } } }, 'source.url'],
    [{ source: { type: 'file', encoding: 'klingon' } }, 'source.encoding'],
    [{ source: { type: 'file', csvDelimiter: 'x' } }, 'source.csvDelimiter'],
    [{ source: { type: 'file' }, schedule: { everyMinutes: 60 } }, 'schedule'],
    [{ schedule: { everyMinutes: 60 } }, 'schedule'],
    [{ schedule: {} }, 'schedule'],
    [{ schedule: { cron: '* * * * *' } }, 'schedule.cron'],
    [{ schedule: { cron: '0 5 30 2 *' } }, 'schedule.cron'],
    [{ schedule: { everyMinutes: 60, timezone: 'UTC' } }, 'schedule.timezone'],
    [{ mode: 'ingester', type: 'product' }, 'type'],
    [{ mode: 'ingester', updateStrategy: 'upsert' }, 'updateStrategy'],
    [{ type: 'analytics' }, 'type'],
  ])('%j is refused, naming %s', async (settings, path) => {
    const reply = await world.call('POST', '', { name: 'Rows', mode: 'worker', ...settings })
    expect([reply.status, reply.error_code]).toEqual([400, 1034])
    expect(errorsOf(reply).map((each) => each.path)).toContain(path)
  })

  test.each([
    [{ format: 'json', csvDelimiter: ';' }, { csvDelimiter: 'is for csv, and format is json: leave it out' }],
    [
      { format: 'ndjson', csvColumns: ['a'], rootPath: '*' },
      { csvColumns: 'is for csv', rootPath: 'is for json and xml' },
    ],
    [
      { format: 'csv', rootPath: '*', sheet: 'Prices' },
      { rootPath: 'is for json and xml', sheet: 'is for xlsx' },
    ],
    [
      { format: 'parquet', encoding: 'utf-8', compression: 'gzip', entry: 'a.csv' },
      { compression: 'format is parquet', encoding: 'format is parquet', entry: 'is for zip' },
    ],
    [{ compression: 'gzip', entry: 'a.csv' }, { entry: 'is for zip, and compression is gzip' }],
    [
      { csvDelimiter: ';', rootPath: '*', sheet: 'Prices' },
      {
        rootPath: 'is for json and xml, and csvDelimiter is for csv',
        sheet: 'is for xlsx, and csvDelimiter',
      },
    ],
    [{ encoding: 'utf-8', sheet: 'Prices' }, { sheet: 'and encoding is for csv, json, ndjson and xml' }],
  ])('options that would never be used are refused, each by its name: %j', async (options, faults) => {
    const { id } = await world.create({ source: { type: 'file' } })
    for (const reply of [
      await world.call('POST', '', { name: 'Rows', mode: 'worker', source: { type: 'file', ...options } }),
      await world.call('PATCH', `/${id}`, { source: { type: 'file', ...options } }),
    ]) {
      expect([reply.status, reply.error_code]).toEqual([400, 1034])
      expect(errorsOf(reply)).toEqual(
        Object.entries(faults).map(([name, message]) => ({
          path: `source.${name}`,
          message: expect.stringContaining(message),
        })),
      )
    }
    expect((await read(id)).source).toEqual({ type: 'file' })
  })

  test.each([
    { csvDelimiter: ';', csvColumns: ['a'], encoding: 'windows-1252', compression: 'zip', entry: 'a.csv' },
    { format: 'json', rootPath: 'products.*', compression: 'gzip' },
    { format: 'xml', rootPath: 'rss.item', encoding: 'utf-8' },
    { format: 'xlsx', sheet: 'Prices' },
    { rootPath: 'rss.item' },
    { entry: 'a.csv' },
  ])('options that belong together are kept: %j', async (options) => {
    const source = { type: 'file', ...options }
    expect((await world.create({ source })).source).toEqual(source)
  })

  test('a schedule needs an address, also once the source changes', async () => {
    const source = { type: 'url', url: world.url('/a.csv') }
    const schedule = { everyMinutes: 60 }
    const { id } = await world.create({ source: { type: 'file' } })
    const change = (settings: object) => world.call('PATCH', `/${id}`, settings)
    expect(errorsOf(await change({ schedule }))).toEqual([
      {
        path: 'schedule',
        message: 'is for a source of type url, and a file is imported when it is uploaded: leave it out',
      },
    ])
    expect((await change({ source, schedule })).data).toMatchObject({ source, schedule })
    expect(errorsOf(await change({ source: { type: 'file' } }))).toEqual([
      { path: 'schedule', message: expect.stringMatching(/: set it to null too$/) },
    ])
    expect(await read(id)).toMatchObject({ source, schedule })
    const { data } = await change({ source: { type: 'file' }, schedule: null })
    expect(data).toMatchObject({ source: { type: 'file' }, schedule: null })
  })

  test('what was stored before a rule can be read, sent back and changed, but not made anew', async () => {
    const source = { type: 'file', format: 'json', csvDelimiter: ';' }
    const schedule = { everyMinutes: 60 }
    const { id } = await world.create({ source: { type: 'file' } })
    await world.database.pool.query(
      'update worker_datasources set source = $2, schedule = $3 where datasource_id = $1',
      [id, source, schedule],
    )
    const before = await read(id)
    expect(before).toMatchObject({ source, schedule })
    expect(await world.call('PATCH', `/${id}`, before)).toMatchObject({ status: 200, data: { source } })
    expect(await world.call('PATCH', `/${id}`, { name: 'Other' })).toMatchObject({ status: 200 })
    const other = await world.call('PATCH', `/${id}`, { source: { ...source, csvDelimiter: ',' } })
    expect(errorsOf(other)).toMatchObject([{ path: 'source.csvDelimiter' }])
    const later = await world.call('PATCH', `/${id}`, { schedule: { everyMinutes: 30 } })
    expect(errorsOf(later)).toMatchObject([{ path: 'schedule' }])
    const mended = await world.call('PATCH', `/${id}`, {
      source: { type: 'file', format: 'json' },
      schedule: null,
    })
    expect(mended.data).toMatchObject({ source: { type: 'file', format: 'json' }, schedule: null })
  })

  test('settings of workers are refused for a tracking datasource before what they hold is looked at', async () => {
    const { data } = await world.call<Datasource>('POST', '', { name: 'Shop' })
    const refused = await world.call('PATCH', `/${data.id}`, { schedule: { everyMinutes: 60 } })
    expect(refused.error_code).toBe(1020)
    const made = await world.call('POST', '', { name: 'Shop', schedule: { everyMinutes: 60 } })
    expect(errorsOf(made)).toMatchObject([
      { path: 'schedule', message: expect.stringContaining('set mode to worker') },
    ])
  })

  test('an address that cannot be fetched is named with the reason', async () => {
    const source = { type: 'url', url: 'ftp://shop.example/a.csv' }
    const reply = await world.call('POST', '', { name: 'Rows', mode: 'worker', source })
    expect(reply.message).toMatch(/^source\.url cannot be used: the address must begin with https:\/\//)
  })

  test('headers are kept sealed, never answered, and dropped when the address moves to another host', async () => {
    const source = { type: 'url', url: world.url('/a.csv'), headers: { Authorization: 'Bearer secret-7' } }
    const created = await world.create({ source })
    expect(JSON.stringify(created)).not.toContain('secret-7')
    expect(created.source?.headerNames).toEqual(['Authorization'])
    const { rows } = await world.database.pool.query(
      'select * from worker_datasources where datasource_id = $1',
      [created.id],
    )
    expect(JSON.stringify(rows)).not.toContain('secret-7')
    const moved = async (url: string) =>
      (await world.call<Datasource>('PATCH', `/${created.id}`, { source: { type: 'url', url } })).data.source
    expect(await moved(world.url('/b.csv'))).toMatchObject({ headerNames: ['Authorization'] })
    const elsewhere = world.url('/b.csv').replace('feeds.', 'other.')
    expect(await moved(elsewhere)).not.toHaveProperty('headerNames')
    expect(await moved(world.url('/b.csv'))).not.toHaveProperty('headerNames')
  })

  test('fields are changed by name, and a list that cannot be kept says why', async () => {
    const { id } = await world.live(content, fields)
    const change = (changes: object[]) => world.call<Datasource>('PATCH', `/${id}/fields`, { changes })
    const { data } = await change([{ name: 'price', rename: 'cost', type: 'price' }])
    expect(data.versions?.[0]?.fields[1]).toMatchObject({ name: 'cost', type: 'price', primitive: 'number' })
    expect(data.versions?.[1]?.fields[1]).toMatchObject({ name: 'price', type: 'number' })
    for (const [changes, path] of [
      [[{ name: 'nothing' }], 'changes.0.name'],
      [[{ name: 'cost', rename: 'sku' }], 'fields.1.name'],
      [[{ name: 'cost', rename: 'Not a name' }], 'fields.1.name'],
      [[{ name: 'cost', rename: 'constructor' }], 'fields.1.name'],
      [[{ name: 'cost', isKey: true }], 'fields.1.isKey'],
      [[{ name: 'sku', selected: false }], 'fields.0.isKey'],
      [
        [{ name: 'sku', rulesPerSources: { '0': [{ name: 'magic', params: {} }] } }],
        'fields.0.rulesPerSources',
      ],
      [[{ name: 'sku', rulesPerSources: {} }], 'fields.0.rulesPerSources'],
      [
        [{ name: 'sku', rulesPerSources: { '1': [{ name: 'path', params: { value: 'sku' } }] } }],
        'fields.0.rulesPerSources',
      ],
    ] as const) {
      const reply = await change([...changes])
      expect([reply.status, reply.error_code]).toEqual([400, 1023])
      expect(errorsOf(reply as never).map((each) => each.path)).toContain(path)
    }
    const many = Array.from({ length: 65 }, (_, i) => fieldOf({ name: `f${i}` }))
    const reply = await world.call('PATCH', `/${id}/fields`, { fields: many })
    expect(reply.message).toContain('at most 64 selected fields')
  })

  test('a product datasource goes live with a field of its reference alone', async () => {
    const { id } = await world.create({ type: 'product', source: { type: 'file' } })
    await world.upload(id, content)
    await world.call('PATCH', `/${id}/fields`, { fields: fields.map(fieldOf) })
    const refused = await world.call('POST', `/${id}/versions/live`)
    expect([refused.error_code, refused.message]).toEqual([1023, expect.stringContaining('reference_id')])
    await world.call('PATCH', `/${id}/fields`, { changes: [{ name: 'sku', type: 'reference_id' }] })
    expect((await world.call('POST', `/${id}/versions/live`)).status).toBe(200)
  })
})

describe('a list', () => {
  test('by status or type holds those and no others, as they are answered', async () => {
    const { companyId, teamId } = world
    const store = createDatasourceStore(world.database.db)
    await store.insert({
      id: newId(),
      companyId,
      name: 'Displays',
      kind: 'workflow_events',
      teamIds: [teamId],
    })
    await world.call('POST', '', { name: 'Shop' })
    for (const type of workerTypes) await world.create({ type })
    // What other tests have queued.
    await world.work()
    serve(content)
    const [published, paused, failed, updating] = [
      await liveAddress(),
      await liveAddress(),
      await liveAddress(),
      await liveAddress(),
    ]
    await world.call('POST', `/${paused}/pause`)
    world.web = (_, response) => void response.writeHead(410).end()
    await world.call('POST', `/${failed}/refresh`)
    await world.work()
    await world.call('POST', `/${updating}/refresh`)
    const list = async (query: string) => {
      const { data, paginationCount } = await world.call<Datasource[]>('GET', `?perPage=100${query}`)
      expect(paginationCount).toBe(data.length)
      return data
    }
    const all = await list('')
    const statusOf = (id: string) => all.find((each) => each.id === id)?.status
    expect([published, paused, failed, updating].map(statusOf)).toEqual([
      'published',
      'paused',
      'error',
      'updating',
    ])
    for (const [name, values] of [
      ['status', datasourceStatuses],
      ['type', datasourceTypes],
    ] as const) {
      for (const value of values) {
        const wanted = all.filter((each) => each[name] === value)
        expect(wanted, value).not.toEqual([])
        expect(await list(`&${name}=${value}`), value).toEqual(wanted)
      }
    }
    expect(await list('&status=draft&type=product&mode=worker')).toEqual(
      all.filter(({ status, type }) => status === 'draft' && type === 'product'),
    )
    await world.work()
  })

  test.each([
    ['status=live', 'status', 'must be one of "draft", "published", "updating", "paused", "error"'],
    ['status=publishd', 'status', 'did you mean "published"?'],
    ['status=draft&status=error', 'status', 'may be sent once; it is sent 2 times'],
    ['type=products', 'type', 'did you mean "product"?'],
    ['type=', 'type', 'must be one of "analytics"'],
  ])('with %s is refused by the name of the parameter', async (query, path, message) => {
    const reply = await world.call('GET', `?${query}`)
    expect([reply.status, reply.error_code]).toEqual([400, 1])
    expect(errorsOf(reply)).toEqual([{ path, message: expect.stringContaining(message) }])
  })
})

describe('content', () => {
  const uploadOf = (id: string, body: Readable) =>
    world.context.services.workerDatasources.upload(
      { principal: { ...world.caller, email: 'ada@example.com' } as never, address: '192.0.2.1' },
      id,
      { body, declaredBytes: undefined, fileName: undefined, contentType: undefined },
    )

  test('a form that holds the file is refused, and the content stays', async () => {
    const { id } = await world.create({ source: { type: 'file' } })
    const { data } = await world.upload(id, content)
    const boundary = 'x7'
    const refused = await world.app.inject({
      method: 'PUT',
      url: `/v2/datasources/${id}/content`,
      headers: { ...callerToken, 'content-type': `multipart/form-data; boundary=${boundary}` },
      payload: `--${boundary}\r\nContent-Disposition: form-data; name="file"\r\n\r\n${content}\r\n--${boundary}--\r\n`,
    })
    expect(refused.json()).toMatchObject({
      code: 415,
      error_code: 13,
      message: 'Send the file itself as the body, not a form that holds it',
    })
    expect((await world.call('GET', `/${id}`)).data.source).toEqual(data.source)
  })

  test('an upload that finds no room on the disk is to be sent again, and leaves nothing', async () => {
    const { id } = await world.create({ source: { type: 'file' } })
    const full = Readable.from(
      (async function* () {
        yield Buffer.from('sku\n')
        throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
      })(),
    )
    await expect(uploadOf(id, full)).rejects.toMatchObject({ errorName: 'contentNotStored', status: 503 })
    expect((await read(id)).source).toEqual({ type: 'file' })
  })

  test('a company uploads four files at once', async () => {
    const { id } = await world.create({ source: { type: 'file' } })
    const bodies = Array.from({ length: 5 }, () => new PassThrough())
    const uploads = bodies.map((body) => uploadOf(id, body))
    const refusals = uploads.map((upload) => new Promise((resolve) => upload.catch(resolve)))
    expect(await Promise.race(refusals)).toMatchObject({ errorName: 'tooManyRequests' })
    for (const body of bodies) body.end(content)
    const outcomes = await Promise.allSettled(uploads)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    expect((await world.upload(id, content)).status).toBe(200)
  })

  test('an empty upload changes nothing', async () => {
    const { id } = await world.live(content, fields)
    const before = await read(id)
    const empty = await world.app.inject({
      method: 'PUT',
      url: `/v2/datasources/${id}/content`,
      headers: { authorization: `Bearer ${'c'.repeat(43)}` },
      payload: '',
    })
    expect(empty.json().error_code).toBe(1031)
    expect(await read(id)).toEqual(before)
  })

  test('content of a tracking datasource, and of one with an address, is refused', async () => {
    const tracking = await world.call<Datasource>('POST', '', { name: 'Shop' })
    expect((await world.upload(tracking.data.id, content)).error_code).toBe(1020)
    const { id } = await world.create({ source: { type: 'url', url: world.url('/') } })
    expect((await world.upload(id, content)).error_code).toBe(1032)
  })

  test('a file that is uploaded while another is imported is imported after it', async () => {
    const { id } = await world.live(content, fields)
    await world.upload(id, 'sku,price\nC,3\n')
    await world.upload(id, 'sku,price\nD,4\n')
    await world.work()
    expect(await world.rows(id)).toEqual([{ sku: 'D', price: 4 }])
  })
})

describe('addresses', () => {
  test('rows come from an address, with the headers of its source', async () => {
    let sent: string | undefined
    world.web = (request, response) => {
      sent = request.headers.authorization
      response.writeHead(200, { 'content-type': 'text/csv' }).end(content)
    }
    const headers = { Authorization: 'Bearer feed' }
    const id = await liveAddress({ source: { type: 'url', url: world.url('/products.csv'), headers } })
    expect(sent).toBe('Bearer feed')
    expect(await world.rows(id)).toHaveLength(2)
    const analysed = await world.call<{ fields: { name: string; primitive: string }[] }>(
      'POST',
      `/worker/${id}/analyzer`,
    )
    expect(analysed.data.fields.map(({ name, primitive }) => [name, primitive])).toEqual([
      ['sku', 'string'],
      ['price', 'number'],
    ])
  })

  test('unchanged content is not imported again, by its ETag or by its bytes', async () => {
    serve(content, { etag: '"v1"' })
    const id = await liveAddress()
    const { versions } = await read(id)
    await world.call('POST', `/${id}/refresh`)
    await world.work()
    expect((await world.imports(id))[0]).toMatchObject({ state: 'unchanged', progress: 1 })
    serve(content)
    await world.call('POST', `/${id}/refresh`)
    await world.work()
    expect((await world.imports(id))[0]).toMatchObject({ state: 'unchanged' })
    expect((await read(id)).versions).toEqual(versions)
    serve('sku,price\nC,3\n', { etag: '"v2"' })
    await world.call('POST', `/${id}/refresh`)
    await world.work()
    expect(await world.rows(id)).toEqual([{ sku: 'C', price: 3 }])
  })

  test('a failed refresh is mailed to the creator once, until one succeeds', async () => {
    serve(content)
    const id = await liveAddress()
    const mails = async () =>
      (
        await world.database.pool.query('select id from outgoing_mails where recipient = $1', [
          'ada@example.com',
        ])
      ).rowCount
    const before = await mails()
    const refresh = async () => {
      await world.call('POST', `/${id}/refresh`)
      await world.work()
    }
    world.web = (_, response) => void response.writeHead(500).end('secret')
    await refresh()
    expect(await read(id)).toMatchObject({
      status: 'error',
      failure: expect.stringMatching(/answered with status 500/),
    })
    expect((await world.call<object[]>('GET', `/${id}/logs?kind=refused`)).data).toMatchObject([
      { rule: 'source-not-reachable', path: 'source', sample: expect.stringContaining('status 500') },
    ])
    expect(await mails()).toBe((before ?? 0) + 1)
    await refresh()
    expect(await mails()).toBe((before ?? 0) + 1)
    serve('sku,price\nE,5\n')
    await refresh()
    expect(await read(id)).toMatchObject({ status: 'published' })
    world.web = (_, response) => void response.writeHead(410).end()
    await refresh()
    expect(await mails()).toBe((before ?? 0) + 2)
    expect(await world.rows(id)).toEqual([{ sku: 'E', price: 5 }])
  })
})

describe('schedules', () => {
  const plan = () => world.context.services.datasourceImports.planner.plan()

  test('a planned time that has come is one import, however often it is looked for', async () => {
    serve(content)
    const id = await liveAddress({ schedule: { everyMinutes: 30 } })
    const { nextRefreshAt } = await read(id)
    expect(Date.parse(nextRefreshAt ?? '')).toBe(world.database.time.clock.now() + 30 * 60_000)
    await plan()
    expect(await world.imports(id)).toHaveLength(1)
    world.database.time.advance(95 * 60_000)
    await Promise.all([plan(), plan()])
    await plan()
    const [planned] = await world.imports(id)
    expect(planned).toMatchObject({ trigger: 'schedule', state: 'queued' })
    expect(await world.imports(id)).toHaveLength(2)
    expect(Date.parse((await read(id)).nextRefreshAt ?? '')).toBe(
      world.database.time.clock.now() + 30 * 60_000,
    )
    serve('sku,price\nF,6\n')
    await world.work()
    expect(await world.rows(id)).toEqual([{ sku: 'F', price: 6 }])
  })

  test('cron follows the time zone of the company, and a zone that is none is refused', async () => {
    const setTimezone = (timezone: string) =>
      world.database.pool.query('update companies set timezone = $2 where id = $1', [
        world.companyId,
        timezone,
      ])
    const schedule = { cron: '30 7 * * *' }
    const source = { type: 'url', url: world.url('/') }
    await setTimezone('Asia/Kolkata')
    expect((await world.create({ source, schedule })).nextRefreshAt).toMatch(/T02:00:00.000Z$/)
    await setTimezone('UTC')
    expect((await world.create({ source, schedule })).nextRefreshAt).toMatch(/T07:30:00.000Z$/)
    const unknown = await world.call('POST', '', {
      name: 'Rows',
      mode: 'worker',
      schedule: { ...schedule, timezone: 'Mars/Base' },
    })
    expect(errorsOf(unknown)[0]?.path).toBe('schedule.timezone')
  })

  test('an import that waits while its datasource is paused runs once it is resumed', async () => {
    serve(content)
    const id = await liveAddress({})
    expect((await world.call('POST', `/${id}/refresh`)).status).toBe(200)
    expect((await world.call('POST', `/${id}/pause`)).status).toBe(200)
    expect(await world.work()).toBe(0)
    expect(await world.imports(id)).toMatchObject([{ state: 'queued' }, { state: 'done' }])
    world.database.time.advance(3_600_000)
    expect(await world.context.services.datasourceImports.findDelay()).toBe(0)
    expect((await world.call('POST', `/${id}/resume`)).status).toBe(200)
    expect(await world.work()).toBe(1)
    expect((await world.imports(id))[0]?.state).toBe('unchanged')
  })

  test('one company does not take every lane', async () => {
    serve(content)
    const ids = [await liveAddress({}), await liveAddress({}), await liveAddress({})]
    const { worker } = world.context.services.datasourceImports
    const answers: (() => void)[] = []
    world.web = (_, response) => void answers.push(() => response.end(content))
    for (const id of ids) await world.call('POST', `/${id}/refresh`)
    const running = [worker.runOne(), worker.runOne()]
    await expect.poll(() => answers.length).toBe(2)
    expect(await worker.runOne()).toBe(false)
    serve(content)
    for (const answer of answers) answer()
    expect(await Promise.all(running)).toEqual([true, true])
    expect(await world.work()).toBe(1)
  })

  test('a paused datasource is not imported, and goes on with the next time once it is resumed', async () => {
    serve(content)
    const id = await liveAddress({ schedule: { everyMinutes: 10 } })
    expect((await world.call<Datasource>('POST', `/${id}/pause`)).data).toMatchObject({
      status: 'paused',
      nextRefreshAt: null,
    })
    expect((await world.call('POST', `/${id}/refresh`)).error_code).toBe(1025)
    world.database.time.advance(3_600_000)
    await plan()
    expect(await world.imports(id)).toHaveLength(1)
    expect(await world.rows(id)).toHaveLength(2)
    const resumed = await world.call<Datasource>('POST', `/${id}/resume`)
    expect(resumed.data.status).toBe('published')
    await plan()
    expect(await world.imports(id)).toHaveLength(1)
    world.database.time.advance(11 * 60_000)
    await plan()
    expect(await world.imports(id)).toHaveLength(2)
  })
})

describe('rows for nodes of workflows', () => {
  const ask = (id: string, filters: object[], further: object = {}) =>
    world.context.services.datasourceRows.queryRows({
      companyId: world.companyId,
      datasourceId: id,
      match: 'and',
      filters: filters as never,
      limit: 10,
      signal: new AbortController().signal,
      ...further,
    })

  test('rows are found by key and by condition, in order, with a revision that follows them', async () => {
    const { id } = await world.live('sku,price\nA,1\nB,2\nC,3\n', fields)
    const byKey = await ask(id, [{ field: 'sku', operator: '$eq', value: 'B' }])
    expect(byKey.rows).toEqual([{ sku: 'B', price: 2 }])
    const { revisionOf } = world.context.services.datasourceRows
    expect(await revisionOf(world.companyId, id)).toBe(byKey.revision)
    const dear = await ask(id, [{ field: 'price', operator: '$gte', value: 2 }], {
      sort: { field: 'price', order: 'desc' },
    })
    expect(dear.rows.map(({ sku }) => sku)).toEqual(['C', 'B'])
    expect((await ask(id, [])).rows).toHaveLength(3)
    await world.upload(id, 'sku,price\nZ,9\n')
    await world.work()
    world.database.time.advance(600)
    const later = await ask(id, [])
    expect(later.rows).toEqual([{ sku: 'Z', price: 9 }])
    expect(later.revision).not.toBe(byKey.revision)
  })

  test('D12: rows of more than 4 MB are not read at once, by nodes or queries', async () => {
    const { id } = await world.live('sku,price\nA,1\nB,1\nC,1\nD,1\nE,1\nF,2\n', fields)
    const [versionId = ''] = (await ask(id, [])).revision.split('.')
    // As large as rows may be.
    await world.database.pool.query(
      `update ${tableOf(versionId)} set row = row || jsonb_build_object('more', repeat('x', 900000)) where key < 'F'`,
    )
    const tooMany = { errorName: 'tooComplex', data: { limit: '4 MB' } }
    await expect(ask(id, [])).rejects.toMatchObject(tooMany)
    expect((await ask(id, [], { limit: 4 })).rows).toHaveLength(4)
    const read = (page: string) => world.call('POST', `/query${page}`, { datasourceId: id, query: {} })
    expect(await read('')).toMatchObject({
      status: 400,
      error_code: 19,
      message: 'The rows have more than 4 MB together: ask for fewer at once',
    })
    expect((await read('?perPage=4&page=2')).data).toMatchObject([{}, { sku: 'F', price: 2 }])
  })

  test('another company finds nothing', async () => {
    const { id } = await world.live(content, fields)
    await expect(ask(id, [], { companyId: newId() })).rejects.toMatchObject({
      errorName: 'datasourceNotLive',
    })
    expect(await world.context.services.datasourceRows.revisionOf(newId(), id)).toBeUndefined()
  })
})

describe('queries', () => {
  test.each([
    ['{', 'query'],
    ['[]', 'query'],
    [{ nothing: { $eq: 'x' } }, 'query.nothing'],
    [{ sku: { $gt: 'x' } }, 'query.sku.$gt'],
    [{ sku: { $eq: 7 } }, 'query.sku.$eq'],
    [{ sku: { $eq: [] } }, 'query.sku.$eq'],
    [{ price: { $neq: '7' } }, 'query.price.$neq'],
    [{ sku: { $eq: 'a', $ne: 'b' } }, 'query.sku'],
    [{ sku: { $eq: 'a' }, price: { $neq: 1 } }, 'query'],
    [{ $and: { sku: { $eq: 'a' } } }, 'query.$and'],
    [{ $and: [{}] }, 'query.$and.0'],
    ['{"constructor":{"$eq":"a"}}', 'query.constructor'],
    ['{"__proto__":{"$eq":"a"}}', 'query.__proto__'],
  ])('%j is refused, naming %s', async (query, path) => {
    const { id } = await world.live(content, fields)
    const reply = await world.call('POST', '/query', { datasourceId: id, query })
    expect([reply.status, reply.error_code]).toEqual([400, 1028])
    expect(errorsOf(reply)[0]?.path).toBe(path)
  })

  test.each([
    [
      { query: { prise: { $neq: 7 } } },
      'query.prise names "prise", which the datasource does not have; did you mean "price"?',
    ],
    [
      { fields: ['prise'] },
      'fields.0 names "prise", which the datasource does not have; did you mean "price"?',
    ],
    [
      { query: { price: { $eq: 7 } } },
      'query.price.$eq must be one of $neq (equal), $nne (not equal), $lt, $lte, $gt, $gte, $empty for a field of number',
    ],
    [
      { query: { sku: 'A' } },
      'query.sku must be an object with one operator: $eq, $ne, $contains, $notcontains, $startswith, $endswith, $empty',
    ],
  ])('%j is answered by what would be right', async (asked, message) => {
    const { id } = await world.live(content, fields)
    expect((await world.call('POST', '/query', { datasourceId: id, ...asked })).message).toBe(message)
  })

  test('the tree may be JSON text, and operators may lack their dollar sign', async () => {
    const { id } = await world.live(content, fields)
    const query = JSON.stringify({ $or: [{ price: { lt: 2 } }, { sku: { eq: 'nothing' } }] })
    const reply = await world.call('POST', '/query', { datasourceId: id, query, fields: ['sku'] })
    expect(reply.data).toEqual([{ sku: 'A' }])
  })

  test('depth, leaves and pages are bounded', async () => {
    const { id } = await world.live(content, fields)
    const ask = (query: object, page = '') => world.call('POST', `/query${page}`, { datasourceId: id, query })
    let deep: object = { sku: { $eq: 'A' } }
    for (let depth = 0; depth < 5; depth++) deep = { $and: [deep] }
    expect((await ask(deep)).status).toBe(200)
    expect((await ask({ $or: [deep] })).message).toContain('deeper than 5')
    const leaves = (count: number) => ({ $or: Array.from({ length: count }, () => ({ sku: { $eq: 'A' } })) })
    expect((await ask(leaves(50))).status).toBe(200)
    expect((await ask(leaves(51))).message).toContain('at most 50')
    expect((await ask({}, '?page=100&perPage=100')).data).toEqual([])
    expect((await ask({}, '?page=101&perPage=100')).message).toContain('first 10000 rows')
  })

  test('what stands in names and values never becomes SQL', async () => {
    const { id } = await world.live(content, fields)
    for (const text of [`'; drop table datasources; --`, `a' or '1'='1`, '$1', '\\', '%', `"`]) {
      const reply = await world.call('POST', '/query', { datasourceId: id, query: { sku: { $eq: text } } })
      expect([reply.status, reply.data]).toEqual([200, []])
      const named = await world.call('POST', '/query', { datasourceId: id, query: { [text]: { $eq: 'A' } } })
      expect(named.error_code).toBe(1028)
      const sorted = await world.call('POST', '/query', {
        datasourceId: id,
        sort: [{ field: text.slice(0, 60) }],
      })
      expect(sorted.error_code).toBe(1028)
    }
  })

  test('a draft and a tracking datasource have no rows', async () => {
    const { id } = await world.create()
    expect((await world.call('POST', '/query', { datasourceId: id })).error_code).toBe(1027)
    const tracking = await world.call<Datasource>('POST', '', { name: 'Shop' })
    expect((await world.call('POST', '/query', { datasourceId: tracking.data.id })).error_code).toBe(1020)
  })
})

describe('who sees it, and its end', () => {
  test('every address answers 404 to another team and another company', async () => {
    const { id } = await world.live(content, fields)
    for (const change of [{ teamIds: [newId()] }, { companyId: newId() }, { teamIds: [] }]) {
      Object.assign(world.caller, { companyId: world.companyId, teamIds: [world.teamId] }, change)
      const replies = [
        await world.call('GET', `/${id}`),
        await world.call('PATCH', `/${id}`, { name: 'Mine' }),
        await world.call('DELETE', `/${id}`),
        await world.call('POST', `/${id}/pause`),
        await world.call('POST', `/${id}/resume`),
        await world.call('POST', `/${id}/refresh`),
        await world.upload(id, content),
        await world.call('PATCH', `/${id}/fields`, { fields: [] }),
        await world.call('POST', `/${id}/versions/live`),
        await world.call('GET', `/${id}/imports`),
        await world.call('GET', `/${id}/logs`),
        await world.call('POST', '/query', { datasourceId: id }),
        await world.call('POST', `/worker/${id}/analyzer`),
      ]
      expect(replies.map(({ status, error_code }) => [status, error_code])).toEqual(
        replies.map(() => [404, 1000]),
      )
    }
  })

  test('one that workflows use is not deleted', async () => {
    const { id } = await world.live(content, fields)
    uses = [{ id: newId(), name: 'Home page' }]
    const refused = await world.call('DELETE', `/${id}`)
    expect([refused.status, refused.error_code]).toEqual([409, 1026])
    expect(refused.data).toEqual({ id, workflows: uses })
    uses = []
    expect((await world.call('DELETE', `/${id}`)).status).toBe(200)
    expect((await world.call('GET', `/${id}`)).status).toBe(404)
    expect((await world.call('DELETE', `/${id}`)).status).toBe(404)
  })

  test('a tracking datasource is renamed, paused, resumed and deleted; its row stays', async () => {
    const { data } = await world.call<Datasource>('POST', '', { name: 'Shop' })
    const { id } = data
    expect((await world.call<Datasource>('PATCH', `/${id}`, { name: 'Web shop' })).data.name).toBe('Web shop')
    expect((await world.call('PATCH', `/${id}`, { schedule: { everyMinutes: 5 } })).error_code).toBe(1020)
    expect((await world.call<Datasource>('POST', `/${id}/pause`)).data.status).toBe('paused')
    expect((await world.call<Datasource>('POST', `/${id}/resume`)).data.status).toBe('published')
    expect((await world.call('DELETE', `/${id}`)).status).toBe(200)
    expect((await world.call('GET', `/${id}`)).status).toBe(404)
    const { rows } = await world.database.pool.query('select status from datasources where id = $1', [id])
    expect(rows).toEqual([{ status: 'deleted' }])
    await vi.waitFor(async () => {
      const reply = await world.app.inject({
        method: 'POST',
        url: `/collect/${id}/tracker`,
        payload: { name: 'page_view' },
      })
      expect(reply.statusCode).toBe(404)
    })
  })
})
