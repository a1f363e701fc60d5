import {
  archiveExperiment,
  createExperiment,
  decideExperiment,
  endExperiment,
  listExperiments,
  markExperimentRead,
  readAssignment,
  readExperiment,
  scheduleExperiment,
  startExperiment,
  updateExperiment,
} from '@millrace/contract/operations/experiments.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../platform/http/route.ts'
import type { AssignmentService } from './assignment-service.ts'
import type { ExperimentService } from './experiment-service.ts'

/** Operation 8 and the other operations on experiments, for the authenticated scope. */
export function registerExperimentRoutes(
  scope: FastifyInstance,
  {
    experiments,
    assignments,
  }: { readonly experiments: ExperimentService; readonly assignments: AssignmentService },
): void {
  route(scope, listExperiments, ({ principal, query }) => {
    const { page, perPage, ...filter } = query
    return experiments.list(principal, filter, { page, perPage })
  })
  route(scope, createExperiment, ({ caller, body }) => experiments.create(caller, body))
  route(scope, readExperiment, ({ principal, params }) => experiments.read(principal, params.id))
  route(scope, updateExperiment, ({ caller, params, body }) => experiments.update(caller, params.id, body))
  route(scope, scheduleExperiment, ({ caller, params, body }) =>
    experiments.schedule(caller, params.id, body.scheduledAt),
  )
  route(scope, startExperiment, ({ caller, params }) => experiments.start(caller, params.id))
  route(scope, markExperimentRead, ({ caller, params }) => experiments.markRead(caller, params.id))
  route(scope, endExperiment, ({ caller, params }) => experiments.end(caller, params.id))
  route(scope, decideExperiment, ({ caller, params, body }, leaving) =>
    experiments.decide(caller, params.id, body.routingVariantId, leaving()),
  )
  route(scope, archiveExperiment, ({ caller, params }) => experiments.archive(caller, params.id))
  route(scope, readAssignment, ({ principal, params, query }, leaving) =>
    assignments.read(principal, params.id, query.unit, leaving()),
  )
}
