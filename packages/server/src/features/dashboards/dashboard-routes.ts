import {
  createDashboard,
  deleteDashboard,
  duplicateDashboard,
  listDashboards,
  readDashboard,
  replaceDashboard,
} from '@millrace/contract/operations/dashboards.ts'
import type { FastifyInstance } from 'fastify'
import { expectedBy } from '../../platform/http/entity-tag.ts'
import { route } from '../../platform/http/route.ts'
import type { DashboardService } from './dashboard-service.ts'

/** Dashboards, for the authenticated scope. */
export function registerDashboardRoutes(scope: FastifyInstance, service: DashboardService): void {
  route(scope, listDashboards, ({ principal, query }) => service.list(principal, query, query))
  route(scope, createDashboard, ({ caller, body }) => service.create(caller, body))
  route(scope, readDashboard, ({ principal, params }) => service.read(principal, params.id))
  route(scope, replaceDashboard, ({ caller, params, headers, body }) =>
    service.replace(caller, params.id, body, expectedBy(headers)),
  )
  route(scope, deleteDashboard, ({ caller, params, headers }) =>
    service.delete(caller, params.id, expectedBy(headers)),
  )
  route(scope, duplicateDashboard, ({ caller, params }) => service.duplicate(caller, params.id))
}
