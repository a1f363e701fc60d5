import { explorationQuestion } from '../features/analytics/explorations/questions.ts'
import { createDashboardService } from '../features/dashboards/dashboard-service.ts'
import { createExperimentStore } from '../features/experiments/experiment-store.ts'
import { createSavedExplorationService } from '../features/saved-queries/explorations/saved-exploration-service.ts'
import type { Analytics } from './analytics.ts'
import type { Shared } from './shared.ts'

export function wireDashboards(shared: Shared, statistics: Analytics['statistics']) {
  const checks = {
    validateQuery: statistics.validate,
    validateExploration: (
      ...[kind, body, reader]: [
        ...Parameters<typeof explorationQuestion>,
        Parameters<typeof statistics.validateQuestion>[1],
      ]
    ) => statistics.validateQuestion(explorationQuestion(kind, body), reader),
  }
  return {
    dashboards: createDashboardService({
      ...shared,
      ...checks,
      listExperiments: createExperimentStore(shared.relational.db).known,
    }),
    savedExplorations: createSavedExplorationService({ ...shared, ...checks }),
  }
}
