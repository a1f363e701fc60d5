import { createWorkLoops } from '../../../platform/jobs/work-loops.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { createImportPlanner } from './import-planner.ts'
import { type createImportSweep, datasourceSweep } from './import-sweep.ts'
import { type createImportWorker, perCompany } from './import-worker.ts'

export interface ImportLoopsDependencies {
  readonly planner: ReturnType<typeof createImportPlanner>
  readonly worker: ReturnType<typeof createImportWorker>
  readonly sweep: ReturnType<typeof createImportSweep>
  readonly findDelay: () => Promise<number>
  readonly prepare: () => Promise<void>
  readonly log: Pick<Logger, 'warn' | 'error'>
}

const planEveryMs = 5_000
const lookEveryMs = 1_000
const dropEveryMs = 30_000
/**
 * Imports at once in one process: each has a process that parses and a connection that copies. One more than a company
 * may take, so that the slow addresses of one do not make the others wait.
 */
const lanes = perCompany + 1

/** What a worker process does for datasources. */
export function createImportLoops({
  planner,
  worker,
  sweep,
  findDelay,
  prepare,
  log,
}: ImportLoopsDependencies) {
  const loops = createWorkLoops(
    [
      { name: 'plans of imports', run: planner.plan, everyMs: planEveryMs },
      { name: 'imports of datasources', run: worker.runOne, everyMs: lookEveryMs, lanes },
      { name: 'removals of old rows', run: sweep.dropRows, everyMs: dropEveryMs },
    ],
    log,
  )
  return {
    planner,
    worker,
    /** Handled by the job queue. */
    sweepJob: datasourceSweep,
    sweep: sweep.sweep,
    dropRows: sweep.dropRows,
    findDelay,
    /** Before the loops: makes directories, and removes files of a process that was killed. */
    prepare,
    ...loops,
  }
}

export type ImportLoops = ReturnType<typeof createImportLoops>
