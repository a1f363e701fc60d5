import { setTimeout as sleep } from 'node:timers/promises'
import type { PgBoss, WorkHandler } from 'pg-boss'
import type { Static, TObject } from 'typebox'
import { Value } from 'typebox/value'
import { monotonicClock } from '../clock.ts'
import { createFixedWindow } from '../limits/window.ts'
import type { Logger } from '../logger.ts'
import { sql } from '../stores/postgres/drizzle.ts'
import { type Queries, type Relational, RelationalUnavailable } from '../stores/relational.ts'
import type { Job, JobRun, RunLedger } from './job.ts'
import { logWorkFailure } from './work-failure.ts'

export type JobHandler<Schema extends TObject = TObject> = (
  data: Static<Schema>,
  run: JobRun,
) => Promise<void>

export interface JobSchedule<Schema extends TObject> {
  /** Tells schedules of one job apart. */
  readonly key: string
  /** Five fields. */
  readonly cron: string
  /** IANA name. */
  readonly timezone: string
  readonly data: Static<Schema>
}

export interface Jobs {
  /** Says what runs a job; before `start`, in every process that runs or enqueues it. */
  handle<Schema extends TObject>(job: Job<Schema>, handler: JobHandler<Schema>): void
  /**
   * Enqueues a job in the transaction of what it is about. It runs at least once, on one process at a time: an attempt
   * that fails, or whose process ends, is followed by another until `retry.limit`.
   * @returns its id; undefined when the job is exclusive and one waits or runs already
   * @throws {RelationalUnavailable} when the queue has not started within seconds, so that the transaction ends
   */
  enqueue<Schema extends TObject>(
    tx: Queries,
    job: Job<Schema>,
    data: Static<Schema>,
    startAfter?: Date,
  ): Promise<string | undefined>
  /** Replaces the schedule with this key. */
  schedule<Schema extends TObject>(
    tx: Queries,
    job: Job<Schema>,
    schedule: JobSchedule<Schema>,
  ): Promise<void>
  unschedule(tx: Queries, job: Job, key: string): Promise<void>
  /** Begins in the background, so that the service does not wait for it. @param works whether jobs run here too */
  start(works: boolean): void
  /** Looks for jobs at once instead of at the next poll. */
  wake(): Promise<void>
  /** Takes no further job, aborts the signal of those that run, and waits for them; what takes too long runs again. */
  stop(): Promise<void>
}

export interface JobsOptions {
  readonly relational: Pick<Relational, 'pool'>
  readonly log: Pick<Logger, 'warn' | 'error'>
  readonly ledger?: RunLedger
  /** How often each kind of job is looked for. */
  readonly pollSeconds?: number
  /** How often jobs whose process has ended, and schedules that are due, are looked for; default 60, schedules 30. */
  readonly superviseSeconds?: number
  /** Max milliseconds that a caller waits for the start; default 2,000. */
  readonly startWithinMs?: number
}

/** Schema of the database that holds pg-boss's tables; migrations install it. */
const schema = 'jobs'
/** A process without a heartbeat for so long has ended; its jobs run again. */
const heartbeatSeconds = 60
const startAgainMs = 5_000
const stopWithinMs = 10_000

/** A queue of jobs in PostgreSQL with schedules, on pg-boss. Nothing here creates tables. */
export function createJobs(options: JobsOptions): Jobs {
  const { relational, log, ledger, pollSeconds = 5, superviseSeconds = 60, startWithinMs = 2_000 } = options
  const handlers = new Map<string, { job: Job; handler: JobHandler }>()
  const workers: string[] = []
  const stopping = new AbortController()
  const started = Promise.withResolvers<PgBoss>()
  // Callers that enqueue see the failure; without any it is no unhandled rejection.
  started.promise.catch(() => {})
  let starting: Promise<void> | undefined
  const failures = createFixedWindow(monotonicClock, 60_000)

  function logFailure(err: unknown): void {
    if (failures.take(err instanceof Error ? err.name : '', 1) === 0) logWorkFailure(log, 'jobs', err)
  }

  /** The queue once it has started, for which a caller with an open transaction must not wait long. */
  async function ready(): Promise<PgBoss> {
    if (starting === undefined) throw new Error('jobs are enqueued before start')
    const answered = new AbortController()
    const late = sleep(startWithinMs, undefined, { signal: answered.signal }).then(
      () => {
        throw new RelationalUnavailable(new Error(`jobs have not started within ${startWithinMs} ms`))
      },
      // The start answered first.
      () => started.promise,
    )
    try {
      return await Promise.race([started.promise, late])
    } finally {
      answered.abort()
    }
  }

  async function runOne(job: Job, handler: JobHandler, data: unknown, run: JobRun): Promise<void> {
    try {
      await ledger?.onStart(run)
      await handler(Value.Decode(job.schema, data), run)
    } catch (error) {
      const { id, attempt } = run
      const fields = { job: job.name, id, attempt, err: error }
      if (attempt > job.retry.limit) log.error(fields, 'a job is given up')
      else log.warn(fields, 'a job failed and is tried again later')
      await ledger
        ?.onEnd(run, error)
        .catch((err: unknown) => log.warn({ ...fields, err }, 'the failure of a job is not in the ledger'))
      throw error
    }
    await ledger?.onEnd(run)
  }

  const work =
    ({ job, handler }: { job: Job; handler: JobHandler }): WorkHandler<object> =>
    async (taken) => {
      for (const { id, data, retryCount, signal } of taken) {
        const run = {
          id,
          job: job.name,
          attempt: retryCount + 1,
          signal: AbortSignal.any([signal, stopping.signal]),
        }
        await runOne(job, handler, data, run)
      }
    }

  /** Creates the queue of a job, or updates its options. */
  async function declare(
    boss: PgBoss,
    { name, retry, expireSeconds = 900, isExclusive, cron }: Job,
  ): Promise<void> {
    const queueOptions = {
      retryLimit: retry.limit,
      ...('delaySeconds' in retry && {
        retryDelay: retry.delaySeconds,
        retryDelayMax: retry.maxDelaySeconds,
        retryBackoff: true,
      }),
      expireInSeconds: expireSeconds,
      heartbeatSeconds,
    }
    await boss.createQueue(name, { ...queueOptions, policy: isExclusive ? 'exclusive' : 'standard' })
    await boss.updateQueue(name, queueOptions)
    if (cron !== undefined) await boss.schedule(name, cron, {}, { missed: 'once' })
  }

  async function open(works: boolean): Promise<PgBoss> {
    // Loading it takes a tenth of a second, which the start does not wait for.
    const { PgBoss: Boss } = await import('pg-boss')
    const boss = new Boss({
      db: { executeSql: (text, values) => relational.pool.query(text, values) },
      schema,
      migrate: false,
      reindex: false,
      monitorVacuum: false,
      schedule: works,
      supervise: works,
      superviseIntervalSeconds: superviseSeconds,
      monitorIntervalSeconds: superviseSeconds,
      cronMonitorIntervalSeconds: Math.min(30, superviseSeconds),
      cronWorkerIntervalSeconds: Math.max(1, pollSeconds),
    })
    boss.on('error', logFailure)
    await boss.start()
    try {
      for (const { job } of handlers.values()) await declare(boss, job)
      if (works)
        for (const handled of handlers.values()) {
          const { name } = handled.job
          workers.push(await boss.work(name, { pollingIntervalSeconds: pollSeconds }, work(handled)))
        }
      return boss
    } catch (error) {
      await boss.stop({ graceful: false })
      throw error
    }
  }

  async function begin(works: boolean): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        started.resolve(await open(works))
        return
      } catch (error) {
        logFailure(error)
        await sleep(startAgainMs, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
    started.reject(new Error('the service stops'))
  }

  return {
    handle(job, handler) {
      handlers.set(job.name, { job, handler: handler as JobHandler })
    },

    async enqueue(tx, job, data, startAfter) {
      Value.Assert(job.schema, data)
      const boss = await ready()
      const { fromDrizzle } = await import('pg-boss')
      const db = fromDrizzle(tx, sql)
      return (await boss.send(job.name, data, { db, ...(startAfter && { startAfter }) })) ?? undefined
    },

    async schedule(tx, job, { key, cron, timezone, data }) {
      Value.Assert(job.schema, data)
      // Throws for an invalid expression or zone. The library's own call takes no transaction.
      ;(await ready()).previewSchedule(cron, { tz: timezone, count: 1 })
      await tx.execute(
        sql`insert into jobs.schedule (name, key, cron, timezone, data, options)
          values (${job.name}, ${key}, ${cron}, ${timezone}, ${JSON.stringify(data)}::jsonb, '{"missed":"once"}')
          on conflict (name, key) do update set
            cron = excluded.cron, timezone = excluded.timezone, data = excluded.data, updated_on = now()`,
      )
    },

    async unschedule(tx, job, key) {
      await tx.execute(sql`delete from jobs.schedule where name = ${job.name} and key = ${key}`)
    },

    start(works) {
      starting ??= begin(works)
    },

    async wake() {
      const boss = await ready()
      for (const worker of workers) boss.notifyWorker(worker)
    },

    async stop() {
      stopping.abort()
      await starting
      if (starting === undefined) return
      const boss = await started.promise.catch(() => undefined)
      await boss?.stop({ graceful: true, timeout: stopWithinMs })
    },
  }
}
