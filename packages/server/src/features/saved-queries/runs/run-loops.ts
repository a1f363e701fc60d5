import { createWorkLoops } from '../../../platform/jobs/work-loops.ts'
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
  readonly log: Pick<Logger, 'warn' | 'error'>
}

const planEveryMs = 5_000
const lookEveryMs = 1_000
/** Runs at once in one process; a query computes on all cores already. */
const lanes = 3

/**
 * What a worker process does for schedules. Runs do not stand on `platform/jobs`, which takes one job of a kind at each
 * poll and ticks by the minute; their ledger is a queue already, with what it needs to hand out each run fairly.
 */
export function createRunLoops({ planner, worker, messages, store, log }: RunLoopsDependencies) {
  const loops = createWorkLoops(
    [
      { name: 'schedules', run: planner.plan, everyMs: planEveryMs },
      { name: 'messages of runs', run: messages.sendOne, everyMs: lookEveryMs },
      { name: 'runs of saved queries', run: worker.runOne, everyMs: lookEveryMs, lanes },
    ],
    log,
  )

  return {
    planner,
    worker,
    messages,
    /** Handled by the job queue. */
    sweepJob: savedQuerySweep,
    findDelay: store.findDelay,
    sweep: (signal?: AbortSignal) => sweepRuns(store, signal),
    ...loops,
  }
}

export type RunLoops = ReturnType<typeof createRunLoops>
