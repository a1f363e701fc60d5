import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { silentLogger } from '../logger.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts'
import { eq, integer, pgTable, sql, text } from './postgres/drizzle.ts'
import {
  openRelational,
  type Relational,
  type RelationalOptions,
  RelationalTimeout,
  RelationalUnavailable,
  violatedConstraint,
} from './relational.ts'

const counters = pgTable('counters', {
  id: integer('id').primaryKey(),
  value: integer('value').notNull(),
  secret: text('secret').unique(),
})

let directory: string
let postgres: EmbeddedPostgres
let relational: Relational
const others: Relational[] = []

function open(changes: Partial<RelationalOptions> = {}): Relational {
  const other = openRelational({ address: postgres.owner, logger: silentLogger, ...changes })
  others.push(other)
  return other
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'mr-rel-'))
  mkdirSync(join(directory, 'run'))
  postgres = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    runPath: join(directory, 'run'),
    logger: silentLogger,
    settings: { fsync: 'off', deadlock_timeout: '100ms' },
    initArguments: ['--no-sync'],
  })
})

beforeEach(async () => {
  relational = open()
  await relational.pool.query(`
    drop table if exists counters;
    create table counters (id int primary key, value int not null check (value < 1000), secret text unique);
    insert into counters values (1, 0), (2, 0)`)
})

afterEach(async () => {
  await Promise.all(others.splice(0).map((other) => other.close()))
})

afterAll(async () => {
  await postgres?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

test('a transaction is kept whole or not at all, and gives what its function returns', async () => {
  const { db, transaction } = relational
  const given = await transaction(async (tx) => {
    await tx.update(counters).set({ value: 7 }).where(eq(counters.id, 1))
    return 'done'
  })
  expect(given).toBe('done')
  const refused = transaction(async (tx) => {
    await tx.update(counters).set({ value: 8 }).where(eq(counters.id, 1))
    throw new Error('changed our mind')
  })
  await expect(refused).rejects.toThrow('changed our mind')
  expect(await db.select({ value: counters.value }).from(counters).orderBy(counters.id)).toEqual([
    { value: 7 },
    { value: 0 },
  ])
})

test('an inner transaction is undone alone', async () => {
  await relational.transaction(async (tx) => {
    await tx.update(counters).set({ value: 1 }).where(eq(counters.id, 1))
    const inner = tx.transaction(async (nested) => {
      await nested.update(counters).set({ value: 2 }).where(eq(counters.id, 1))
      throw new Error('inner')
    })
    await expect(inner).rejects.toThrow('inner')
  })
  const [row] = await relational.db.select().from(counters).where(eq(counters.id, 1))
  expect(row?.value).toBe(1)
})

test('a transaction in which a statement failed is never reported as committed', async () => {
  const swallowed = relational.transaction(async (tx) => {
    await tx.update(counters).set({ value: 9 }).where(eq(counters.id, 1))
    await tx.execute(sql`select 1 / 0`).catch(() => {})
    return 'fine'
  })
  await expect(swallowed).rejects.toThrow('a statement in it failed')
})

test('serialisation failures are tried again until all have counted', async () => {
  const increments = Array.from({ length: 8 }, () =>
    relational.transaction(
      async (tx) => {
        const [row] = await tx.select().from(counters).where(eq(counters.id, 1))
        await tx
          .update(counters)
          .set({ value: (row?.value ?? 0) + 1 })
          .where(eq(counters.id, 1))
      },
      { isolationLevel: 'serializable' },
    ),
  )
  const outcomes = await Promise.allSettled(increments)
  const done = outcomes.filter(({ status }) => status === 'fulfilled').length
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(RelationalUnavailable)
  }
  const [row] = await relational.db.select().from(counters).where(eq(counters.id, 1))
  expect(row?.value).toBe(done)
  expect(done).toBeGreaterThan(3)
})

test('a deadlock is broken and both transactions succeed', async () => {
  let runs = 0
  let holding = 0
  const bothHold = Promise.withResolvers<void>()
  const add = async (first: number, second: number): Promise<void> =>
    await relational.transaction(async (tx) => {
      runs += 1
      await tx.update(counters).set({ value: sql`value + 1` }).where(eq(counters.id, first))
      if (++holding === 2) bothHold.resolve()
      await bothHold.promise
      await tx.update(counters).set({ value: sql`value + 1` }).where(eq(counters.id, second))
    })
  await Promise.all([add(1, 2), add(2, 1)])
  expect(runs).toBe(3)
  expect((await relational.db.select().from(counters)).map((row) => row.value)).toEqual([2, 2])
})

test('no error and nothing that a logger prints of it holds a parameter or a row', async () => {
  const secret = 'argon2-hash-of-a-user'
  const { db, pool, transaction } = relational
  await db.insert(counters).values({ id: 3, value: 0, secret })
  const failures = await Promise.all([
    failure(db.insert(counters).values({ id: 4, value: 0, secret })),
    failure(db.insert(counters).values({ id: 5, value: 5000, secret: `${secret}2` })),
    failure(pool.query('insert into counters values (6, null, $1)', [`${secret}3`])),
    failure(transaction((tx) => tx.insert(counters).values({ id: 7, value: 0, secret }))),
  ])
  expect(failures.map(violatedConstraint)).toEqual([
    'counters_secret_key',
    'counters_value_check',
    'value',
    'counters_secret_key',
  ])
  for (const error of failures) {
    expect(JSON.stringify(error) + String(error) + (error as Error).stack).not.toContain(secret)
    expect((error as { detail: string }).detail).toContain(secret)
  }
})

test('a statement that takes too long is cancelled', async () => {
  const { pool, db } = open({ statementTimeoutMs: 100 })
  expect(await failure(pool.query('select pg_sleep(1e6)'))).toBeInstanceOf(RelationalTimeout)
  expect(await failure(Promise.resolve(db.execute(sql`select pg_sleep(1e6)`)))).toMatchObject({
    errorName: 'unavailable',
    status: 503,
    retryAfterSeconds: 5,
  })
})

test('a query waits for a free connection only so long', async () => {
  const { pool, db, transaction } = open({ connections: 2, connectWithinMs: 1_000 })
  const held = [await pool.connect(), await pool.connect()]
  const refused = [
    pool.query('select 1'),
    Promise.resolve(db.execute(sql`select 1`)),
    transaction(async () => {}),
  ]
  for (const each of await Promise.all(refused.map(failure))) {
    expect(each).toBeInstanceOf(RelationalUnavailable)
    expect(each).toMatchObject({ status: 503, retryAfterSeconds: 2 })
  }
  for (const client of held) client.release()
  await pool.query('select 1')
})

test('a connection that is cut off is replaced, in use and idle', async () => {
  const { pool, transaction } = open({ connections: 1 })
  const cut = transaction(async (tx) => {
    await tx.update(counters).set({ value: 5 }).where(eq(counters.id, 1))
    await relational.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = $1',
      ['client backend'],
    )
    await tx.execute(sql`select 1`)
  })
  expect(await failure(cut)).toBeInstanceOf(RelationalUnavailable)
  expect((await pool.query('select value from counters order by id')).rows).toEqual([
    { value: 0 },
    { value: 0 },
  ])
  await relational.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = $1',
    ['client backend'],
  )
  await expect.poll(() => pool.query('select 1').then(() => 'answers', failure)).toBe('answers')
})

test('a server that is away, or accepts and says nothing, is unavailable within seconds', async () => {
  const away = open({ address: { url: 'postgres://somebody:hunter2@127.0.0.1:1/nothing' } })
  const error = await failure(away.ping())
  expect(error).toBeInstanceOf(RelationalUnavailable)
  expect(JSON.stringify(error)).not.toContain('hunter2')

  const mute: Server = createServer(() => {}).listen(0, '127.0.0.1')
  await new Promise((resolve) => mute.once('listening', resolve))
  const { port } = mute.address() as { port: number }
  const hung = open({
    address: { url: `postgres://somebody@127.0.0.1:${port}/nothing` },
    connectWithinMs: 200,
  })
  expect(await failure(hung.ping())).toBeInstanceOf(RelationalUnavailable)
  mute.close()
})

test('an address in DATABASE_URL leads to the same database as the socket does', async () => {
  const { socketDirectory, user, database } = postgres.owner
  const url = `postgres://${user}@/${database}?host=${encodeURIComponent(socketDirectory)}`
  const { pool } = open({ address: { url } })
  expect((await pool.query('select count(*)::int as count from counters')).rows).toEqual([{ count: 2 }])
})

test('closing waits for running queries', async () => {
  const other = open()
  const slow = other.pool.query(`select pg_sleep(0.5), 'answer' as text`)
  const running = `select 1 from pg_stat_activity where state = 'active' and query like 'select pg_sleep(0.5)%'`
  await expect.poll(async () => (await relational.pool.query(running)).rowCount, { interval: 5 }).toBe(1)
  await other.close()
  expect((await slow).rows[0].text).toBe('answer')
  expect(await failure(other.pool.query('select 1'))).toBeInstanceOf(RelationalUnavailable)
  others.splice(others.indexOf(other), 1)
})
