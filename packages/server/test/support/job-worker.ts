import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { defineJob } from '../../src/platform/jobs/job.ts'
import { createJobs } from '../../src/platform/jobs/jobs.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { openRelational, type SocketAddress } from '../../src/platform/stores/relational.ts'

/** What a process that runs jobs is told, as JSON in its first argument. */
export interface JobWorkerTask {
  readonly address: SocketAddress
  /** How long a job takes it. */
  readonly workMs: number
}

/** Writes a row of `job_runs` when it begins and one when it ends. */
export const slowJob = defineJob({
  name: 'slow',
  schema: Type.Object({ number: Type.Integer() }),
  retry: { limit: 2, delaySeconds: 1, maxDelaySeconds: 1 },
})

export const everyMinute = defineJob({
  name: 'every-minute',
  schema: Type.Object({}),
  retry: { limit: 0, delaySeconds: 1, maxDelaySeconds: 1 },
  isExclusive: true,
  cron: '* * * * *',
})

export function createWorker({ address, workMs }: JobWorkerTask) {
  const relational = openRelational({ address, logger: silentLogger, connections: 4 })
  const jobs = createJobs({ relational, log: silentLogger, pollSeconds: 0.5, superviseSeconds: 1 })
  const note = (text: string) =>
    relational.pool.query('insert into public.job_runs (note) values ($1)', [text])
  jobs.handle(slowJob, async ({ number }, { attempt, signal }) => {
    await note(`begin ${number}/${attempt}`)
    await sleep(workMs, undefined, { signal }).catch(() => {})
    await note(`end ${number}/${attempt}`)
  })
  jobs.handle(everyMinute, async () => {
    await note('minute')
  })
  return { relational, jobs }
}

// A process of its own, so that a test can kill it.
if (process.argv[1] === import.meta.filename) {
  createWorker(JSON.parse(process.argv[2] ?? '{}') as JobWorkerTask).jobs.start(true)
}
