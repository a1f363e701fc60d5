import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/platform/logger.ts'
import { watchChannel } from '../../src/platform/stores/channel-watch.ts'
import { sql } from '../../src/platform/stores/postgres/drizzle.ts'
import { RelationalTimeout, RelationalUnavailable } from '../../src/platform/stores/relational.ts'
import { type BackgroundOptions, createBackground, type Work } from '../../src/platform/work/background.ts'
import { createPeriodicWork, type Periodic } from '../../src/platform/work/periodic-work.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
const closers: (() => unknown)[] = []

beforeAll(async () => {
  database = await createTestDatabase()
})

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
  await database.pool.query('delete from periodic_work')
})

afterAll(() => database.close())

/** A process that does these, until the end of the test. */
function start(works: readonly Work[], options: Partial<BackgroundOptions> = {}) {
  const background = createBackground({ relational: database, log: silentLogger, ...options })
  background.start(works)
  closers.push(background.stop)
  return background
}

const now = sql`now()`
const never = sql`null::timestamptz`

describe('work', () => {
  test.each([
    ['a store that is away', new RelationalUnavailable(new Error('connection refused')), 'warn'],
    ['a store that is slow', new RelationalTimeout(new Error('canceled')), 'warn'],
    ['a fault of ours', new TypeError('undefined is not a function'), 'error'],
  ])('%s is logged as what it is, with the name of the work', async (_what, failure, level) => {
    const logged: unknown[][] = []
    const note = (of: string) => (fields: object, message: string) => void logged.push([of, fields, message])
    const log = { debug() {}, warn: note('warn'), error: note('error') } as never
    start([{ name: 'runs', dueAt: now, run: () => Promise.reject(failure) }], { log, pollMs: 60_000 })
    const message =
      level === 'warn' ? 'runs wait: a store does not answer' : 'runs failed, and are tried again'
    await expect.poll(() => logged[0]).toEqual([level, { err: failure, work: 'runs' }, message])
  })

  test('what ends because the service stops is no failure', async () => {
    const logged: unknown[] = []
    const note = (fields: unknown) => void logged.push(fields)
    const begun = Promise.withResolvers<void>()
    const run = (stopping: AbortSignal) => {
      begun.resolve()
      return new Promise<boolean>((_, reject) =>
        stopping.addEventListener('abort', () => reject(stopping.reason)),
      )
    }
    const log = { debug() {}, warn: note, error: note } as never
    const background = start([{ name: 'runs', dueAt: now, run }], { log })
    await begun.promise
    await background.stop()
    expect(logged).toEqual([])
  })

  test('is looked for beside what runs, in no more lanes than it has, and by one at a time', async () => {
    const release = Promise.withResolvers<void>()
    let [left, taking, busy, maxTaking, maxBusy] = [5, 0, 0, 0, 0]
    const run: Work['run'] = async (_, onTaken) => {
      maxTaking = Math.max(maxTaking, ++taking)
      await database.pool.query('select')
      taking--
      if (left === 0) return false
      left--
      maxBusy = Math.max(maxBusy, ++busy)
      onTaken()
      await release.promise
      busy--
      return true
    }
    start([{ name: 'runs', dueAt: now, run, lanes: 3 }], { pollMs: 60_000 })
    await expect.poll(() => busy).toBe(3)
    release.resolve()
    await expect.poll(() => [left, busy]).toEqual([0, 0])
    expect([maxTaking, maxBusy]).toEqual([1, 3])
  })

  test('begins at a notice and at its time, however seldom it is looked for, and that of another fails', async () => {
    let isThere = false
    const done: string[] = []
    const at = new Date(Date.now() + 300).toISOString()
    const runs: Work = {
      name: 'runs',
      dueAt: now,
      async run() {
        if (isThere) done.push('notice')
        isThere = false
        return false
      },
    }
    const timed: Work = {
      name: 'timed',
      dueAt: sql`case when ${at}::timestamptz > now() - interval '1 minute' then ${at}::timestamptz end`,
      async run() {
        if (!done.includes('time')) done.push('time')
        return false
      },
    }
    const failing: Work = { name: 'failing', dueAt: now, run: () => Promise.reject(new Error('it fails')) }
    const idle: Work = { name: 'idle', dueAt: never, run: async () => void done.push('idle') === undefined }
    start([failing, runs, timed, idle], { pollMs: 60_000 })
    await expect.poll(() => done).toEqual(['time'])
    isThere = true
    await database.pool.query(`select pg_notify('millrace_work', '')`)
    await expect.poll(() => done).toEqual(['time', 'notice'])
  })
})

describe('periodic work', () => {
  const rows = async () =>
    (
      await database.pool.query<{ name: string; wait: number; turn: number }>(
        `select name, ceil(extract(epoch from due_at - now()))::int as wait, turn from periodic_work order by name`,
      )
    ).rows
  const makeDue = () => database.pool.query('update periodic_work set due_at = now()')
  const open = (periodics: readonly Periodic[]) => createPeriodicWork(database.db, silentLogger, periodics)
  const turn = (work: Work, stopping = new AbortController().signal) => work.run(stopping, () => {})

  test('is done once in each period, however many processes there are, and once after a stop', async () => {
    let done = 0
    const hourly = { name: 'hourly', everySeconds: 3_600, run: async () => done++ }
    const processes = Array.from({ length: 3 }, () => open([hourly]))
    for (let period = 1; period <= 3; period++) {
      await Promise.all(processes.map((each) => turn(each)))
      expect(done).toBe(period)
      const [row] = await rows()
      expect(row?.wait).toBeGreaterThan(0)
      expect(row?.wait).toBeLessThanOrEqual(3_600)
      // Some hours of which all but the last are missed.
      await database.pool.query(`update periodic_work set due_at = now() - interval '5 hours'`)
    }
  })

  test('begins at its place in the period', async () => {
    const daily = { name: 'daily', everySeconds: 86_400, atSeconds: 420, run: async () => {} }
    await turn(open([daily]))
    const { rows: found } = await database.pool.query(
      `select to_char(due_at at time zone 'UTC', 'HH24:MI:SS') as at, due_at > now() as later from periodic_work`,
    )
    expect(found).toEqual([{ at: '00:07:00', later: true }])
  })

  test('is done by another process when the one that did it has ended, and then no longer by the first', async () => {
    const hold = Promise.withResolvers<void>()
    const done: string[] = []
    const of = (process: string, wait?: Promise<void>) =>
      open([
        {
          name: 'hourly',
          everySeconds: 3_600,
          async run() {
            await wait
            done.push(process)
          },
        },
      ])
    const slow = turn(of('slow', hold.promise))
    await expect.poll(async () => (await rows()).map(({ turn }) => turn)).toEqual([1])
    expect(await turn(of('other'))).toBe(false)
    await makeDue()
    expect(await turn(of('heir'))).toBe(true)
    const after = await rows()
    hold.resolve()
    await slow
    expect(done).toEqual(['heir', 'slow'])
    expect(await rows()).toEqual(after)
  })

  test('that fails is done again after a minute, and holds up no other', async () => {
    let done = 0
    const failing = { name: 'failing', everySeconds: 3_600, run: () => Promise.reject(new Error('it fails')) }
    const work = open([failing, { name: 'other', everySeconds: 3_600, run: async () => done++ }])
    start([work])
    await expect.poll(() => done).toBe(1)
    await expect.poll(async () => (await rows())[0]).toMatchObject({ name: 'failing', turn: 1 })
    await expect.poll(async () => (await rows())[0]?.wait).toBeGreaterThan(50)
    await expect.poll(async () => (await rows())[0]?.wait).toBeLessThanOrEqual(60)
  })

  test('that a stop interrupts is given back', async () => {
    const stopping = new AbortController()
    const run = async (signal: AbortSignal) => {
      stopping.abort(new Error('the service stops'))
      signal.throwIfAborted()
    }
    await turn(open([{ name: 'hourly', everySeconds: 3_600, run }]), stopping.signal)
    expect((await rows())[0]?.wait).toBeLessThanOrEqual(0)
  })
})

describe('channels', () => {
  const listening = async () =>
    (
      await database.pool.query<{ pid: number }>(
        `select pid from pg_stat_activity where query like 'listen %' and datname = current_database()`,
      )
    ).rows.map(({ pid }) => pid)

  test('share one connection, which is replaced when it is lost and given back with the last', async () => {
    const notices: string[] = []
    const watch = (channel: string) =>
      watchChannel({
        pool: database.pool,
        channel,
        onNotice: (text) => void notices.push(`${channel} ${text ?? 'all'}`),
        onListening: (is) => void notices.push(`${channel} ${is ? 'begins' : 'ends'}`),
        log: silentLogger,
        heartbeatMs: 20,
      })
    const first = watch('one')
    await expect.poll(() => notices.splice(0)).toEqual(['one begins', 'one all'])
    const second = watch('two')
    await expect.poll(() => notices.splice(0)).toEqual(['two begins', 'two all'])
    const [pid, ...others] = await listening()
    expect(others).toEqual([])
    await database.pool.query(`select pg_notify('two', 'x')`)
    await expect.poll(() => notices.splice(0)).toEqual(['two x'])
    await database.pool.query('select pg_terminate_backend($1)', [pid])
    await expect.poll(() => notices.length).toBe(6)
    expect(notices.splice(0)).toEqual([
      'one ends',
      'two ends',
      'one begins',
      'one all',
      'two begins',
      'two all',
    ])
    await first.close()
    await database.pool.query(`select pg_notify('one', 'x'), pg_notify('two', 'y')`)
    await expect.poll(() => notices.splice(0)).toEqual(['two y'])
    await second.close()
    await expect.poll(listening).toEqual([])
  })
})
