import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Session } from 'chdb'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { columnarMigrations, type MigratableColumnar } from '../../src/database/columnar-migrations.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { migrate, readMigrations } from '../../src/platform/migrations/migrations.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let lock: TestDatabase
let engine: Session
let place: string
let directory: string
let columnar: MigratableColumnar

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'millrace-columnar-'))
  engine = new Session(place)
  lock = await createTestDatabase({ migrated: false })
  columnar = {
    async command({ sql, params = {} }) {
      await engine.queryBindAsync(sql, params, { format: 'Null' })
    },
    async query<R>({ sql, params = {} }: { sql: string; params?: object }) {
      const rows = (await engine.queryBindAsync(sql, params, { format: 'JSONEachRow' })).text()
      return rows
        .split('\n')
        .filter(Boolean)
        .map((row): R => JSON.parse(row))
    },
  }
})

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-migrations-'))
})

afterEach(async () => {
  for (const name of await tables())
    await columnar.command({ sql: `drop view if exists ${name}` }).catch(() => {})
  for (const name of await tables()) await columnar.command({ sql: `drop table if exists ${name} sync` })
  rmSync(directory, { recursive: true, force: true })
})

afterAll(async () => {
  engine.cleanup()
  await lock.close()
  rmSync(place, { recursive: true, force: true })
})

const write = (file: string, sql: string): void => writeFileSync(join(directory, file), sql)
const run = (store: MigratableColumnar = columnar): Promise<string[]> =>
  migrate(columnarMigrations(store, lock.owner, silentLogger), readMigrations(directory), silentLogger)

async function tables(): Promise<string[]> {
  const rows = await columnar.query<{ name: string }>({
    sql: 'select name from system.tables where database = currentDatabase() order by name',
  })
  return rows.map((row) => row.name)
}

async function shape(): Promise<string[]> {
  const rows = await columnar.query<{ name: string }>({
    sql: `select table || '.' || name as name from system.columns
          where database = currentDatabase() and table <> 'schema_migrations' order by name`,
  })
  return rows.map((row) => row.name)
}

const events = `-- what happened; when
create table if not exists events (time DateTime, name String default ';') engine = MergeTree order by time;
alter table events add column if not exists url String;
create table if not exists days (day Date, count UInt64) engine = SummingMergeTree order by day`
const views = `create materialized view if not exists days_of_events to days as
  select toDate(time) as day, count() as count from events group by day;
drop table if exists unused;`

/** The store as it is for a process that is killed at its n-th command, before or after the engine did it. */
function dyingAt(n: number, after: boolean): MigratableColumnar {
  let commands = 0
  return {
    ...columnar,
    async command(statement) {
      commands += 1
      if (commands > n) throw new Error('the process is dead')
      if (commands < n || after) await columnar.command(statement)
      if (commands === n) throw new Error('the process is dead')
    },
  }
}

test('applies statements in order and every file once', async () => {
  write('0001-events.sql', events)
  write('0002-views.sql', views)
  expect(await run()).toEqual(['0001-events.sql', '0002-views.sql'])
  expect(await shape()).toEqual([
    'days.count',
    'days.day',
    'days_of_events.count',
    'days_of_events.day',
    'events.name',
    'events.time',
    'events.url',
  ])
  expect(await run()).toEqual([])
})

test('an interruption before or after any statement or record is made good by the next run', async () => {
  write('0001-events.sql', events)
  write('0002-views.sql', views)
  // The table of records, and for each of five statements the statement and its record.
  const commands = 1 + 2 * 5
  for (let n = 1; n <= commands; n++) {
    for (const after of [false, true]) {
      await expect(run(dyingAt(n, after))).rejects.toThrow('the process is dead')
      await run()
      expect((await shape()).length).toBe(7)
      expect(await run()).toEqual([])
      for (const name of ['days_of_events', 'events', 'days', 'schema_migrations']) {
        await columnar.command({ sql: `drop table if exists ${name} sync` })
      }
    }
  }
})

test('continues after the last statement that was recorded, also when it is killed again and again', async () => {
  write('0001-events.sql', events)
  for (const n of [2, 4, 4, 4]) await run(dyingAt(n, true)).catch(() => {})
  expect(await run()).toEqual([])
  expect(await shape()).toEqual(['days.count', 'days.day', 'events.name', 'events.time', 'events.url'])
})

test('several that start at once wait for each other', async () => {
  write('0001-events.sql', events)
  write('0002-views.sql', views)
  const applied = await Promise.all([run(), run(), run()])
  expect(applied.flat().sort()).toEqual(['0001-events.sql', '0002-views.sql'])
  const rows = await columnar.query<{ count: number }>({
    sql: 'select toUInt32(count()) as count from schema_migrations',
  })
  expect(rows).toEqual([{ count: 5 }])
})

test('refuses a changed file and a newer store', async () => {
  write('0001-events.sql', events)
  write('0002-views.sql', views)
  await run()
  write('0001-events.sql', `${events};\ncreate table if not exists more (x UInt8) engine = Memory`)
  await expect(run()).rejects.toThrow(/0001-events\.sql is not the one that was applied/)
  write('0001-events.sql', events)
  rmSync(join(directory, '0002-views.sql'))
  await expect(run()).rejects.toThrow(/newer version: this one does not know 0002-views\.sql/)
  rmSync(join(directory, '0001-events.sql'))
  write('0001-baseline.sql', views)
  await expect(run()).rejects.toThrow(
    /other migrations: 0001-events\.sql, where this version has 0001-baseline\.sql/,
  )
})

test('of a file that was applied in part, only what is still to come may change', async () => {
  write(
    '0001-events.sql',
    events.replace('create table if not exists days (day Date', 'create table if not exists days (day Dat'),
  )
  await expect(run()).rejects.toThrow(/^Migration 0001-events\.sql, line 4 failed: .*Dat/s)
  write('0001-events.sql', events.replace('url String', 'address String'))
  await expect(run()).rejects.toThrow(/applied up to its statement 2, and its statement 2 was changed/)
  write('0001-events.sql', events)
  expect(await run()).toEqual(['0001-events.sql'])
})

test('a file that loses its last statement after an interruption is finished all the same', async () => {
  write('0001-events.sql', events)
  await run(dyingAt(5, true)).catch(() => {})
  write('0001-events.sql', events.slice(0, events.lastIndexOf(';\n')))
  expect(await run()).toEqual(['0001-events.sql'])
  expect(await run()).toEqual([])
})

test('refuses a statement that could do its work twice before anything runs', async () => {
  write('0001-events.sql', `${events};\ncreate table days2 (day Date) engine = Memory`)
  await expect(run()).rejects.toThrow(/0001-events\.sql, line 5 failed: write CREATE \.\.\. IF NOT EXISTS/)
  expect(await shape()).toEqual([])
})
