import { createAnswerBodies } from '../features/analytics/answer-body.ts'
import { createCohortListStore } from '../features/analytics/cohorts/cohort-list-store.ts'
import { createCohortPeople } from '../features/analytics/cohorts/cohort-people.ts'
import { createCohortService } from '../features/analytics/cohorts/cohort-service.ts'
import { createCohortStore } from '../features/analytics/cohorts/cohort-store.ts'
import { createDefinitionReader } from '../features/analytics/definitions/definition-reader.ts'
import { createDefinitionStore } from '../features/analytics/definitions/definition-store.ts'
import { createExperimentMeasure } from '../features/analytics/explorations/experiments/experiment-measure.ts'
import { createMembershipReader } from '../features/analytics/persons/cohort-membership-store.ts'
import { createBindingsReader } from '../features/analytics/persons/person-bindings-store.ts'
import { createPersonEventsStore } from '../features/analytics/persons/person-events-store.ts'
import { createPersonService } from '../features/analytics/persons/person-service.ts'
import { createEventAliasService } from '../features/analytics/settings/event-alias-service.ts'
import { createStatisticsService } from '../features/analytics/statistics-service.ts'
import { createStatisticsStore } from '../features/analytics/statistics-store.ts'
import { monotonicClock } from '../platform/clock.ts'
import { normalizeId } from '../platform/ids.ts'
import type { Shared } from './shared.ts'
import type { WorkflowReaders } from './workflow-readers.ts'

export type Analytics = ReturnType<typeof wireAnalytics>

export function wireAnalytics(shared: Shared, { uses }: Pick<WorkflowReaders, 'uses'>) {
  const { relational, columnar, runStatement, metrics } = shared
  const cohorts = createCohortService({
    ...shared,
    requireUnused: (tx, reader, resourceId) => uses.requireUnused(tx, reader, { kind: 'cohort', resourceId }),
    lists: createCohortListStore({ columnar }),
    people: createCohortPeople(({ company, signal }, statement) =>
      runStatement({ ...company, signal }, statement),
    ),
  })
  const store = createStatisticsStore(shared)
  const resolvePersons = createBindingsReader({ columnar })
  return {
    analyticsSettings: shared.analyticsSettings,
    eventAliases: createEventAliasService(shared),
    answerBodies: createAnswerBodies(shared.spools),
    cohorts,
    statistics: createStatisticsService({
      ...shared,
      store,
      readCohorts: cohorts.readCohorts,
      definitions: createDefinitionReader(createDefinitionStore(relational.db)),
      limits: shared.queryLimits,
      onAnswered: (outcome, seconds) => metrics.querySeconds.observe({ outcome }, seconds),
    }),
    measureExperiment: createExperimentMeasure({
      ...shared,
      readVersion: store.readVersion,
      run: runStatement,
    }),
    persons: createPersonService({
      ...shared,
      events: createPersonEventsStore({ columnar, resolvePersons }),
      readMembership: createMembershipReader({ columnar, resolvePersons }),
      findCohort: (companyId, id) =>
        createCohortStore(relational.db).find({ companyId, id: normalizeId(id) }),
      steadyClock: monotonicClock,
    }),
  }
}
