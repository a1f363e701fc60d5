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
    const { status, includeArchived, ...page } = query
    return experiments.list(principal, { status, includeArchived }, page)
  })
  route(scope, createExperiment, ({ principal, ip, body }) =>
    experiments.create({ principal, address: ip }, body),
  )
  route(scope, readExperiment, ({ principal, params }) => experiments.read(principal, params.id))
  route(scope, updateExperiment, ({ principal, ip, params, body }) =>
    experiments.update({ principal, address: ip }, params.id, body),
  )
  route(scope, scheduleExperiment, ({ principal, ip, params, body }) =>
    experiments.schedule({ principal, address: ip }, params.id, body.scheduledAt),
  )
  route(scope, startExperiment, ({ principal, ip, params }) =>
    experiments.start({ principal, address: ip }, params.id),
  )
  route(scope, markExperimentRead, ({ principal, ip, params }) =>
    experiments.markRead({ principal, address: ip }, params.id),
  )
  route(scope, endExperiment, ({ principal, ip, params }) =>
    experiments.end({ principal, address: ip }, params.id),
  )
  route(scope, decideExperiment, ({ principal, ip, params, body }, leaving) =>
    experiments.decide({ principal, address: ip }, params.id, body.routingVariantId, leaving()),
  )
  route(scope, archiveExperiment, ({ principal, ip, params }) =>
    experiments.archive({ principal, address: ip }, params.id),
  )
  route(scope, readAssignment, ({ principal, params, query }, leaving) =>
    assignments.read(principal, params.id, query.unit, leaving()),
  )
}
