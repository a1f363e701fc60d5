import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../../platform/logger.ts'
import type { createRunMessages } from './run-messages.ts'
import type { createRunPlanner } from './run-planner.ts'
import type { createRunStore } from './run-store.ts'
import { savedQuerySweep, sweepRuns } from './run-sweep.ts'
import type { createRunWorker } from './run-worker.ts'

export interface RunLoopsDependencies {
  readonly planner: ReturnType<typeof createRunPlanner>
  readonly worker: ReturnType<typeof createRunWorker>
  readonly messages: ReturnType<typeof createRunMessages>
  readonly store: Pick<ReturnType<typeof createRunStore>, 'sweepResults' | 'sweepRuns' | 'findDelay'>
  readonly log: Pick<Logger, 'warn'>
}

const planEveryMs = 5_000
const lookEveryMs = 1_000
/** While the store does not answer it is asked less often. */
const outageMs = 5_000
const stopWithinMs = 10_000
/** Runs at once in one process; a query computes on all cores already. */
const lanes = 3

/**
 * What a worker process does for schedules. Runs do not stand on `platform/jobs`, which takes one job of a kind at each
 * poll and ticks by the minute; their ledger is a queue already, with what it needs to hand out each run fairly.
 */
export function createRunLoops({ planner, worker, messages, store, log }: RunLoopsDependencies) {
  const stopping = new AbortController()
  let running: Promise<unknown> | undefined

  /** Works until there is nothing to do, then looks again after a while. */
  async function repeat(work: () => Promise<boolean>, everyMs: number): Promise<void> {
    while (!stopping.signal.aborted) {
      let pause = 0
      try {
        if (!(await work())) pause = everyMs
      } catch (error) {
        log.warn({ err: error }, 'schedules wait: the relational store does not answer')
        pause = outageMs
      }
      if (pause > 0) await sleep(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }

  return {
    planner,
    worker,
    messages,
    /** Handled by the job queue. */
    sweepJob: savedQuerySweep,
    findDelay: store.findDelay,
    sweep: (signal?: AbortSignal) => sweepRuns(store, signal),
    start(): void {
      running ??= Promise.all([
        repeat(planner.plan, planEveryMs),
        repeat(messages.sendOne, lookEveryMs),
        ...Array.from({ length: lanes }, () => repeat(() => worker.runOne(stopping.signal), lookEveryMs)),
      ])
    },
    /** Gives back what runs, and waits for it a while. */
    async stop(): Promise<void> {
      stopping.abort(new Error('the service stops'))
      const late = new AbortController()
      await Promise.race([running, sleep(stopWithinMs, undefined, { signal: late.signal }).catch(() => {})])
      late.abort()
    },
  }
}

export type RunLoops = ReturnType<typeof createRunLoops>
