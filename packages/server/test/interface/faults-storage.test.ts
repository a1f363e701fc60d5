import { readdirSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { minute, second } from '../support/fake-time.ts'
import { createStubEngine, eventsQuery } from '../support/saved-queries.ts'
import { callerToken } from '../support/service.ts'
import { openWorkerDatasources, type WorkerDatasources } from '../support/worker-datasources.ts'

/** What fills the disk: docs/faults.md, D10 and D11. */

const mebibyte = 1024 * 1024
/** Of the company, in bytes. */
const limit = 1_000_000
const plenty = 1e12
const engine = createStubEngine()
/** What each look at the disk finds, the last one again and again. */
let free: number[] = [plenty]
let world: WorkerDatasources

beforeAll(async () => {
  world = await openWorkerDatasources({
    environment: { MILLRACE_DISK_RESERVE_MIB: '512', MILLRACE_MAX_STORED_BYTES: String(limit) },
    freeBytes: async () => (free.length > 1 ? free.shift() : free[0]) ?? plenty,
    columnar: engine.columnar,
  })
})

beforeEach(async () => {
  free = [plenty]
  const { data } = await world.call<{ id: string }[]>('GET', '?mode=worker&perPage=100')
  for (const { id } of data) await world.call('DELETE', `/${id}`)
})

afterAll(() => world.close())

const content = (bytes: number) => `sku\n${'x'.repeat(bytes - 5)}\n`
const make = async () => (await world.create({ source: { type: 'file' } })).id
const contents = () => readdirSync(world.context.config.contentDirectory)
const rowTables = async () => {
  const { rows } = await world.database.pool.query(
    `select 1 from pg_class where relkind = 'r' and relnamespace = 'datasource_rows'::regnamespace`,
  )
  return rows.length
}

async function ask(method: 'GET' | 'POST', url: string, payload?: object) {
  const reply = await world.app.inject({ method, url, headers: callerToken, ...(payload && { payload }) })
  const { body } = reply
  return { body, ...(body.startsWith('{') ? reply.json() : {}), status: reply.statusCode }
}

describe('D10: a disk that is nearly full', () => {
  /** One of every way to write much, by its name. */
  async function writeAll() {
    const { data: shop } = await world.call<{ id: string }>('POST', '', { name: 'Shop' })
    const { id: feed } = await world.create({ source: { type: 'url', url: world.url('/feed.csv') } })
    world.web = (_, response) => void response.end('sku\nA\n')
    engine.answer = () => `["${'x'.repeat(400_000)}","1"]\n`
    const event = {
      name: 'seen',
      url: '',
      tmpId: 'd',
      eventId: newId(),
      v: 1,
      data: {},
      key: world.companyId,
    }
    return {
      upload: await world.upload(await make(), content(100)),
      download: await world.call('POST', `/worker/${feed}/analyzer`),
      answer: await ask('POST', '/v2/statistics/query', { ...eventsQuery, dimensions: ['events.name'] }),
      event: await ask('POST', `/collect/${shop.id}/tracker`, event),
    }
  }
  const statuses = (replies: Awaited<ReturnType<typeof writeAll>>) =>
    Object.entries(replies).map(([name, { status }]) => `${name} ${status}`)

  test('what is large is refused at twice the reserve, so that events go on; at the reserve they are refused too', async () => {
    expect(statuses(await writeAll())).toEqual(['upload 200', 'download 200', 'answer 200', 'event 200'])
    const before = contents()
    free = [1_023 * mebibyte]
    const refused = await writeAll()
    expect(statuses(refused)).toEqual(['upload 503', 'download 503', 'answer 503', 'event 200'])
    for (const { error_code, message, data } of [refused.upload, refused.download, refused.answer]) {
      expect({ error_code, message, data }).toEqual({
        error_code: 17,
        message: 'The disk of the service is nearly full: try again once 1024 MiB are free',
        data: { retryAfter: 60 },
      })
    }
    expect(contents()).toEqual(before)
    free = [511 * mebibyte]
    expect(statuses(await writeAll())).toContain('event 503')
    free = [plenty]
    expect(statuses(await writeAll())).toEqual(['upload 200', 'download 200', 'answer 200', 'event 200'])
  })

  test('an import that finds it full while it writes leaves nothing, is tried again, and then says why', async () => {
    const { id } = await world.live('sku\nA\n', [{ name: 'sku' }])
    const tables = await rowTables()
    await world.upload(id, 'sku\nB\n')
    // Once before the first row, and once more before the indexes.
    free = [plenty, 0]
    await world.work()
    expect((await world.imports(id))[0]).toMatchObject({ state: 'queued', fault: null })
    expect([await rowTables(), await world.rows(id)]).toEqual([tables, [{ sku: 'A' }]])
    for (const pause of [30 * second, 5 * minute]) {
      world.database.time.advance(pause)
      await world.work()
    }
    expect((await world.imports(id))[0]).toMatchObject({
      state: 'failed',
      fault: {
        reason: 'storage-full',
        message: expect.stringContaining('disk of the service is nearly full'),
      },
    })
    expect(world.errors).toEqual([])
    free = [plenty]
    await world.call('POST', `/${id}/refresh`)
    await world.work()
    expect(await world.rows(id)).toEqual([{ sku: 'B' }])
  })

  test('the result of a run waits until there is room', async () => {
    engine.answer = () => '["17"]\n'
    const { loops } = world.context.services.savedQueries
    const saved = await ask('POST', '/v2/statistics/query/save', { name: 'Sales', queries: [eventsQuery] })
    const path = `/v2/statistics/query/${saved.data.id}`
    await ask('POST', `${path}/run`)
    const state = async () => {
      while (await loops.worker.runOne());
      return (await ask('GET', `${path}/runs`)).data[0]
    }
    free = [0]
    expect(await state()).toMatchObject({ state: 'queued', reason: expect.stringContaining('nearly full') })
    free = [plenty]
    world.database.time.advance(minute)
    expect(await state()).toMatchObject({ state: 'delivered' })
  })
})

describe('D11: a company that stores as much as it may', () => {
  const used = async () =>
    Number(/^millrace_stored_bytes_max (\S+)$/m.exec((await ask('GET', '/metrics')).body)?.[1])

  test('uploads no more, and again at once when something is deleted', async () => {
    const first = await make()
    const second = await make()
    expect((await world.upload(first, content(600_000))).status).toBe(200)
    const before = await used()
    const refused = await world.upload(second, content(600_000))
    expect(refused).toMatchObject({
      status: 507,
      error_code: 1036,
      data: { limit, used: before, asked: 600_000, unit: 'bytes' },
      message: expect.stringContaining(`may store ${limit} bytes: ${before} are used, and 600000 more`),
    })
    expect(contents()).toHaveLength(1)
    // What stands already counts until the new one has taken its place.
    expect((await world.upload(first, content(600_000))).status).toBe(507)
    await world.call('DELETE', `/${first}`)
    expect((await world.upload(second, content(600_000))).status).toBe(200)
    expect(await used()).toBe(before)
  })

  test('uploads that run at once do not pass together, whether they say their size or not', async () => {
    const start = async (declaredBytes: number | undefined) => {
      const body = new PassThrough()
      const stored = world.context.services.workerDatasources.upload(
        { principal: { ...world.caller, email: 'ada@example.com' } as never, address: '192.0.2.1' },
        await make(),
        { body, declaredBytes, fileName: undefined, contentType: undefined },
      )
      return { body, stored }
    }
    for (const declared of [400_000, undefined]) {
      const before = contents().length
      const uploads = await Promise.all([start(declared), start(declared), start(declared), start(declared)])
      for (const { body } of uploads) body.write(content(300_000))
      for (const { body } of uploads) body.end('x'.repeat(100_000))
      const outcomes = await Promise.allSettled(uploads.map(({ stored }) => stored))
      const refusals = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
      const room = limit - (await used())
      expect(room).toBeGreaterThanOrEqual(0)
      expect(refusals.length).toBeGreaterThanOrEqual(2)
      for (const error of refusals) expect(error).toMatchObject({ errorName: 'storageFull', status: 507 })
      expect(contents()).toHaveLength(before + 4 - refusals.length)
      const { data } = await world.call<{ id: string }[]>('GET', '?mode=worker&perPage=100')
      for (const { id } of data) await world.call('DELETE', `/${id}`)
    }
  })

  test('rows count as they are on disk: an import beyond the bound fails, and its live version stays', async () => {
    const { id } = await world.live('sku\nA\n', [{ name: 'sku' }])
    const rowBytes = await used()
    expect(rowBytes).toBeGreaterThan(16_000)
    const rows = Array.from({ length: 9_000 }, (_, i) => `B${i}`).join('\n')
    await world.upload(id, `sku\n${rows}\n`)
    const before = await used()
    await world.work()
    expect((await world.imports(id))[0]).toMatchObject({
      state: 'failed',
      fault: { reason: 'storage-full', message: expect.stringContaining(`may store ${limit} bytes`) },
    })
    expect([await used(), await world.rows(id)]).toEqual([before, [{ sku: 'A' }]])
    expect(world.errors).toEqual([])
  })

  test('room that an ended process held is free after a minute', async () => {
    const id = await make()
    await world.database.pool.query(
      `insert into storage_holds (id, company_id, bytes, lease_until) values ($1, $2, 990000, now() + interval '60 s')`,
      [newId(), world.companyId],
    )
    expect((await world.upload(id, content(20_000))).status).toBe(507)
    world.database.time.advance(minute + second)
    expect((await world.upload(id, content(20_000))).status).toBe(200)
  })
})
