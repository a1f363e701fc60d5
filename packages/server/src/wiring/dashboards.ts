import type { FunnelQuery } from '@millrace/contract/resources/funnel.ts'
import type { PathsQuery } from '@millrace/contract/resources/paths.ts'
import type { RetentionQuery } from '@millrace/contract/resources/retention.ts'
import {
  funnelQuestion,
  pathsQuestion,
  retentionQuestion,
} from '../features/analytics/explorations/questions.ts'
import { createDashboardService } from '../features/dashboards/dashboard-service.ts'
import { createExperimentStore } from '../features/experiments/experiment-store.ts'
import type { Analytics } from './analytics.ts'
import type { Shared } from './shared.ts'

/** By the kind of the exploration; its body has the shape of that kind. */
const questions = {
  funnel: (body: unknown) => funnelQuestion(body as FunnelQuery),
  retention: (body: unknown) => retentionQuestion(body as RetentionQuery),
  paths: (body: unknown) => pathsQuestion(body as PathsQuery),
}

export function wireDashboards(shared: Shared, statistics: Analytics['statistics']) {
  return createDashboardService({
    ...shared,
    validateQuery: statistics.validate,
    validateExploration: (kind, body, reader) => statistics.validateQuestion(questions[kind](body), reader),
    listExperiments: createExperimentStore(shared.relational.db).known,
  })
}
