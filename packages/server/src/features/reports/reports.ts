import type { RecordAudit } from '../../platform/audit.ts'
import type { DiskRoom } from '../../platform/files/disk-reserve.ts'
import { createWorkLoops } from '../../platform/jobs/work-loops.ts'
import type { Logger } from '../../platform/logger.ts'
import type { EnqueueMail } from '../../platform/mail/mail-queue.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import type { AnswerTogether } from '../statistics/shared-answers.ts'
import { createAutomaticOutcome } from './automatic/automatic-outcome.ts'
import { createPauseAutomatic } from './automatic/pause-automatic.ts'
import { createReportPlanner } from './automatic/report-planner.ts'
import {
  createReportSettingsService,
  type ReportSettingsService,
} from './automatic/report-settings-service.ts'
import { createEventReach } from './evidence/event-reach.ts'
import { createEvidenceRunner, type RunQuery } from './evidence/evidence-runner.ts'
import { inTurns } from './evidence/in-turns.ts'
import { createGenerationStore } from './generations/generation-store.ts'
import { createGenerationWorker } from './generations/generation-worker.ts'
import type { Readers } from './readers.ts'
import { createReportService, type ReportService } from './report-service.ts'
import { createReportWriting, type ReportWriting, type ReportWritingDependencies } from './report-writing.ts'

export interface ReportsDependencies extends Readers, ReportWritingDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly readSettings: (companyId: string) => Promise<{ readonly timezone: string }>
  readonly answerTogether: AnswerTogether
  /** What stands in the place of the generator and the reading of questions. */
  readonly writing?: ((runQuery: RunQuery) => ReportWriting) | undefined
  /** Whether many events arrive at this moment. */
  readonly isIngesting: () => boolean
  readonly rowsRoom: DiskRoom
  readonly recordAudit: RecordAudit
  readonly enqueueMail: EnqueueMail
  readonly publicUrl: () => string
  readonly log: Logger
}

export interface Reports {
  readonly service: ReportService
  readonly settings: ReportSettingsService
  readonly loops: ReturnType<typeof createReportLoops>
}

const planEveryMs = 5_000
const lookEveryMs = 1_000
/** Generations at once in one process. */
const lanes = 2

interface LoopsDependencies {
  readonly planner: ReturnType<typeof createReportPlanner>
  readonly worker: ReturnType<typeof createGenerationWorker>
  readonly findDelay: () => Promise<number>
  readonly log: Logger
}

/** What a worker process does for reports. */
function createReportLoops({ planner, worker, findDelay, log }: LoopsDependencies) {
  const loops = createWorkLoops(
    [
      { name: 'automatic reports', run: planner.plan, everyMs: planEveryMs },
      { name: 'generations of reports', run: worker.runOne, everyMs: lookEveryMs, lanes },
    ],
    log,
  )
  return { planner, worker, findDelay, ...loops }
}

/** Reports with their generations and automatic ones, wired together. */
export function createReports(dependencies: ReportsDependencies): Reports {
  const { relational, log } = dependencies
  const runQuery = createEvidenceRunner(dependencies)
  const runForReport = inTurns(runQuery, dependencies.isIngesting)
  const writing = dependencies.writing?.(runForReport) ?? createReportWriting(dependencies, runForReport)
  const parts = { ...dependencies, ...writing, runQuery }
  const pause = createPauseAutomatic(dependencies)
  return {
    service: createReportService(parts),
    settings: createReportSettingsService(dependencies),
    loops: createReportLoops({
      planner: createReportPlanner({ ...dependencies, pause }),
      worker: createGenerationWorker({
        ...parts,
        automatic: createAutomaticOutcome({ ...dependencies, pause }),
        hasEventsBefore: createEventReach(runForReport),
      }),
      findDelay: createGenerationStore(relational.db).findDelay,
      log,
    }),
  }
}
