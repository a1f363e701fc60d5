import { execFile, execFileSync, spawn } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { cloneTable, tableNames } from '../../src/database/columnar-tables.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openObjectStore } from '../../src/platform/outgoing/object-store.ts'
import { startColumnarServer } from '../support/columnar.ts'
import { times } from '../support/long.ts'
import { createTestDatabase, urlOf } from '../support/postgres.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'
import { s3Keys, startS3Server } from '../support/s3-server.ts'
import { until } from '../support/until.ts'
import { fieldOf } from '../support/worker-datasources.ts'

/** The commands of docs/data-life.md, With the service stopped, in their order. */
function documentedCommands(): string[] {
  const page = readFileSync(new URL('../../../../docs/data-life.md', import.meta.url), 'utf8')
  const section = page.slice(page.indexOf('## With the service stopped'))
  const blocks = section.matchAll(/^```sh no-run: [^\n]*backup\.test\.ts[^\n]*\n(.*?)^```$/gms)
  return [...blocks].map(([, commands = '']) => commands)
}

const totals = {
  measures: ['events.count', 'events.people', 'purchases.count', 'purchases.revenue'],
  dimensions: [],
  filters: [],
  timeDimensions: [],
}

const byHour = {
  ...totals,
  measures: ['events.count', 'events.people', 'events.devices'],
  dimensions: ['events.name'],
  timeDimensions: [{ dimension: 'events.time', dateRange: 'last 7 days', granularity: 'hour' }],
}

function send(service: Service, first: number, count: number): Promise<Response> {
  const events = Array.from({ length: count }, (_, i) => ({
    key: service.companyId,
    name: i % 2 === 0 ? 'page_view' : 'purchase',
    v: 1,
    url: 'https://shop.example/',
    tmpId: `device-${i % 7}`,
    eventId: `event-${first + i}`,
    data: { ids: ['sku-1'], value: 10.25 + i, transId: `order-${first + i}` },
  }))
  return fetch(service.trackerUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
}

test('a service that is restored from a backup answers the same numbers, and loads what waited in the log', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-backup-'))
  const run = (commands: string) => execFileSync('bash', ['-ec', commands], { cwd: folder })
  const [backUp = '', restore = '', ...others] = documentedCommands()
  expect([backUp, restore, others]).toEqual([
    expect.stringContaining('tar -c'),
    expect.stringContaining('tar -x'),
    [],
  ])
  const services: Service[] = []
  try {
    const first = await startService()
    services.push(first)
    expect((await send(first, 0, 50)).status).toBe(200)
    await expect
      .poll(() => first.query(totals))
      .toEqual([expect.objectContaining({ 'events.count': 50, 'purchases.count': 25 })])
    await first.dataOf('POST', '/statistics/query/save', {
      name: 'Kept',
      queries: [totals],
      schedule: {},
    })
    // Most of the time not loaded yet when the service stops.
    expect((await send(first, 1_000, 4)).status).toBe(200)
    expect(await first.stop()).toBe(0)

    const data = join(folder, 'data')
    renameSync(first.dataDirectory, data)
    run(backUp)
    // What goes on after the backup is not in it.
    rmSync(data, { recursive: true })
    run(restore)

    const second = await startService({ dataDirectory: join(folder, 'restored') })
    services.push(second)
    expect(second.companyId).toBe(first.companyId)
    await expect
      .poll(() => second.query(totals))
      .toEqual([
        {
          'events.count': 54,
          'events.people': 7,
          'purchases.count': 27,
          'purchases.revenue': 905.75,
        },
      ])
    // A token of before the backup.
    const saved = await fetch(`${second.baseUrl}/statistics/query`, {
      headers: { authorization: `Bearer ${first.token}` },
    })
    expect(await saved.json()).toMatchObject({ data: [{ name: 'Kept' }] })
    const { sent, accepted } = await second.dataOf<{ sent: number; accepted: number }>(
      'GET',
      `/datasources/${second.datasourceId}/counters`,
    )
    expect({ sent, accepted }).toEqual({ sent: 54, accepted: 54 })
    // An event of before the backup counts once.
    expect((await send(second, 0, 1)).status).toBe(200)
    await expect
      .poll(() => second.dataOf<{ duplicate: number }>('GET', `/datasources/${second.datasourceId}/counters`))
      .toMatchObject({ sent: 55, accepted: 54, duplicate: 1 })
  } finally {
    for (const service of services) {
      await service.stop()
      removeData(service)
    }
    rmSync(folder, { recursive: true, force: true })
  }
})

const main = new URL('../../src/main.ts', import.meta.url).pathname
const execute = promisify(execFile)

describe('backups of a service that runs', () => {
  const keyOf = (text: string) => createHash('sha256').update(text).digest('base64')
  let folder: string
  let service: Service
  let environment: NodeJS.ProcessEnv
  const services: Service[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-backups-'))
    const backups = { MILLRACE_BACKUP_DIR: join(folder, 'backups') }
    service = await startService({ env: backups })
    services.push(service)
    environment = {
      ...process.env,
      ...backups,
      MILLRACE_DATA_DIR: service.dataDirectory,
      MILLRACE_BACKUP_KEY: keyOf('one'),
    }
  })
  afterAll(async () => {
    for (const each of services) {
      await each.stop()
      removeData(each)
    }
    rmSync(folder, { recursive: true, force: true })
  })

  /**
   * Runs a command of backups, again where it says so: on a busy machine an engine that does not answer its supervisor
   * is started again. @returns its exit code and what it printed
   */
  const backup = (argv: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    until(async () => {
      const ended = await attempt(argv, env)
      return !ended.err.includes('try again in a moment') && ended
    }, 500)
  async function attempt(argv: readonly string[], env: NodeJS.ProcessEnv) {
    try {
      const { stdout } = await execute(process.execPath, [main, 'backup', ...argv], {
        env: { ...environment, ...env },
      })
      return { code: 0, out: stdout, err: '' }
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { code, out: stdout, err: stderr }
    }
  }
  const json = async <T>(...argv: readonly string[]): Promise<T> => {
    const { code, out, err } = await backup([...argv, '--json'])
    if (code !== 0) throw new Error(err)
    return JSON.parse(out) as T
  }
  const ids = async () => (await json<{ backups: { id: string }[] }>('list')).backups.map(({ id }) => id)

  async function restored(id: string): Promise<Service> {
    const to = join(folder, `restored-${services.length}`)
    await json('restore', id, '--to', to)
    cpSync(join(service.dataDirectory, 'encryption.key'), join(to, 'encryption.key'))
    const second = await startService({ dataDirectory: to })
    services.push(second)
    await second.loaded()
    return second
  }

  it('hold what was acknowledged before, once, while events come in', async () => {
    let acknowledged = 0
    let isSending = true
    async function keepSending(first: number): Promise<void> {
      for (let n = first; isSending; n += 20) {
        expect((await send(service, n, 20)).status).toBe(200)
        acknowledged += 20
      }
    }
    const sending = Promise.all([keepSending(1_000_000), keepSending(2_000_000), keepSending(3_000_000)])
    const made: { id: string; before: number; after: number }[] = []
    try {
      for (let round = 0; round < times(20, 2); round++) {
        const before = acknowledged
        const { id } = await json<{ id: string }>('create')
        made.push({ id, before, after: acknowledged + 60 })
      }
    } finally {
      isSending = false
      await sending
    }
    for (const { id, before, after } of made) {
      const second = await restored(id)
      const [found] = await second.query(totals)
      const events = Number(found?.['events.count'])
      expect(events).toBeGreaterThanOrEqual(before)
      expect(events).toBeLessThanOrEqual(after)
      const { sent, accepted, duplicate } = await second.dataOf<Record<string, number>>(
        'GET',
        `/datasources/${second.datasourceId}/counters`,
      )
      expect({ sent, accepted, duplicate }).toEqual({ sent: events, accepted: events, duplicate: 0 })
      expect(found?.['purchases.count']).toBe(events / 2)
      const me = await fetch(`${second.baseUrl}/entities/users/me`, {
        headers: { authorization: `Bearer ${service.token}` },
      })
      expect(me.status).toBe(200)
      await second.stop()
    }
    expect(await ids()).toEqual(made.map(({ id }) => id).reverse())
  })

  const erased = (of: Service) =>
    until(async () => {
      const erasures = await of.dataOf<{ state: string }[]>('GET', '/entities/persons/erasures')
      return erasures.length > 0 && erasures.every(({ state }) => state === 'done')
    })

  it('are restored without persons who were erased since', async () => {
    expect((await send(service, 4_000_000, 20)).status).toBe(200)
    await service.loaded()
    const { id } = await json<{ id: string }>('create')
    const person = { tmpIds: ['device-3'] }
    const found = (of: Service) =>
      of.dataOf<{ events: number }>('POST', '/entities/persons/search', person).then(({ events }) => events)
    expect(await found(service)).toBeGreaterThan(0)
    await service.dataOf('POST', '/entities/persons/erase', person)
    await erased(service)
    expect(readFileSync(join(folder, 'backups', 'erasures.ndjson'), 'utf8')).not.toContain('device-3')
    const second = await restored(id)
    await erased(second)
    expect(await found(second)).toBe(0)
    expect(await found(service)).toBe(0)
    await second.stop()
  })

  it('have the rows of datasources', async () => {
    const content = Array.from({ length: 50 }, (_, n) => ({ sku: `sku-${n}`, name: `Thing "${n}"` }))
    const worker = await service.dataOf<{ id: string }>('POST', '/datasources', {
      ...{ name: 'Products', mode: 'worker', source: { type: 'file', format: 'ndjson' } },
    })
    const path = `/datasources/${worker.id}`
    const uploaded = await fetch(`${service.baseUrl}${path}/content`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${service.token}`,
        'content-type': 'application/octet-stream',
      },
      body: content.map((row) => JSON.stringify(row)).join('\n'),
    })
    expect(uploaded.status).toBe(200)
    await service.dataOf('PATCH', `${path}/fields`, {
      fields: [fieldOf({ name: 'sku', isKey: true }), fieldOf({ name: 'name' })],
    })
    await service.dataOf('POST', `${path}/versions/live`)
    const rows = (of: Service) =>
      of.dataOf<object[]>('POST', '/datasources/query?perPage=100', { datasourceId: worker.id, query: {} })
    await until(async () => (await rows(service).catch(() => [])).length === 50)
    const { id } = await json<{ id: string }>('create')
    expect(await json('verify')).toMatchObject({ id })
    const second = await restored(id)
    expect(await rows(second)).toEqual(await rows(service))
    // Its key is one again, and it is imported into as before.
    expect((await second.call('POST', `/v2${path}/refresh`)).status).toBe(200)
    await until(async () => {
      const [last] = await second.dataOf<{ state: string }[]>('GET', `${path}/imports`)
      return last?.state === 'unchanged' || last?.state === 'done'
    })
    await second.stop()
  })

  it('write again only what has changed, and go when they are pruned', async () => {
    await service.loaded()
    const { id: first } = await json<{ id: string }>('create')
    const second = await json<{ id: string; bytes: number; written: number }>('create')
    expect(second.written).toBeLessThan(second.bytes)
    expect((await json<{ removed: string[] }>('prune', '--keep', '1')).removed).toContain(first)
    expect(await ids()).toEqual([second.id])
    expect(await json('verify')).toMatchObject({ id: second.id })
  })

  it('are none while they are half made, and leave nothing in the data directory', async () => {
    const before = await ids()
    const child = spawn(process.execPath, [main, 'backup', 'create'], { env: environment, stdio: 'pipe' })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    child.once('exit', () => resolve())
    child.stderr.on('data', (text: Buffer) => {
      if (text.includes('copying events')) child.kill('SIGKILL')
    })
    await ended
    expect(await ids()).toEqual(before)
    await json('create')
    const left = [
      ...readdirSync(join(folder, 'backups')).filter((name) => name.endsWith('.partial')),
      ...readdirSync(join(service.dataDirectory, 'run')).filter((name) => name.startsWith('backup')),
      ...readdirSync(join(service.dataDirectory, 'columnar', 'shadow')).filter((name) =>
        name.startsWith('backup'),
      ),
    ]
    expect(left).toEqual([])
  })

  it('are whole or none, and restored whole or not at all, whenever that is killed', {
    timeout: 120_000 * times(50, 1),
  }, async () => {
    async function killed(args: readonly string[], withinMs: number): Promise<boolean> {
      const child = spawn(process.execPath, [main, 'backup', ...args], { env: environment, stdio: 'ignore' })
      const timer = setTimeout(() => child.kill('SIGKILL'), randomInt(200, withinMs))
      const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
      clearTimeout(timer)
      return code === null
    }
    for (let kill = 0; kill < times(50, 1); kill++) {
      const before = await ids()
      await killed(['create'], 2_500)
      const after = await ids()
      expect(after.slice(after.length - before.length)).toEqual(before)
      if (after.length > before.length) expect(await json('verify')).toMatchObject({ id: after[0] })
      const { id } = await json<{ id: string }>('create')
      const to = join(folder, `killed-${kill}`)
      const isKilled = await killed(['restore', id, '--to', to], 6_000)
      // Killed it is absent, or empty, or killed too late.
      if (isKilled && !existsSync(join(to, 'postgres'))) await json('restore', id, '--to', to)
      expect(readdirSync(folder).filter((name) => `${name}.`.startsWith(`killed-${kill}.`))).toEqual([
        `killed-${kill}`,
      ])
      cpSync(join(service.dataDirectory, 'encryption.key'), join(to, 'encryption.key'))
      const second = await startService({ dataDirectory: to })
      services.push(second)
      await second.loaded()
      expect(await second.query(totals)).toEqual(await service.query(totals))
      await second.stop()
      await json('prune', '--keep', '2')
    }
  })

  it('are refused when they were changed, cut, are of a newer version, or the key is another one', async () => {
    const [id = ''] = await ids()
    const place = join(folder, 'backups', id)
    const to = join(folder, 'refused')
    const refused = async (what: RegExp, env: NodeJS.ProcessEnv = {}) => {
      expect(await backup(['restore', id, '--to', to], env)).toMatchObject({
        code: 1,
        err: expect.stringMatching(what),
      })
      expect(readdirSync(folder).filter((name) => name.startsWith('refused'))).toEqual([])
    }
    /** Changes a file for the time of a check. */
    async function changed(path: string, change: (path: string) => void, check: () => Promise<void>) {
      const former = readFileSync(path)
      // Not in place: another backup may have the same file.
      rmSync(path)
      writeFileSync(path, former)
      change(path)
      await check()
      writeFileSync(path, former)
    }
    const flip = (path: string) => {
      const bytes = readFileSync(path)
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
      writeFileSync(path, bytes)
    }
    const users = join(place, 'relational', 'public.users')
    const manifest = join(place, 'manifest.json')
    await changed(users, flip, () => refused(/relational\/public\.users of the backup \S+ was changed/))
    await changed(
      users,
      (path) => truncateSync(path, 10),
      () => refused(/was cut|is cut/),
    )
    await changed(
      users,
      (path) => rmSync(path),
      () => refused(/is missing/),
    )
    await changed(manifest, flip, () => refused(/cannot be opened|was changed/))
    await changed(
      manifest,
      (path) => writeFileSync(path, readFileSync(path, 'utf8').replace('"format":2', '"format":3')),
      () => refused(/newer version/),
    )
    await refused(/another key/, { MILLRACE_BACKUP_KEY: keyOf('another') })
    await refused(/is encrypted: set MILLRACE_BACKUP_KEY/, { MILLRACE_BACKUP_KEY: '' })
    expect(await backup(['restore', id, '--to', folder])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not empty'),
    })
    expect(await backup(['restore', 'latest', '--to', to])).toMatchObject({ code: 1 })
    expect(await backup(['verify', id])).toMatchObject({ code: 0 })
  })

  it.each([
    { argv: [] },
    { argv: ['made'] },
    { argv: ['restore'] },
    { argv: ['prune', '--keep', '0'] },
    { argv: ['create', '--fast'] },
    { argv: ['list', 'a', 'b'] },
  ])('are not $argv', async ({ argv }) => {
    expect(await backup(argv)).toMatchObject({
      code: 2,
      err: expect.stringContaining('Usage: millrace backup COMMAND'),
    })
  })

  it('stop before the disk is full, and leave nothing', async () => {
    const before = readdirSync(join(folder, 'backups'))
    expect(await backup(['create'], { MILLRACE_DISK_RESERVE_MIB: '1000000' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('is nearly full'),
    })
    expect(readdirSync(join(folder, 'backups'))).toEqual(before)
  })

  it('are listed with what is wrong with them', async () => {
    const directory = join(folder, 'damaged')
    await backup(['create', '--directory', directory])
    const [damaged = ''] = readdirSync(directory)
    writeFileSync(join(directory, damaged, 'manifest.json'), '{')
    const { out } = await backup(['list', '--directory', directory])
    expect(out).toContain(`${damaged}  The manifest of the backup ${damaged} was changed`)
  })

  it('are made by the service itself, which keeps as many as it is told to', async () => {
    const directory = join(folder, 'scheduled')
    const env = {
      MILLRACE_BACKUP_DIR: directory,
      MILLRACE_BACKUP_EVERY_HOURS: '1',
      MILLRACE_BACKUP_KEEP: '1',
    }
    const second = await startService({ env })
    services.push(second)
    const made = await until(() => {
      const names = existsSync(directory) ? readdirSync(directory) : []
      return names.length === 1 && !names[0]?.endsWith('.partial') && names[0]
    })
    const metrics = await (await fetch(`${new URL(second.baseUrl).origin}/metrics`)).text()
    expect(metrics).toMatch(/^millrace_backup_age_seconds \d/m)
    const verified = await backup(['verify', String(made), '--directory', directory], {
      MILLRACE_BACKUP_KEY: '',
    })
    expect(verified).toMatchObject({ code: 0 })
    await second.stop()
  })

  it('lie in a bucket too, each file once, and come back from it to another machine', async () => {
    const server = await startS3Server()
    const env = {
      MILLRACE_BACKUP_S3_URL: server.url,
      MILLRACE_S3_ACCESS_KEY: s3Keys.accessKey,
      MILLRACE_S3_SECRET_KEY: s3Keys.secretKey,
      MILLRACE_OUTGOING_ALLOW: '127.0.0.1/32',
    }
    const run = async <T>(...argv: string[]): Promise<T> => {
      const { code, out, err } = await backup([...argv, '--json'], env)
      if (code !== 0) throw new Error(err)
      return JSON.parse(out) as T
    }
    try {
      expect((await send(service, 5_000_000, 20)).status).toBe(200)
      await service.loaded()
      await json('create')
      await service.dataOf('POST', '/entities/persons/erase', { tmpIds: ['device-4'] })
      await erased(service)
      const first = await run<{ id: string; bytes: number; sent: number }>('create')
      const second = await run<{ id: string; bytes: number; sent: number }>('create')
      expect(second.sent).toBeLessThan(second.bytes)
      const elsewhere = join(folder, 'elsewhere')
      const fetched = await run('fetch', '--directory', elsewhere)
      expect(fetched).toMatchObject({ id: second.id })
      expect(await run('verify', '--directory', elsewhere)).toMatchObject({ id: second.id })
      expect(existsSync(join(elsewhere, 'erasures.ndjson'))).toBe(true)
      expect(await backup(['fetch', second.id, '--directory', elsewhere], env)).toMatchObject({
        code: 1,
        err: expect.stringContaining('already'),
      })

      // What only the first one has goes with it.
      const store = openObjectStore(
        { url: server.url, region: 'us-east-1', ...s3Keys },
        { clock: systemClock, outgoingAllow: ['127.0.0.1/32'] },
      )
      const before = (await store.list('objects/')).size
      await run('prune', '--keep', '1')
      expect([...(await store.list('backups/')).keys()]).toEqual([`backups/${second.id}.json`])
      expect((await store.list('objects/')).size).toBeLessThan(before)
      expect(await backup(['fetch', first.id, '--directory', elsewhere], env)).toMatchObject({
        code: 1,
        err: expect.stringContaining('status 404'),
      })
      const again = join(folder, 'again')
      mkdirSync(again)
      writeFileSync(join(again, 'erasures.ndjson'), '{"id":"of this machine"}\n{"cut')
      await run('fetch', second.id, '--directory', again)
      expect(readdirSync(again).sort()).toEqual([second.id, 'erasures.ndjson'])
      const lines = readFileSync(join(again, 'erasures.ndjson'), 'utf8').split('\n').filter(Boolean)
      expect(lines.length).toBeGreaterThan(2)
      expect(lines.slice(0, 2)).toEqual(['{"id":"of this machine"}', '{"cut'])

      // Nothing is written outside of the directory, whatever the bucket says.
      const text = JSON.stringify({
        ...{ format: 2, id: first.id, version: '', at: '', encrypted: false, relationalMigration: 1 },
        ...{ columnarMigration: 1, relationalRows: {}, columnarRows: {} },
        files: [{ path: '../../outside', bytes: 1, sha256: 'a' }],
      })
      const hash = (of: string) => createHash('sha256').update(of).digest('hex')
      const manifest = JSON.stringify({ format: 2, encrypted: false, sha256: hash(text), manifest: text })
      const forged = join(folder, 'forged')
      writeFileSync(forged, manifest)
      await store.put(`backups/${first.id}.json`, {
        ...{ path: forged, bytes: manifest.length, sha256: hash(manifest) },
      })
      for (const [id, reason] of [
        [first.id, 'outside of it'],
        ['../../outside', 'is not the identifier of a backup'],
      ] as const)
        expect(await backup(['fetch', id, '--directory', elsewhere], env)).toMatchObject({
          code: 1,
          err: expect.stringContaining(reason),
        })
      await store.remove(`backups/${first.id}.json`)

      // A copy that was changed, or is gone, is no backup.
      const [some = ''] = (await store.list('objects/')).keys()
      const file = join(folder, 'changed')
      writeFileSync(file, 'changed')
      const sha256 = createHash('sha256').update('changed').digest('hex')
      await store.put(some, { path: file, bytes: 7, sha256 })
      const spoiled = join(folder, 'spoiled')
      expect(await backup(['fetch', second.id, '--directory', spoiled], env)).toMatchObject({ code: 1 })
      expect(readdirSync(spoiled).filter((name) => name !== 'erasures.ndjson')).toEqual([])
      server.fault.status = 403
      expect(await backup(['create'], env)).toMatchObject({
        code: 1,
        err: expect.stringContaining(
          'The bucket of MILLRACE_BACKUP_S3_URL: 127.0.0.1 answered with status 403',
        ),
      })
    } finally {
      await server.close()
    }
  })

  it('move to servers of PostgreSQL and ClickHouse, and back', async () => {
    await service.loaded()
    const { id } = await json<{ id: string }>('create')
    const database = await createTestDatabase({ migrated: false })
    const engine = await startColumnarServer()
    const stores = {
      DATABASE_URL: urlOf(database.application),
      DATABASE_OWNER_URL: urlOf(database.owner),
      CLICKHOUSE_URL: engine.url,
    }
    const onServer = join(folder, 'on-server')
    const back = join(folder, 'back')
    const key = join(service.dataDirectory, 'encryption.key')
    const saved = (of: Service) => of.dataOf<{ name: string }[]>('GET', '/statistics/query')
    const isTold = async (of: Service) => [
      await of.query(totals),
      await of.query(byHour),
      await saved(of),
      await of.dataOf('GET', '/datasources'),
    ]
    try {
      expect(await backup(['restore', id, '--to', onServer], stores)).toMatchObject({ code: 0 })
      expect(existsSync(join(onServer, 'postgres'))).toBe(false)
      expect(existsSync(join(onServer, 'columnar'))).toBe(false)
      cpSync(key, join(onServer, 'encryption.key'))
      const moved = await startService({ dataDirectory: onServer, env: stores })
      services.push(moved)
      expect(await isTold(moved)).toEqual(await isTold(service))
      // An event of before counts once.
      expect((await send(service, 7_000_000, 1)).status).toBe(200)
      expect((await send(moved, 7_000_000, 3)).status).toBe(200)
      expect((await send(moved, 7_000_000, 1)).status).toBe(200)
      await moved.loaded()
      const there = await isTold(moved)
      // A database that is in use is not filled a second time.
      for (const [env, table] of [
        [stores, 'CLICKHOUSE_URL'],
        [{ ...stores, CLICKHOUSE_URL: '' }, 'DATABASE_URL'],
      ] as const)
        expect(await backup(['restore', id, '--to', join(folder, 'twice')], env)).toMatchObject({
          code: 1,
          err: expect.stringContaining(`The database of ${table} is not empty`),
        })
      expect(existsSync(join(folder, 'twice'))).toBe(false)

      // What a backup that was killed has left.
      await cloneTable(engine, 'events')
      mkdirSync(join(onServer, 'run', 'backup_killed_server'))
      const made = await backup(['create', '--json'], { ...stores, MILLRACE_DATA_DIR: onServer })
      expect(made).toMatchObject({ code: 0 })
      // Nothing of it stays, here or there.
      expect(await tableNames(engine)).not.toContainEqual(expect.stringMatching(/^backup_/))
      expect(readdirSync(join(onServer, 'run'))).not.toContainEqual(expect.stringMatching(/^backup_/))
      await moved.stop()
      await json('restore', (JSON.parse(made.out) as { id: string }).id, '--to', back)
      cpSync(key, join(back, 'encryption.key'))
      const again = await startService({ dataDirectory: back })
      services.push(again)
      await again.loaded()
      expect(await isTold(again)).toEqual(there)
      await again.stop()
    } finally {
      await database.close()
      await engine.close()
    }
  })

  it('say which server cannot be used, and leave nothing', async () => {
    const gone = { CLICKHOUSE_URL: 'http://127.0.0.1:1/millrace' }
    const to = join(folder, 'nowhere')
    expect(await attempt(['restore', '--to', to], gone)).toMatchObject({
      code: 1,
      err: expect.stringContaining('CLICKHOUSE_URL cannot be used: connect ECONNREFUSED 127.0.0.1:1'),
    })
    expect(existsSync(to)).toBe(false)
    const before = await ids()
    expect(await attempt(['create'], gone)).toMatchObject({
      code: 1,
      err: expect.stringContaining('The engine of the statistics does not answer'),
    })
    expect(await ids()).toEqual(before)
  })

  it('hold nothing that can be read without the key', async () => {
    const email = service.admin.email
    const names = (directory: string) =>
      readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
        (file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).includes(email),
      )
    expect(names(join(folder, 'backups'))).toEqual([])
    await backup(['create', '--directory', join(folder, 'open')], { MILLRACE_BACKUP_KEY: '' })
    expect(names(join(folder, 'open'))).not.toEqual([])
  })
})
