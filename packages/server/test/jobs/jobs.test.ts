import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { getConstructionPlans } from 'pg-boss'
import { Type } from 'typebox'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { relationalDirectory } from '../../src/database/migrate.ts'
import { defineJob, type Job } from '../../src/platform/jobs/job.ts'
import { createJobs, type Jobs, type JobsOptions } from '../../src/platform/jobs/jobs.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { RelationalUnavailable } from '../../src/platform/stores/relational.ts'
import { createWorker, everyMinute, type JobWorkerTask, slowJob } from '../support/job-worker.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

/** Jobs as the service runs them: the role of the database may create no tables. */

let database: TestDatabase
const closers: (() => unknown)[] = []

const counting = defineJob({
  name: 'counting',
  schema: Type.Object({ number: Type.Integer() }),
  retry: { limit: 2, delaySeconds: 1, maxDelaySeconds: 1 },
})

async function asOwner(statement: string): Promise<void> {
  const { socketDirectory, user, database: name } = database.owner
  const client = new pg.Client({ host: socketDirectory, user, database: name })
  await client.connect()
  await client.query(statement)
  await client.end()
}

beforeAll(async () => {
  database = await createTestDatabase()
  await asOwner('create table job_runs (id serial primary key, note text)')
})

beforeEach(async () => {
  for (const table of ['jobs.schedule', 'jobs.job', 'job_runs'])
    await database.pool.query(`delete from ${table}`)
})

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

afterAll(() => database.close())

function open(more: Partial<JobsOptions> = {}): Jobs {
  const jobs = createJobs({
    relational: database,
    log: silentLogger,
    pollSeconds: 0.5,
    superviseSeconds: 1,
    ...more,
  })
  closers.push(jobs.stop)
  return jobs
}

/** Started, with a handler that writes down what it was given. */
function openCounting(more: Partial<JobsOptions> & { fails?: number } = {}) {
  const seen: string[] = []
  const jobs = open(more)
  jobs.handle(counting, async ({ number }, { attempt }) => {
    seen.push(`${number}/${attempt}`)
    if (attempt <= (more.fails ?? 0)) throw new Error(`attempt ${attempt} fails`)
  })
  jobs.start(true)
  return { jobs, seen }
}

const states = async (job: Job) =>
  (await database.pool.query('select state, retry_count from jobs.job where name = $1', [job.name])).rows

const poll = (read: () => unknown) => expect.poll(read, { interval: 50 })

test('the migration installs what the library in use would', async () => {
  const words = (text: string) => text.replaceAll(/[\s;]+/g, ' ').trim()
  const plan = getConstructionPlans('jobs')
    .split('\n')
    .filter((line) => !/^\s*(BEGIN;|COMMIT;|SET LOCAL |SELECT pg_advisory_xact_lock)/.test(line))
    .join('\n')
  const file = await readFile(join(relationalDirectory, '0002-jobs.sql'), 'utf8')
  expect(words(file.replaceAll(/^--.*$/gm, ''))).toBe(words(plan))
})

describe('a job', () => {
  test('runs when, and only when, the transaction of its cause is committed', async () => {
    const { jobs, seen } = openCounting()
    await database.transaction(async (tx) => {
      await jobs.enqueue(tx, counting, { number: 1 })
      await jobs.wake()
      expect(await states(counting)).toEqual([])
    })
    const refused = database.transaction(async (tx) => {
      await jobs.enqueue(tx, counting, { number: 2 })
      throw new Error('changed our mind')
    })
    await expect(refused).rejects.toThrow('changed our mind')
    await database.transaction((tx) => jobs.enqueue(tx, counting, { number: 3 }))
    await poll(() => seen).toEqual(['1/1', '3/1'])
    await poll(() => states(counting)).toEqual(Array(2).fill({ state: 'completed', retry_count: 0 }))
  })

  test('that fails is tried again, and given up after its last attempt', async () => {
    const { jobs, seen } = openCounting({ fails: 2 })
    await jobs.enqueue(database.db, counting, { number: 1 })
    await poll(() => seen).toEqual(['1/1', '1/2', '1/3'])
    await poll(() => states(counting)).toEqual([{ state: 'completed', retry_count: 2 }])
    await database.pool.query('delete from jobs.job')
    seen.length = 0
    await jobs.stop()
    const errors: unknown[] = []
    const hopeless = openCounting({
      fails: 9,
      log: {
        warn() {},
        error: (fields: unknown) => void errors.push(fields),
      } as unknown as JobsOptions['log'],
    })
    await hopeless.jobs.enqueue(database.db, counting, { number: 2 })
    await poll(() => states(counting)).toEqual([{ state: 'failed', retry_count: 2 }])
    expect(hopeless.seen).toEqual(['2/1', '2/2', '2/3'])
    expect(errors).toMatchObject([{ job: 'counting', attempt: 3, err: { message: 'attempt 3 fails' } }])
  })

  test('of other data than its schema is not enqueued', async () => {
    const { jobs } = openCounting()
    const wrong = jobs.enqueue(database.db, counting, { number: 'one' } as never)
    await expect(wrong).rejects.toThrow()
    expect(await states(counting)).toEqual([])
  })

  test('waits for its time', async () => {
    const { jobs, seen } = openCounting()
    await jobs.enqueue(database.db, counting, { number: 1 }, new Date(Date.now() + 3_600_000))
    await jobs.enqueue(database.db, counting, { number: 2 })
    await poll(() => seen).toEqual(['2/1'])
    await database.pool.query(`update jobs.job set start_after = now()`)
    await jobs.wake()
    await poll(() => seen).toEqual(['2/1', '1/1'])
  })

  test('that is exclusive waits or runs once', async () => {
    const exclusive = defineJob({ ...counting, name: 'exclusive', isExclusive: true })
    const jobs = open()
    jobs.handle(exclusive, async () => {})
    jobs.start(false)
    expect(await jobs.enqueue(database.db, exclusive, { number: 1 })).toEqual(expect.any(String))
    expect(await jobs.enqueue(database.db, exclusive, { number: 2 })).toBeUndefined()
  })

  test('is recorded in the ledger when it starts and when it ends, with the reason of a failure', async () => {
    const lines: string[] = []
    const { jobs } = openCounting({
      fails: 1,
      ledger: {
        onStart: async ({ job, attempt }) => void lines.push(`start ${job} ${attempt}`),
        onEnd: async ({ attempt }, error) =>
          void lines.push(`end ${attempt} ${(error as Error)?.message ?? 'well'}`),
      },
    })
    await jobs.enqueue(database.db, counting, { number: 1 })
    await poll(() => lines).toEqual([
      'start counting 1',
      'end 1 attempt 1 fails',
      'start counting 2',
      'end 2 well',
    ])
  })

  test('logs its own error when the ledger fails, too, and is tried again', async () => {
    const warnings: object[] = []
    const { jobs, seen } = openCounting({
      fails: 1,
      log: {
        warn: (fields: object) => void warnings.push(fields),
        error() {},
      } as unknown as JobsOptions['log'],
      ledger: {
        onStart: async () => {},
        async onEnd(_, error) {
          if (error) throw new Error('the ledger is away')
        },
      },
    })
    await jobs.enqueue(database.db, counting, { number: 1 })
    await poll(() => states(counting)).toEqual([{ state: 'completed', retry_count: 1 }])
    expect(seen).toEqual(['1/1', '1/2'])
    expect(warnings).toMatchObject(
      ['attempt 1 fails', 'the ledger is away'].map((message) => ({
        job: 'counting',
        attempt: 1,
        err: { message },
      })),
    )
  })

  test('of one attempt is not tried again, and needs no delays', async () => {
    const once = defineJob({ ...counting, name: 'once', retry: { limit: 0 } })
    const attempts: number[] = []
    const jobs = open()
    jobs.handle(once, async (_, { attempt }) => {
      attempts.push(attempt)
      throw new Error('it fails')
    })
    jobs.start(true)
    await jobs.enqueue(database.db, once, { number: 1 })
    await poll(() => states(once)).toEqual([{ state: 'failed', retry_count: 0 }])
    expect(attempts).toEqual([1])
  })

  test('is not enqueued before start, nor does its transaction wait for a start that does not come', async () => {
    const never = open()
    await expect(never.enqueue(database.db, counting, { number: 1 })).rejects.toThrow('before start')
    const { jobs } = openCounting({
      relational: {
        pool: { query: () => Promise.reject(new Error('the store is away')) },
      } as unknown as JobsOptions['relational'],
      startWithinMs: 50,
    })
    const waiting = database.transaction((tx) => jobs.enqueue(tx, counting, { number: 1 }))
    await expect(waiting).rejects.toThrow(RelationalUnavailable)
    expect(await states(counting)).toEqual([])
  })
})

describe('schedules', () => {
  test('are part of the transaction that makes them, in their own time zone', async () => {
    const { jobs } = openCounting()
    const schedule = { key: 'report-1', cron: '0 7 * * 1', timezone: 'Europe/Berlin', data: { number: 5 } }
    const refused = database.transaction(async (tx) => {
      await jobs.schedule(tx, counting, schedule)
      throw new Error('changed our mind')
    })
    await expect(refused).rejects.toThrow('changed our mind')
    await expect(jobs.schedule(database.db, counting, { ...schedule, cron: 'at seven' })).rejects.toThrow()
    await expect(
      jobs.schedule(database.db, counting, { ...schedule, timezone: 'Mars/Base' }),
    ).rejects.toThrow()
    const rows = async () =>
      (
        await database.pool.query('select key, cron, timezone, data from jobs.schedule where name = $1', [
          counting.name,
        ])
      ).rows
    expect(await rows()).toEqual([])
    await jobs.schedule(database.db, counting, schedule)
    await jobs.schedule(database.db, counting, { ...schedule, cron: '0 8 * * 1' })
    expect(await rows()).toEqual([{ ...schedule, cron: '0 8 * * 1' }])
    await jobs.unschedule(database.db, counting, 'report-1')
    expect(await rows()).toEqual([])
  })

  test('send each occurrence once, however many processes there are', async () => {
    const before = Math.floor(Date.now() / 60_000)
    const workers = Array.from({ length: 3 }, () =>
      createWorker({ address: database.application, workMs: 0 }),
    )
    for (const { jobs, relational } of workers) {
      jobs.start(true)
      closers.push(jobs.stop, relational.close)
    }
    await poll(async () => (await states(everyMinute)).map(({ state }) => state)).toContain('completed')
    const lastLook = async () =>
      (await database.pool.query('select cron_on::text as at from jobs.version')).rows[0].at as string
    for (let looks = 0; looks < 3; looks++) await poll(lastLook).not.toBe(await lastLook())
    const { rowCount } = await database.pool.query(`select 1 from job_runs where note = 'minute'`)
    expect(rowCount).toBeLessThanOrEqual(Math.floor(Date.now() / 60_000) - before + 1)
  })
})

describe('processes', () => {
  const notes = async () =>
    (
      await database.pool.query<{ note: string }>(
        `select note from job_runs where note <> 'minute' order by id`,
      )
    ).rows.map(({ note }) => note)

  test('a job whose process is killed runs again elsewhere, and what was done stays done', async () => {
    const task: JobWorkerTask = { address: database.application, workMs: 600_000 }
    const file = join(import.meta.dirname, '../support/job-worker.ts')
    const doomed = spawn(process.execPath, [file, JSON.stringify(task)], { stdio: 'ignore' })
    const sender = open()
    sender.handle(slowJob, async () => {})
    sender.start(false)
    await sender.enqueue(database.db, slowJob, { number: 1 })
    await poll(notes).toEqual(['begin 1/1'])
    doomed.kill('SIGKILL')
    const heir = createWorker({ address: database.application, workMs: 0 })
    closers.push(heir.jobs.stop, heir.relational.close)
    heir.jobs.start(true)
    await sender.enqueue(database.db, slowJob, { number: 2 })
    await poll(notes).toEqual(['begin 1/1', 'begin 2/1', 'end 2/1'])
    // A minute without a sign of life passes.
    await database.pool.query(
      `update jobs.job set heartbeat_on = now() - interval '61 s', started_on = now() - interval '61 s' where state = 'active'`,
    )
    await poll(notes).toEqual(['begin 1/1', 'begin 2/1', 'end 2/1', 'begin 1/2', 'end 1/2'])
    await poll(() => states(slowJob)).toEqual(
      Array(2).fill({ state: 'completed', retry_count: expect.any(Number) }),
    )
  })

  test('two run every job once between them', async () => {
    for (let i = 0; i < 2; i++) {
      const { jobs, relational } = createWorker({ address: database.application, workMs: 5 })
      closers.push(jobs.stop, relational.close)
      jobs.start(true)
      if (i === 0)
        for (let number = 0; number < 10; number++) await jobs.enqueue(database.db, slowJob, { number })
    }
    await poll(async () => (await notes()).length).toBe(20)
    expect((await notes()).filter((note) => note.startsWith('end')).toSorted()).toEqual(
      Array.from({ length: 10 }, (_, number) => `end ${number}/1`),
    )
  })

  test('a stop tells the jobs that run and waits for them', async () => {
    const { jobs, relational } = createWorker({ address: database.application, workMs: 600_000 })
    jobs.start(true)
    await jobs.enqueue(database.db, slowJob, { number: 1 })
    await poll(notes).toEqual(['begin 1/1'])
    await jobs.stop()
    expect(await notes()).toEqual(['begin 1/1', 'end 1/1'])
    expect(await states(slowJob)).toEqual([{ state: 'completed', retry_count: 0 }])
    await relational.close()
  })

  test('a stop before the start is done does not wait for the store', async () => {
    const { jobs, relational } = createWorker({
      address: { ...database.application, socketDirectory: '/nowhere' },
      workMs: 0,
    })
    jobs.start(true)
    await jobs.stop()
    await expect(jobs.enqueue(relational.db, slowJob, { number: 1 })).rejects.toThrow('the service stops')
    await relational.close()
  })
})
