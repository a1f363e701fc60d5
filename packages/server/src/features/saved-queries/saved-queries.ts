import type { RecordAudit } from '../../platform/audit.ts'
import type { Logger } from '../../platform/logger.ts'
import type { EnqueueMail } from '../../platform/mail/mail-queue.ts'
import { createPauseSchedule } from './runs/pause-schedule.ts'
import { createRunLoops, type RunLoops } from './runs/run-loops.ts'
import { createRunMessages, type RunMessagesDependencies } from './runs/run-messages.ts'
import { createRunPlanner } from './runs/run-planner.ts'
import { createRunStore } from './runs/run-store.ts'
import { createRunWorker, type RunWorkerDependencies } from './runs/run-worker.ts'
import {
  createSavedQueryService,
  type SavedQueryService,
  type SavedQueryServiceDependencies,
} from './saved-query-service.ts'

export interface SavedQueriesDependencies
  extends SavedQueryServiceDependencies,
    Pick<RunWorkerDependencies, 'answer' | 'holdStorage' | 'rowsRoom'>,
    Pick<RunMessagesDependencies, 'sendMessage'> {
  readonly recordAudit: RecordAudit
  readonly enqueueMail: EnqueueMail
  readonly publicUrl: () => string
  readonly log: Logger
}

export interface SavedQueries {
  readonly service: SavedQueryService
  readonly loops: RunLoops
}

/** Saved queries with their schedules and runs, wired together. */
export function createSavedQueries(dependencies: SavedQueriesDependencies): SavedQueries {
  const { relational, log } = dependencies
  const parts = { ...dependencies, pause: createPauseSchedule(dependencies) }
  return {
    service: createSavedQueryService(dependencies),
    loops: createRunLoops({
      planner: createRunPlanner(parts),
      worker: createRunWorker(parts),
      messages: createRunMessages(parts),
      store: createRunStore(relational.db),
      log,
    }),
  }
}
