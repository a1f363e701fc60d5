import type { DiskRoom } from '../../platform/files/disk-reserve.ts'
import type { ServiceContext } from '../../platform/service-context.ts'
import type { AnswerTogether } from '../analytics/shared-answers.ts'
import { createAutomaticOutcome } from './automatic/automatic-outcome.ts'
import { createPauseAutomatic } from './automatic/pause-automatic.ts'
import { createReportPlanner } from './automatic/report-planner.ts'
import { createReportSettingsService } from './automatic/report-settings-service.ts'
import { createEventReach } from './evidence/event-reach.ts'
import { createEvidenceRunner, type RunQuery } from './evidence/evidence-runner.ts'
import { serialWhileIngesting } from './evidence/serial-queries.ts'
import { createGenerationStore } from './generations/generation-store.ts'
import { createGenerationWorker } from './generations/generation-worker.ts'
import type { Readers } from './readers.ts'
import { createReportService } from './report-service.ts'
import { createReportWriting, type ReportWriting, type ReportWritingDependencies } from './report-writing.ts'

export interface ReportsDependencies
  extends Readers,
    ReportWritingDependencies,
    Pick<ServiceContext, 'relational' | 'recordAudit' | 'enqueueMail' | 'publicUrl' | 'log'> {
  readonly readSettings: (companyId: string) => Promise<{ readonly timezone: string }>
  readonly answerTogether: AnswerTogether
  /** What stands in the place of the generator and the reading of questions. */
  readonly writing?: ((runQuery: RunQuery) => ReportWriting) | undefined
  /** Whether many events arrive at this moment. */
  readonly isIngesting: () => boolean
  readonly rowsRoom: DiskRoom
}

/** Reports with their generations and automatic ones, wired together. */
export function createReports(dependencies: ReportsDependencies) {
  const runQuery = createEvidenceRunner(dependencies)
  const runForReport = serialWhileIngesting(runQuery, dependencies.isIngesting)
  const writing = dependencies.writing?.(runForReport) ?? createReportWriting(dependencies, runForReport)
  const parts = { ...dependencies, ...writing, runQuery }
  const pause = createPauseAutomatic(dependencies)
  const planner = createReportPlanner({ ...dependencies, pause })
  const worker = createGenerationWorker({
    ...parts,
    automatic: createAutomaticOutcome({ ...dependencies, pause }),
    hasEventsBefore: createEventReach(runForReport),
  })
  const { findDelay } = createGenerationStore(dependencies.relational.db)
  return {
    service: createReportService(parts),
    settings: createReportSettingsService(dependencies),
    loops: { planner, worker, works: [planner, worker], findDelay },
  }
}

export type Reports = ReturnType<typeof createReports>
