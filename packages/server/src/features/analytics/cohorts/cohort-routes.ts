import {
  countCohortRule,
  createCohort,
  deleteCohort,
  listCohortMembers,
  listCohorts,
  readCohort,
  readCohortSize,
  replaceCohortMembers,
  updateCohort,
} from '@millrace/contract/operations/cohorts.ts'
import { cohortLimits } from '@millrace/contract/resources/cohort.ts'
import type { FastifyInstance } from 'fastify'
import { expectedBy } from '../../../platform/http/entity-tag.ts'
import { route } from '../../../platform/http/route.ts'
import type { CohortService } from './cohort-service.ts'

/** Cohorts, for the authenticated scope. */
export function registerCohortRoutes(scope: FastifyInstance, service: CohortService): void {
  route(scope, listCohorts, ({ principal, query }) => service.list(principal, query))
  route(scope, createCohort, ({ caller, body }) => service.create(caller, body))
  route(scope, readCohort, ({ principal, params }) => service.read(principal, params.id))
  route(scope, updateCohort, ({ caller, params, headers, body }) =>
    service.update(caller, params.id, body, expectedBy(headers)),
  )
  route(scope, deleteCohort, ({ caller, params, headers }) =>
    service.delete(caller, params.id, expectedBy(headers)),
  )
  route(scope, readCohortSize, ({ principal, params }, leaving) =>
    service.size(principal, params.id, leaving()),
  )
  route(scope, countCohortRule, ({ principal, body }, leaving) =>
    service.sizeOf(principal, body.rule, leaving()),
  )
  route(scope, listCohortMembers, ({ principal, params, query }, leaving) =>
    service.members(principal, params.id, query, leaving()),
  )
  route(
    scope,
    replaceCohortMembers,
    ({ caller, params, headers, body }) =>
      service.replaceList(caller, params.id, body.persons, expectedBy(headers)),
    { bodyLimit: cohortLimits.bodyBytes },
  )
}
