import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cloneTable, dropClones } from '../../src/database/columnar-tables.ts'
import { newId } from '../../src/platform/ids.ts'
import { engineSocketPath } from '../../src/platform/stores/chdb/socket.ts'
import { openColumnar } from '../../src/platform/stores/columnar-client.ts'
import { embeddedAddresses } from '../../src/platform/stores/embedded-postgres.ts'
import { connectionConfig } from '../../src/platform/stores/relational.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

const execute = promisify(execFile)
const main = new URL('../../src/main.ts', import.meta.url).pathname

let folder: string
let service: Service

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-doctor-'))
  service = await startService()
})
afterAll(async () => {
  await service.stop()
  removeData(service)
  rmSync(folder, { recursive: true })
})

interface Found {
  readonly check: string
  readonly state: string
  readonly says: string
  readonly remedy?: string
}

async function doctor(argv: readonly string[] = ['--json'], env: NodeJS.ProcessEnv = {}) {
  const given = {
    ...process.env,
    MILLRACE_DATA_DIR: service.dataDirectory,
    MILLRACE_BACKUP_DIR: join(folder, 'backups'),
    ...env,
  }
  try {
    const { stdout } = await execute(process.execPath, [main, 'doctor', ...argv], { env: given })
    return { code: 0, out: stdout, err: '' }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, out: stdout, err: stderr }
  }
}

async function findings(env: NodeJS.ProcessEnv = {}) {
  const { code, out } = await doctor(['--json'], env)
  const { found } = JSON.parse(out) as { found: Found[] }
  return { code, found, of: (check: string) => found.filter((each) => each.check === check) }
}

async function inDatabase(sql: string, values: readonly unknown[] = []): Promise<void> {
  const client = new pg.Client(connectionConfig(embeddedAddresses(join(service.dataDirectory, 'run')).owner))
  await client.connect()
  await client.query(sql, [...values])
  await client.end()
}

test('a bundle has sizes and metrics, and no secret, person or event', async () => {
  await service.dataOf('POST', '/entities/persons/search', { clientIds: ['a-person'] })
  const file = join(folder, 'bundle.json')
  expect((await doctor(['--bundle', file], { MILLRACE_METRICS_TOKEN: '' })).code).toBe(0)
  const text = readFileSync(file, 'utf8')
  const { found, variables, relational, columnar, metrics } = JSON.parse(text)
  expect(found.length).toBeGreaterThan(10)
  expect(variables).toContain('MILLRACE_DATA_DIR')
  expect(relational.map(({ table }: { table: string }) => table)).toContain('companies')
  expect(Array.isArray(columnar)).toBe(true)
  expect(metrics.some((line: string) => line.startsWith('millrace_load_lag_seconds'))).toBe(true)
  const key = readFileSync(join(service.dataDirectory, 'encryption.key'), 'utf8').trim()
  for (const secret of [key, service.admin.email, service.admin.password, 'a-person', '@'])
    expect(text).not.toContain(secret)
  // It never writes over a file.
  expect((await doctor(['--bundle', file])).code).toBe(2)
})

test('a service that works has nothing that does not, and every advice comes with what to do', async () => {
  const { code, found } = await findings()
  expect(code).toBe(0)
  expect(found.filter(({ state }) => state === 'bad')).toEqual([])
  expect(found.map(({ check }) => check)).toEqual([
    ...['program', 'data directory', 'disk', 'backups', 'service', 'relational store', 'columnar store'],
    ...[
      'migrations',
      'quarantine',
      'loading',
      'event log',
      'keys',
      'mails',
      'outgoing',
      'tables',
      'removals',
    ],
  ])
  // No backup yet, and mails are files.
  expect(found.filter(({ state }) => state === 'look').map(({ check }) => check)).toEqual([
    'backups',
    'mails',
  ])
  for (const { state, remedy } of found) expect(remedy !== undefined).toBe(state !== 'ok')
  const { out } = await doctor([])
  expect(out).toMatch(/^ok {4}service: answers at http:\/\/127\.0\.0\.1:\d+ and is ready$/m)
})

test('says what an upgrade would do, and that a newer version was here', async () => {
  await inDatabase('create table kept as select * from schema_migrations where number = 13')
  try {
    await inDatabase('delete from schema_migrations where number = 13')
    expect((await findings()).of('migrations')).toMatchObject([
      {
        state: 'look',
        says: expect.stringMatching(
          /^relational store, at the next start of \d.*: 0013-stored-bytes\.sql \(.+\) takes/,
        ),
      },
    ])
    await inDatabase(
      `insert into schema_migrations (number, file, checksum) values (9999, '9999-later.sql', '')`,
    )
    expect(await findings()).toMatchObject({ code: 1 })
    expect((await findings()).of('migrations')).toMatchObject([
      { state: 'bad', says: expect.stringContaining('9999-later.sql') },
    ])
  } finally {
    await inDatabase('delete from schema_migrations where number = 9999')
    await inDatabase('insert into schema_migrations select * from kept')
    await inDatabase('drop table kept')
  }
})

test('what is wrong is named with its remedy', async () => {
  await inDatabase(
    `insert into event_purges (datasource_id, company_id, requested_at) values ($1, $2, now() - interval '1 hour')`,
    [newId(), service.companyId],
  )
  chmodSync(service.dataDirectory, 0o755)
  const { code, of } = await findings({
    MILLRACE_DISK_RESERVE_MIB: '1000000',
    MILLRACE_ENCRYPTION_KEY: Buffer.from('another key of thirty-two bytes!').toString('base64'),
    SMTP_URL: 'smtp://127.0.0.1:1',
    MILLRACE_METRICS_TOKEN: 'none',
  })
  chmodSync(service.dataDirectory, 0o700)
  expect(code).toBe(1)
  expect(of('disk')).toMatchObject([{ state: 'bad', says: expect.stringContaining('events are refused') }])
  expect(of('data directory')).toMatchObject([
    { state: 'look', remedy: expect.stringContaining('chmod 700') },
  ])
  expect(of('mails')).toMatchObject([{ state: 'bad', says: expect.stringContaining('127.0.0.1') }])
  // The service removes the purge within a moment, or it is late.
  expect(of('removals')).toHaveLength(1)
})

test('tables that belong to nothing, and imports and exports that failed, are worth a look', async () => {
  const runPath = join(service.dataDirectory, 'run')
  const columnar = openColumnar({ address: { socketPath: engineSocketPath(runPath) } })
  try {
    await cloneTable(columnar, 'events')
    await inDatabase(
      `insert into statistics_exports (id, company_id, requested_by, table_name, format, from_day, state)
       values ($1, $2, $1, 'events', 'csv', '2026-01-01', 'failed')`,
      [newId(), service.companyId],
    )
    const { code, of } = await findings()
    expect(code).toBe(0)
    expect(of('tables')).toMatchObject([
      { state: 'look', says: expect.stringContaining('backup_events are left of a backup') },
    ])
    expect(of('outgoing')).toMatchObject([
      { state: 'look', says: expect.stringContaining('and 1 exports failed') },
    ])
  } finally {
    await dropClones(columnar)
    await columnar.close()
  }
})

test('without a service it says what it can', async () => {
  const { code, of } = await findings({ MILLRACE_DATA_DIR: join(folder, 'nothing') })
  expect(code).toBe(1)
  expect(of('data directory')).toMatchObject([
    { state: 'bad', remedy: expect.stringContaining('MILLRACE_DATA_DIR') },
  ])
  expect(of('service')).toMatchObject([{ state: 'look', says: 'does not run here' }])
})

test('a wrong command line is code 2', async () => {
  expect(await doctor(['--fast'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('Usage: millrace doctor'),
  })
})
