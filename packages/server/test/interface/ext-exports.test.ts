import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { validateEvent } from '@millrace/contract/events/validate.ts'
import type {
  StatisticsExport,
  StatisticsExportManifest,
} from '@millrace/contract/resources/statistics-export.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { millrace } from '../../src/boot/import/peers/millrace.ts'
import { openRows } from '../../src/features/datasources/formats/open-rows.ts'
import type { LedgerWork } from '../../src/platform/work/ledger-work.ts'
import { type AccountsApp, createAccountsApp } from '../support/accounts.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { runOneOf } from '../support/run-one.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { type StoredEvent, storedEvent, testDatasource } from '../support/statistics-events.ts'
import { sampleEvents } from '../support/statistics-samples.ts'

let engine: StatisticsEngine
let relational: TestDatabase
let accounts: AccountsApp
let works: readonly LedgerWork[]
const directory = mkdtempSync(join(tmpdir(), 'millrace-exports-'))
type Who = 'admin' | 'analyst' | 'manager' | 'reader' | 'stranger'
let people: Record<Who, { id: string; token: string }>

beforeAll(async () => {
  engine = await openStatisticsEngine()
  relational = await createTestDatabase()
  accounts = await createAccountsApp(relational, {
    columnar: engine.columnar,
    environment: { MILLRACE_EXPORT_DIR: directory },
  })
  works = accounts.auth.services.exportWorks
  people = {
    admin: await accounts.person('admin'),
    analyst: await accounts.personWith('statistics:access', 'statistics:export'),
    manager: await accounts.personWith('statistics:access', 'statistics:export', 'statistics:manage'),
    reader: await accounts.personWith('statistics:access', 'statistics:manage'),
    stranger: await accounts.person('admin', accounts.other.companyId, 'other.example'),
  }
})

afterAll(async () => {
  await accounts.auth.app.close()
  await relational.close()
  await engine.close()
  rmSync(directory, { recursive: true })
})

beforeEach(async () => {
  await engine.empty()
  await relational.pool.query('delete from statistics_exports')
})

const url = '/v2/statistics/exports'

async function call<T>(who: Who, method: 'GET' | 'POST' | 'DELETE', path = '', body?: object) {
  const reply = await accounts.auth.call(people[who].token, method, `${url}${path}`, body as never)
  const { data, message, error_code } = reply.json()
  return { status: reply.statusCode, data: data as T, message: message as string, error_code }
}

async function create(body: object, who: Who = 'admin'): Promise<StatisticsExport> {
  const { status, data, message } = await call<StatisticsExport>(who, 'POST', '', body)
  if (status !== 200) throw new Error(message)
  return data
}

const read = async (id: string) => (await call<StatisticsExportManifest>('admin', 'GET', `/${id}`)).data

const download = (id: string, name: string, headers: Record<string, string> = {}, who: Who = 'admin') =>
  accounts.auth.app.inject({
    method: 'GET',
    url: `${url}/${id}/files/${name}`,
    headers: { authorization: `Bearer ${people[who].token}`, ...headers },
  })

/** Creates and runs it. */
async function made(body: object): Promise<StatisticsExportManifest> {
  const { id } = await create(body)
  await runOneOf(works)
  return read(id)
}

const mine = (fields: Parameters<typeof storedEvent>[0]): StoredEvent =>
  storedEvent({ company: accounts.auth.companyId, ...fields })

const week = { from: '2026-03-01', until: '2026-03-07' }
const events = () => [
  mine({ at: '2026-03-02T23:59:59.999Z', tmpId: 'phone', labels: { plan: 'a "b"\nc', empty: '' } }),
  mine({ at: '2026-03-03T00:00:00.000Z', tmpId: '=1+1', clientId: 'ada', url: 'https://shop.example/a,b' }),
  mine({
    at: '2026-03-03T08:00:00.000Z',
    ...{ name: 'purchase', tmpId: 'phone', clientId: 'ada', ids: ['a', 'b'], value: '12.50', transId: 'T1' },
  }),
  mine({ at: '2026-03-08T00:00:00.000Z' }),
  storedEvent({ at: '2026-03-03T09:00:00.000Z', company: accounts.other.companyId }),
]

const linesOf = (packed: Buffer) =>
  gunzipSync(packed)
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** Rows of a day come by device. */
const byTime = (rows: readonly Record<string, unknown>[]) =>
  rows.toSorted((a, b) => Number(new Date(String(a.time))) - Number(new Date(String(b.time))))

describe('an export of events', () => {
  it('has a file for each day that has rows, of the company and the days alone', async () => {
    await engine.load(events())
    const manifest = await made({ table: 'events', format: 'ndjson', ...week })
    expect(manifest).toMatchObject({ state: 'done', reason: null, days: 2, rows: 3, nextRunAt: null })
    expect(manifest.files.map(({ name, rows }) => [name, rows])).toEqual([
      ['2026-03-02.ndjson.gz', 1],
      ['2026-03-03.ndjson.gz', 2],
    ])
    const { rawPayload, headers } = await download(manifest.id, '2026-03-03.ndjson.gz')
    const [first] = manifest.files.slice(1)
    expect(createHash('sha256').update(rawPayload).digest('hex')).toBe(first?.sha256)
    expect(headers).toMatchObject({
      etag: `"${first?.sha256}"`,
      'content-length': String(first?.bytes),
      'content-disposition': 'attachment; filename="2026-03-03.ndjson.gz"',
    })
    expect(byTime(linesOf(rawPayload))).toMatchObject([
      { time: '2026-03-03T00:00:00.000Z', tmp_id: '=1+1', url: 'https://shop.example/a,b' },
      { name: 'purchase', ids: ['a', 'b'], value: '12.5', trans_id: 'T1', client_id: 'ada' },
    ])
  })

  it('is the same as Parquet, with types', async () => {
    await engine.load(events())
    const manifest = await made({ table: 'events', ...week })
    expect(manifest).toMatchObject({ format: 'parquet', state: 'done', rows: 3 })
    const path = join(directory, accounts.auth.companyId, manifest.id, 'dt=2026-03-03', 'events.parquet')
    expect((await download(manifest.id, '2026-03-03.parquet')).rawPayload).toEqual(await readFile(path))
    const rows: Record<string, unknown>[] = []
    for await (const batch of openRows({ path }, { format: 'parquet' }))
      rows.push(...(batch as Record<string, unknown>[]))
    expect(byTime(rows)).toMatchObject([
      { tmp_id: '=1+1', time: '2026-03-03T00:00:00.000Z', value: null, labels: {} },
      { ids: ['a', 'b'], value: 12.5, trans_id: 'T1' },
    ])
  })

  it('is the same as CSV, in which nothing is a formula', async () => {
    await engine.load(events())
    const manifest = await made({ table: 'events', format: 'csv', ...week })
    expect(manifest.files.map(({ rows }) => rows)).toEqual([1, 2])
    const text = async (day: string) =>
      gunzipSync((await download(manifest.id, `${day}.csv.gz`)).rawPayload).toString('utf8')
    expect(await text('2026-03-03')).toContain(`"'=1+1"`)
    expect(await text('2026-03-02')).toContain(`"{""plan"":""a \\""b\\""\\nc"",""empty"":""""}"`)
  })

  it('holds of orders what the statistics count', async () => {
    await engine.load(events())
    const manifest = await made({ table: 'orders', format: 'ndjson', ...week })
    const { rawPayload } = await download(manifest.id, '2026-03-03.ndjson.gz')
    expect(linesOf(rawPayload)).toMatchObject([{ trans_id: 'T1', value: '12.5', client_id: 'ada' }])
  })

  it('has the rows of a device one after the other, by time', async () => {
    await engine.load(
      [5, 1, 4, 2, 3].flatMap((hour) =>
        ['one', 'other', 'third'].map((tmpId) => mine({ at: `2026-03-05T0${hour}:00:00.000Z`, tmpId })),
      ),
    )
    const manifest = await made({ table: 'events', format: 'ndjson', ...week })
    const rows = linesOf((await download(manifest.id, '2026-03-05.ndjson.gz')).rawPayload)
    const devices = rows.map(({ tmp_id: id }) => id)
    expect(devices.filter((id, i) => id !== devices[i - 1])).toHaveLength(3)
    for (const id of new Set(devices)) {
      const times = rows.filter(({ tmp_id: of }) => of === id).map(({ time }) => String(time))
      expect(times).toEqual([1, 2, 3, 4, 5].map((hour) => `2026-03-05T0${hour}:00:00.000Z`))
    }
  })

  it('keeps to datasources that are named', async () => {
    await engine.load([
      ...events(),
      mine({ at: '2026-03-04T00:00:00Z', datasource: '65f0c0ffee5ca1ab1e0ddbff' }),
    ])
    const one = await made({ table: 'events', ...week, datasources: ['65F0C0FFEE5CA1AB1E0DDBFF'] })
    expect(one.files.map(({ day, rows }) => [day, rows])).toEqual([['2026-03-04', 1]])
  })

  it('is taken up where a download was cut', async () => {
    await engine.load(events())
    const { id, files } = await made({ table: 'events', format: 'ndjson', ...week })
    const [file] = files
    const { name = '', bytes = 0 } = file ?? {}
    const whole = (await download(id, name)).rawPayload
    const etag = `"${file?.sha256}"`
    const rest = await download(id, name, { range: 'bytes=10-', 'if-range': etag })
    expect(rest.statusCode).toBe(206)
    expect(rest.headers['content-range']).toBe(`bytes 10-${bytes - 1}/${bytes}`)
    expect(rest.rawPayload.equals(whole.subarray(10))).toBe(true)
    expect((await download(id, name, { range: 'bytes=-5' })).rawPayload.equals(whole.subarray(-5))).toBe(true)
    expect((await download(id, name, { range: 'bytes=2-3' })).rawPayload.equals(whole.subarray(2, 4))).toBe(
      true,
    )
    expect((await download(id, name, { range: 'bytes=10-', 'if-range': '"other"' })).statusCode).toBe(200)
    expect((await download(id, name, { range: 'bytes=5-2' })).statusCode).toBe(200)
    expect((await download(id, name, { range: 'lines=1-2' })).statusCode).toBe(200)
    const beyond = await download(id, name, { range: `bytes=${bytes}-` })
    expect([beyond.statusCode, beyond.json().error_code]).toEqual([416, 9210])
  })
})

it('read back by an import, an export gives the same in every measure', { timeout: 120_000 }, async () => {
  const { companyId } = accounts.auth
  await engine.load(sampleEvents(companyId, 400))
  const manifest = await made({ table: 'events', format: 'ndjson', from: '2000-01-01' })
  expect(manifest.rows).toBe(400)
  const company = accounts.other.companyId
  const datasource = '65c8a1b2d3e4f506172839ff'
  const copies: StoredEvent[] = []
  for (const { name } of manifest.files) {
    for (const line of linesOf((await download(manifest.id, name)).rawPayload)) {
      const [event] = millrace.read(line)
      const kept = validateEvent(
        { key: company, v: 1, ...(event as object) },
        { companyId: company, receivedAt: Date.now() },
      )
      if (!kept.kept) throw new Error(`${kept.reason.rule} ${kept.reason.path}`)
      const { kept: _kept, changes: _changes, labels, value = null, ...fields } = kept
      // Of one datasource an identifier counts once.
      copies.push(storedEvent({ company, datasource, ...fields, value, labels: Object.fromEntries(labels) }))
    }
  }
  await engine.load(copies)
  const ask = async (who: Who, measure: string) => {
    const query = { measures: [measure], dimensions: [], filters: [], timeDimensions: [] }
    const reply = await accounts.auth.call(people[who].token, 'POST', '/v2/statistics/query', query as never)
    return reply.json().data as string
  }
  const meta = await accounts.auth.call(people.admin.token, 'GET', '/v2/statistics/meta')
  const measures = Object.keys(meta.json().data.measures)
  expect(measures.length).toBeGreaterThan(30)
  let counted = 0
  for (const measure of measures) {
    const original = await ask('admin', measure)
    expect({ measure, rows: await ask('stranger', measure) }).toEqual({ measure, rows: original })
    if (/:[1-9]/.test(original)) counted++
  }
  expect(counted).toBeGreaterThan(10)
})

describe('an export of sessions', () => {
  it('holds what the statistics count, each on the day on which it starts', async () => {
    await engine.load(sampleEvents(accounts.auth.companyId, 400))
    const manifest = await made({ table: 'sessions', format: 'ndjson', from: '2000-01-01' })
    expect(manifest.files.length).toBeGreaterThan(5)
    const rows: Record<string, unknown>[] = []
    for (const { name, day } of manifest.files) {
      const ofDay = linesOf((await download(manifest.id, name)).rawPayload)
      expect(ofDay.every(({ time }) => String(time).startsWith(String(day)))).toBe(true)
      rows.push(...ofDay)
    }
    const reply = await accounts.auth.call(people.admin.token, 'POST', '/v2/statistics/query', {
      measures: ['count', 'people', 'events', 'bounces', 'duration'].map((name) => `sessions.${name}`),
      ...{ dimensions: ['sessions.isNew'], filters: [], timeDimensions: [] },
    })
    const counted = JSON.parse(reply.json().data) as Record<string, number | boolean>[]
    expect(counted).toHaveLength(2)
    for (const group of counted) {
      const own = rows.filter(({ is_new }) => is_new === group['sessions.isNew'])
      const sum = (name: string) => own.reduce((all, row) => all + Number(row[name]), 0)
      expect(own).toHaveLength(Number(group['sessions.count']))
      expect(new Set(own.map(({ person }) => person)).size).toBe(group['sessions.people'])
      expect(sum('events')).toBe(group['sessions.events'])
      expect(own.filter(({ events }) => Number(events) === 1)).toHaveLength(Number(group['sessions.bounces']))
      expect(sum('duration') / own.length).toBeCloseTo(Number(group['sessions.duration']), 6)
    }
  })

  it('has other columns than times as the first event has them, and is written again when that changes', async () => {
    const visit = (at: string, fields: object = {}) =>
      mine({ at, tmpId: 'phone', url: 'https://shop.example/b', ...fields })
    await engine.load([visit('2026-03-02T23:50:00Z', { country: 'FR' }), visit('2026-03-03T00:05:00Z')])
    const daily = await made({
      ...{ table: 'sessions', format: 'ndjson', from: '2026-03-01', everyHours: 24 },
    })
    const rows = async (day: string) =>
      linesOf((await download(daily.id, `${day}.ndjson.gz`)).rawPayload).map(({ browser, os, ...row }) => row)
    expect(daily.files.map(({ day }) => day)).toEqual(['2026-03-02'])
    expect(await rows('2026-03-02')).toMatchObject([
      { person: 'phone', time: '2026-03-02T23:50:00.000Z', duration: 900, events: 2, country: 'FR' },
    ])
    await engine.load([
      visit('2026-03-03T00:20:00Z', { url: 'https://shop.example/end' }),
      visit('2026-03-04T12:00:00Z'),
    ])
    await relational.pool.query('update statistics_exports set due_at = now()')
    await runOneOf(works)
    expect(await rows('2026-03-02')).toMatchObject([
      { duration: 1800, events: 3, exit_url: 'https://shop.example/end', is_new: true },
    ])
    expect(await rows('2026-03-04')).toMatchObject([{ events: 1, is_new: false }])
  })
})

describe('an export of a query', () => {
  /** With what a name in a statement must not end at. */
  const label = 'pl`an\\ {a:String}'
  const query = {
    measures: ['events.count', 'events.people', 'events.perPerson'],
    dimensions: ['events.name', `events.label.${label}`],
    filters: [],
    timeDimensions: [
      { dimension: 'events.time', granularity: 'hour', dateRange: ['2026-03-01', '2026-03-07'] },
    ],
    order: { 'events.count': 'desc', 'events.name': 'asc' },
  }
  const load = () =>
    engine.load([
      ...events(),
      ...[1, 2, 3].map((value) =>
        mine({
          at: '2026-03-04T10:00:00Z',
          tmpId: `${value}`,
          value: `${value}.10`,
          labels: { [label]: '=x' },
        }),
      ),
    ])
  const ask = async (body: object, format: string, who: Who = 'admin') =>
    accounts.auth.app.inject({
      ...{ method: 'POST', url: '/v2/statistics/query', payload: body },
      headers: { authorization: `Bearer ${people[who].token}`, accept: format },
    })
  const fileOf = async ({ id, files }: StatisticsExportManifest, who: Who = 'admin') =>
    (await download(id, files[0]?.name ?? '', {}, who)).rawPayload

  it.each([
    ['ndjson', 'application/x-ndjson'],
    ['csv', 'text/csv'],
  ])('is what a query answers, as %s', async (format, type) => {
    await load()
    const manifest = await made({ table: 'query', query, format })
    expect(manifest).toMatchObject({ state: 'done', query, from: null, until: null, days: 1, rows: 4 })
    expect(manifest.files).toMatchObject([{ name: `query.${format}.gz`, day: null, rows: 4 }])
    const text = gunzipSync(await fileOf(manifest)).toString('utf8')
    expect(text).toBe((await ask(query, type)).body)
    expect(text).toContain('=x')
  })

  it.each([
    ['as it stands', {}],
    ['to its limit', { limit: 2 }],
    ['of decimals', { measures: ['purchases.revenue'], dimensions: [], order: {} }],
    [
      'of ranges that are compared',
      {
        limit: 1,
        timeDimensions: [
          {
            ...{ dimension: 'events.time', granularity: 'day' },
            compareDateRange: [
              ['2026-03-01', '2026-03-03'],
              ['2026-03-04', '2026-03-06'],
            ],
          },
        ],
      },
    ],
  ])('is the same as Parquet, with types, %s', async (_what, changes) => {
    await load()
    const body = { ...query, ...changes }
    const manifest = await made({ table: 'query', query: body })
    const path = join(directory, accounts.auth.companyId, manifest.id, 'query.parquet')
    const rows: object[] = []
    for await (const batch of openRows({ path }, { format: 'parquet' })) rows.push(...batch)
    const lines = (await ask(body, 'application/x-ndjson')).body.replaceAll('+00:00"', 'Z"').trimEnd()
    expect(rows).toEqual(lines.split('\n').map((line) => JSON.parse(line)))
  })

  it('is asked again at every run', async () => {
    await load()
    const manifest = await made({ table: 'query', query, format: 'ndjson', everyHours: 1 })
    await engine.load([mine({ at: '2026-03-04T11:00:00Z' })])
    await relational.pool.query('update statistics_exports set due_at = now()')
    await runOneOf(works)
    expect(await read(manifest.id)).toMatchObject({ state: 'done', rows: 5 })
    expect((await readdir(join(directory, accounts.auth.companyId, manifest.id))).sort()).toEqual([
      'manifest.json',
      'query.ndjson.gz',
    ])
  })
})

describe('an export that is kept up to date', () => {
  const daily = { table: 'events', format: 'ndjson', from: '2026-03-01', everyHours: 24 } as const

  it('writes days again that have changed, and no others', async () => {
    await engine.load(events())
    const before = await made(daily)
    expect(before).toMatchObject({ state: 'done', until: null, expiresAt: null })
    expect(before.nextRunAt).not.toBeNull()
    expect(await runOneOf(works)).toBe(false)

    await engine.load([mine({ at: '2026-03-03T10:00:00Z' }), mine({ at: '2026-03-05T10:00:00Z' })])
    await relational.pool.query(
      `update statistics_exports set due_at = now();
       update statistics_export_files set written_at = '2026-01-01'`,
    )
    await runOneOf(works)
    const after = await read(before.id)
    expect(
      after.files.map(({ day, rows, writtenAt }) => [day, rows, writtenAt.startsWith('2026-01-01')]),
    ).toEqual([
      ['2026-03-02', 1, true],
      ['2026-03-03', 3, false],
      ['2026-03-05', 1, false],
      ['2026-03-08', 1, true],
    ])
    const folder = join(directory, accounts.auth.companyId, before.id)
    expect((await readdir(folder)).sort()).toEqual([
      'dt=2026-03-02',
      'dt=2026-03-03',
      'dt=2026-03-05',
      'dt=2026-03-08',
      'manifest.json',
    ])
    expect(await readdir(join(folder, 'dt=2026-03-03'))).toEqual(['events.ndjson.gz'])
    const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
    expect(manifest).toMatchObject({ id: before.id, rows: 6, files: after.files })
  })

  it('has no file of a day whose rows are gone', async () => {
    await engine.load(events())
    const before = await made(daily)
    await engine.empty()
    await engine.load([mine({ at: '2026-03-02T10:00:00Z' })])
    await relational.pool.query('update statistics_exports set due_at = now()')
    await runOneOf(works)
    expect((await read(before.id)).files.map(({ day }) => day)).toEqual(['2026-03-02'])
    expect(await readdir(join(directory, accounts.auth.companyId, before.id))).not.toContain('dt=2026-03-03')
  })

  it('leaves out the day that is not over', async () => {
    const today = new Date(accounts.auth.time.clock.now()).toISOString()
    await engine.load([mine({ at: today })])
    expect((await made({ ...daily, from: today.slice(0, 10) })).files).toEqual([])
    expect((await made({ table: 'events', from: today.slice(0, 10) })).rows).toBe(1)
  })

  it('fails with its reason, and tries again at its next time, when its user lost the rights', async () => {
    const { id } = await create(daily, 'analyst')
    await relational.pool.query(`update users set status = 'disabled' where id = $1`, [people.analyst.id])
    try {
      await runOneOf(works)
    } finally {
      await relational.pool.query(`update users set status = 'active' where id = $1`, [people.analyst.id])
    }
    expect(await read(id)).toMatchObject({
      state: 'failed',
      reason: 'who asked for it is no longer an active user of the company',
    })
    await relational.pool.query('update statistics_exports set due_at = now()')
    await runOneOf(works)
    expect(await read(id)).toMatchObject({ state: 'done', reason: null })
  })
})

describe('an export that is interrupted', () => {
  it('goes on with the day that was not written, and nothing half written stays', async () => {
    await engine.load(events())
    const { id } = await create({ table: 'events', format: 'ndjson', ...week })
    await runOneOf(works)
    const done = await read(id)
    const folder = join(directory, accounts.auth.companyId, id, 'dt=2026-03-03')
    // As a process that was killed leaves it: a file begun, the row of the day absent, the lease over.
    await writeFile(join(folder, 'events.ndjson.gz.1.part'), 'x')
    await relational.pool.query(`delete from statistics_export_files where part = '2026-03-03'`)
    await relational.pool.query(
      `update statistics_exports set state = 'running', lease_until = now() - interval '1 second'`,
    )
    await runOneOf(works)
    const again = await read(id)
    expect(again.state).toBe('done')
    expect(again.files.map(({ sha256 }) => sha256)).toEqual(done.files.map(({ sha256 }) => sha256))
    expect(await readdir(folder)).toEqual(['events.ndjson.gz'])
  })

  it('fails when the company stores as much as it may', async () => {
    await engine.load(events())
    const { id } = await create({ table: 'events', ...week })
    await relational.pool.query(
      `insert into storage_holds (id, company_id, bytes, lease_until)
       values ('65f0c0ffee5ca1ab1e0ddb99', $1, 1e15, now() + interval '1 hour')`,
      [accounts.auth.companyId],
    )
    await runOneOf(works)
    await relational.pool.query('delete from storage_holds')
    const failed = await read(id)
    expect(failed.state).toBe('failed')
    expect(failed.reason).toMatch(/may store/)
    expect(failed.files).toEqual([])
  })

  it('is gone with its files when it is deleted', async () => {
    await engine.load(events())
    const { id } = await made({ table: 'events', ...week })
    expect((await call('admin', 'DELETE', `/${id}`)).status).toBe(200)
    expect((await call('admin', 'GET', `/${id}`)).error_code).toBe(9208)
    expect(await readdir(join(directory, accounts.auth.companyId))).not.toContain(id)
  })

  it('is removed 7 days after it was made', async () => {
    const { id, expiresAt } = await made({ table: 'events', ...week })
    expect(expiresAt).not.toBeNull()
    await accounts.auth.services.exports.sweep()
    expect((await read(id)).id).toBe(id)
    await relational.pool.query(`update statistics_exports set finished_at = now() - interval '8 days'`)
    await accounts.auth.services.exports.sweep()
    expect((await call('admin', 'GET', `/${id}`)).status).toBe(404)
  })
})

const askedBy = (measure: string) => ({
  ...{ measures: [measure], dimensions: [], filters: [], timeDimensions: [] },
})

describe('who exports', () => {
  it('sees all workflows and may export', async () => {
    await accounts.team()
    const body = { table: 'events', ...week }
    expect((await call('reader', 'POST', '', body)).status).toBe(403)
    const refused = await call('analyst', 'POST', '', body)
    expect([refused.status, refused.message]).toEqual([
      403,
      expect.stringContaining('teams that you are not in'),
    ])
    // A query says what its user sees.
    const { id } = await create({ table: 'query', query: askedBy('events.count'), format: 'csv' }, 'analyst')
    await runOneOf(works)
    expect((await download(id, 'query.csv.gz', {}, 'analyst')).statusCode).toBe(200)
    // Another one may see less than who asked.
    const ofAdmin = await made({ table: 'query', query: askedBy('events.count'), format: 'csv' })
    expect((await call('manager', 'GET', `/${ofAdmin.id}`)).status).toBe(200)
    expect((await download(ofAdmin.id, 'query.csv.gz', {}, 'manager')).statusCode).toBe(403)
    await relational.pool.query('update companies set shows_other_teams = true')
    try {
      expect((await call('analyst', 'POST', '', body)).status).toBe(200)
    } finally {
      await relational.pool.query('update companies set shows_other_teams = false')
    }
  })

  it('waits for other exports of the company, and for none of another', async () => {
    const first = await create({ table: 'events', ...week })
    await create({ table: 'events', ...week })
    const others = await create({ table: 'events', ...week }, 'stranger')
    await relational.pool.query(
      `update statistics_exports set state = 'running', attempts = 1, lease_until = now() + interval '1 hour'
       where id = $1`,
      [first.id],
    )
    expect(await runOneOf(works)).toBe(true)
    expect((await call<StatisticsExport>('stranger', 'GET', `/${others.id}`)).data.state).toBe('done')
    expect(await runOneOf(works)).toBe(false)
  })

  it('sees no exports of others and of no other company', async () => {
    const { id } = await made({ table: 'events', ...week })
    for (const who of ['analyst', 'stranger'] as const) {
      expect((await call(who, 'GET', `/${id}`)).status).toBe(404)
      expect((await call(who, 'DELETE', `/${id}`)).status).toBe(404)
      expect((await download(id, '2026-03-02.parquet', {}, who)).statusCode).toBe(404)
      expect((await call(who, 'GET')).data).toEqual([])
    }
    expect((await call<StatisticsExport[]>('admin', 'GET')).data.map((each) => each.id)).toEqual([id])
  })

  it('of a query does not wait for one of a table, which may take hours', async () => {
    await engine.load(events())
    const table = await create({ table: 'events', ...week })
    const query = await create({ table: 'query', query: askedBy('events.count') })
    const other = await create({ table: 'query', query: askedBy('events.people') })
    const stateOf = async ({ id }: StatisticsExport) => (await read(id)).state
    const [tables, queries] = works
    const stopping = new AbortController()
    // In the moment in which it has been taken.
    const isTaken = Promise.withResolvers<void>()
    const running = tables?.runOne(stopping.signal, isTaken.resolve)
    await isTaken.promise
    expect(await queries?.runOne()).toBe(true)
    expect([await stateOf(query), await stateOf(other)]).toEqual(['done', 'queued'])
    stopping.abort()
    await running
    expect(await queries?.runOne()).toBe(true)
    expect(await queries?.runOne()).toBe(false)
    while (await tables?.runOne());
    expect([await stateOf(table), await stateOf(other)]).toEqual(['done', 'done'])
  })

  it.each([
    ['an unknown table', { table: 'persons', from: '2026-03-01' }],
    ['no query', { table: 'query' }],
    ['a query of another table', { table: 'events', from: '2026-03-01', query: askedBy('events.count') }],
    ['a query with days', { table: 'query', from: '2026-03-01', query: askedBy('events.count') }],
    ['an unknown measure', { table: 'query', query: askedBy('events.unknown') }],
    ['sessions of a datasource', { table: 'sessions', from: '2026-03-01', datasources: [testDatasource] }],
    ['no day', { table: 'events' }],
    ['no such day', { table: 'events', from: '2026-02-30' }],
    ['a range that ends before it begins', { table: 'events', from: '2026-03-02', until: '2026-03-01' }],
    ['a day before all events', { table: 'events', from: '0000-01-01' }],
    ['no hour', { table: 'events', from: '2026-03-02', everyHours: 0 }],
  ])('is told of %s', async (_what, body) => {
    expect((await call('admin', 'POST', '', body)).status).toBe(400)
  })

  it('is told where in the query', async () => {
    const { message } = await call('admin', 'POST', '', { table: 'query', query: askedBy('events.unknown') })
    expect(message).toMatch(/^query\.measures\.0: /)
  })

  it.each(['2026-03-02.csv.gz', '..%2Fmanifest.json', 'manifest.json', '2026-03-09.parquet'])(
    'gets no file %s',
    async (name) => {
      await engine.load(events())
      const { id } = await made({ table: 'events', ...week })
      expect((await download(id, name)).json().error_code).toBe(9209)
    },
  )
})
