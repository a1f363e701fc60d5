import {
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
  route(scope, createCohort, ({ principal, ip, body }) => service.create({ principal, address: ip }, body))
  route(scope, readCohort, ({ principal, params }) => service.read(principal, params.id))
  route(scope, updateCohort, ({ principal, ip, params, headers, body }) =>
    service.update({ principal, address: ip }, params.id, body, expectedBy(headers)),
  )
  route(scope, deleteCohort, ({ principal, ip, params, headers }) =>
    service.delete({ principal, address: ip }, params.id, expectedBy(headers)),
  )
  route(scope, readCohortSize, ({ principal, params }, leaving) =>
    service.size(principal, params.id, leaving()),
  )
  route(scope, listCohortMembers, ({ principal, params, query }, leaving) =>
    service.members(principal, params.id, query, leaving()),
  )
  route(
    scope,
    replaceCohortMembers,
    ({ principal, ip, params, headers, body }) =>
      service.replaceList({ principal, address: ip }, params.id, body.persons, expectedBy(headers)),
    { bodyLimit: cohortLimits.bodyBytes },
  )
}
