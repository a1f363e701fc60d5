import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { relationalMigrations } from '../../src/database/relational-migrations.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { MigrationFailed, migrate, readMigrations } from '../../src/platform/migrations/migrations.ts'
import { StartRefused } from '../../src/platform/start-refused.ts'
import { openRelational, type Relational } from '../../src/platform/stores/relational.ts'
import { spread } from '../support/long.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let directory: string
let database: TestDatabase
let owner: Relational

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-migrations-'))
  database = await createTestDatabase({ migrated: false })
  owner = openRelational({ address: database.owner, logger: silentLogger })
})

afterEach(async () => {
  await owner.close()
  await database.close()
  rmSync(directory, { recursive: true, force: true })
})

const write = (file: string, sql: string): void => writeFileSync(join(directory, file), sql)
const run = (): Promise<string[]> =>
  migrate(
    relationalMigrations(database.owner, 'millrace', silentLogger),
    readMigrations(directory),
    silentLogger,
  )

/** Everything that migrations can have made, as text. */
async function shape(): Promise<string> {
  const { rows } = await owner.pool.query(`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' union select 'applied ' || file from schema_migrations order by 1`)
  return rows.map((row) => row.name).join(' ')
}

// None of these may run twice, so that a second run of any statement would be seen.
const first = ['create table a (id int)', 'insert into a values (1)', 'alter table a add column b int']
const second = [
  'create table c (id int)',
  'update a set b = coalesce(b, 0) + 1',
  'create index c_id on c (id)',
]
const text = (statements: readonly string[]): string => `-- a file; with words\n${statements.join(';\n')};\n`

test('applies files in the order of their numbers, once', async () => {
  write('0010-second.sql', text(second))
  write('0002-first.sql', text(first))
  expect(await run()).toEqual(['0002-first.sql', '0010-second.sql'])
  expect(await run()).toEqual([])
  write('0003-between.sql', 'create table late (id int)')
  expect(await run()).toEqual(['0003-between.sql'])
  expect((await owner.pool.query('select * from a')).rows).toEqual([{ id: 1, b: 1 }])
})

test('an interruption at any statement leaves nothing of its file, and the next run completes', async () => {
  write('0001-first.sql', text(first))
  await run()
  const before = await shape()
  for (let at = 0; at <= second.length; at++) {
    const cut = second.toSpliced(at, 0, 'select pg_terminate_backend(pg_backend_pid())')
    write('0002-second.sql', text(cut))
    await expect(run()).rejects.toBeInstanceOf(MigrationFailed)
    expect(await shape()).toBe(before)
  }
  write('0002-second.sql', text(second))
  expect(await run()).toEqual(['0002-second.sql'])
  expect((await owner.pool.query('select * from a')).rows).toEqual([{ id: 1, b: 1 }])
})

test('a migrating process that is killed at any instant leaves whole files only', async () => {
  for (let i = 1; i <= 6; i++) {
    write(
      `000${i}-step.sql`,
      `create table t${i}a (id int); select pg_sleep(0.03); create table t${i}b (id int); select pg_sleep(0.03)`,
    )
  }
  const source = join(import.meta.dirname, '../../src')
  const script = `
    import { relationalMigrations } from ${JSON.stringify(join(source, 'database/relational-migrations.ts'))}
    import { migrate, readMigrations } from ${JSON.stringify(join(source, 'platform/migrations/migrations.ts'))}
    import { silentLogger } from ${JSON.stringify(join(source, 'platform/logger.ts'))}
    const driver = relationalMigrations(${JSON.stringify(database.owner)}, 'millrace', silentLogger)
    console.log('up')
    await migrate(driver, readMigrations(${JSON.stringify(directory)}), silentLogger)`
  for (const delay of spread([15, 40, 70, 100, 130], 2)) {
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    await sleep(delay)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const { rows } = await owner.pool.query(`
      select t.table_name from information_schema.tables t
      where table_schema = 'public' and table_name like 't%'`)
    expect(rows.length % 2).toBe(0)
  }
  await run()
  const { rows } = await owner.pool.query('select count(*)::int as count from schema_migrations')
  expect(rows[0].count).toBe(6)
  expect(await run()).toEqual([])
})

test('several that start at once wait for each other and apply each file once', async () => {
  write('0001-first.sql', text(first))
  write('0002-second.sql', `${text(second)}; select pg_sleep(0.1)`)
  const applied = await Promise.all(Array.from({ length: 5 }, run))
  expect(applied.flat().sort()).toEqual(['0001-first.sql', '0002-second.sql'])
})

test('names the file and the line of a statement that fails, and keeps the files before it', async () => {
  write('0001-first.sql', text(first))
  write(
    '0002-second.sql',
    `-- größer\n${text(['create table d (id int)', 'insert into nowhere values (1)'])}`,
  )
  await expect(run()).rejects.toThrow(
    /^Migration 0002-second\.sql, line 4 failed: relation "nowhere" does not exist$/,
  )
  expect(await shape()).toMatch(/applied 0001-first.sql/)
  expect(await shape()).not.toMatch(/d\.id/)
})

test('refuses a file that was changed after it was applied, and changes nothing', async () => {
  write('0001-first.sql', text(first))
  await run()
  const before = await shape()
  write('0001-first.sql', `${text(first)}create table more (id int);`)
  write('0002-second.sql', text(second))
  const error = await run().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(StartRefused)
  expect((error as Error).message).toMatch(
    /0001-first\.sql is not the one that was applied.*a migration of its own/s,
  )
  expect(await shape()).toBe(before)
})

test('other line ends are no change', async () => {
  write('0001-first.sql', text(first))
  await run()
  write('0001-first.sql', text(first).replaceAll('\n', '\r\n'))
  expect(await run()).toEqual([])
})

test('refuses a database that a newer version made, and changes nothing', async () => {
  write('0001-first.sql', text(first))
  write('0002-second.sql', text(second))
  await run()
  rmSync(join(directory, '0002-second.sql'))
  write('0003-other.sql', 'create table other (id int)')
  const before = await shape()
  await expect(run()).rejects.toThrow(/set up by a newer version: this one does not know 0002-second\.sql/)
  expect(await shape()).toBe(before)
})

test('refuses a database that was set up with other migrations, and changes nothing', async () => {
  write('0001-accounts.sql', text(first))
  write('0002-tokens.sql', text(second))
  await run()
  rmSync(join(directory, '0001-accounts.sql'))
  rmSync(join(directory, '0002-tokens.sql'))
  write('0001-baseline.sql', 'create table other (id int)')
  const before = await shape()
  await expect(run()).rejects.toThrow(
    /set up with other migrations: 0001-accounts\.sql, where this version has 0001-baseline\.sql/,
  )
  expect(await shape()).toBe(before)
})

test('refuses a file that would end the transaction around it, before anything of it runs', async () => {
  const body = 'do $$ begin perform 1; end $$'
  for (const words of ['commit', 'ROLLBACK', 'begin', '-- now\nstart transaction']) {
    write('0001-first.sql', `create table a (id int); ${body}; ${words}; create table b (id int)`)
    await expect(run()).rejects.toThrow(/0001-first\.sql, line \d failed: a migration is one transaction/)
  }
  expect(await shape()).not.toContain('a.id')
  write('0001-first.sql', `create table a (id int); ${body}`)
  expect(await run()).toEqual(['0001-first.sql'])
})

test('a migration can close a table to the role that the service works as', async () => {
  write(
    '0001-audit.sql',
    `create table audit (what text);
     do $$ declare role text := current_setting('millrace.application_role'); begin
       if role <> '' then execute format('revoke update, delete on audit from %I', role); end if;
     end $$`,
  )
  await run()
  await database.pool.query(`insert into audit values ('signed in')`)
  await expect(database.pool.query('delete from audit')).rejects.toThrow('permission denied')
})

test('says which names migrations must have', () => {
  write('0001-first.sql', 'select 1')
  write('0001-again.sql', 'select 1')
  expect(() => readMigrations(directory)).toThrow(
    /0001-again\.sql and 0001-first\.sql .* have the same number/,
  )
  write('first.sql', 'select 1')
  expect(() => readMigrations(directory)).toThrow(/first\.sql must be named like/)
})

test('says that PostgreSQL cannot be reached, without the password', async () => {
  const away = relationalMigrations({ url: 'postgres://me:hunter2@127.0.0.1:1/x' }, undefined, silentLogger)
  const error = await migrate(away, [], silentLogger).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(StartRefused)
  expect((error as Error).message).toMatch(/PostgreSQL cannot be used: .*ECONNREFUSED/)
  expect(JSON.stringify(error) + (error as Error).message).not.toContain('hunter2')
})
