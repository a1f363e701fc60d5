import type { RecordAudit } from '../../platform/audit.ts'
import type { Logger } from '../../platform/logger.ts'
import type { EnqueueMail } from '../../platform/mail/mail-queue.ts'
import { createPauseSchedule } from './runs/pause-schedule.ts'
import { createRunMessages, type RunMessagesDependencies } from './runs/run-messages.ts'
import { createRunPlanner } from './runs/run-planner.ts'
import { createRunStore } from './runs/run-store.ts'
import { createRunWorker, type RunWorkerDependencies } from './runs/run-worker.ts'
import { createSavedQueryService, type SavedQueryServiceDependencies } from './saved-query-service.ts'

export interface SavedQueriesDependencies
  extends SavedQueryServiceDependencies,
    Pick<RunWorkerDependencies, 'answer' | 'holdStorage' | 'rowsRoom'>,
    Pick<RunMessagesDependencies, 'sendMessage'> {
  readonly recordAudit: RecordAudit
  readonly enqueueMail: EnqueueMail
  readonly publicUrl: () => string
  readonly log: Logger
}

/** Saved queries with their schedules and runs, wired together. */
export function createSavedQueries(dependencies: SavedQueriesDependencies) {
  const parts = { ...dependencies, pause: createPauseSchedule(dependencies) }
  const planner = createRunPlanner(parts)
  const worker = createRunWorker(parts)
  const messages = createRunMessages(parts)
  const { findDelay, sweep } = createRunStore(dependencies.relational.db)
  return {
    service: createSavedQueryService(dependencies),
    loops: { planner, worker, messages, works: [planner, worker, messages], findDelay, sweep },
  }
}

export type SavedQueries = ReturnType<typeof createSavedQueries>
