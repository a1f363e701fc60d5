import { deleteApplication, listApplications } from '@millrace/contract/operations/applications.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../../platform/http/route.ts'
import { callerOf } from '../request-caller.ts'
import type { ApplicationService } from './application-service.ts'

/** The applications that act for a user, for the authenticated scope. */
export function registerApplicationRoutes(scope: FastifyInstance, service: ApplicationService): void {
  route(scope, listApplications, ({ principal }) => service.list(principal))
  route(scope, deleteApplication, (request) => service.withdraw(callerOf(request), request.params.id))
}
