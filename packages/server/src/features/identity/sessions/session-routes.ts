import { deleteApplication, listApplications } from '@millrace/contract/operations/applications.ts'
import { endOwnSession, listOwnSessions } from '@millrace/contract/operations/profile.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../platform/http/route.ts'
import type { ApplicationService } from './applications/application-service.ts'
import type { OwnSessionService } from './own-sessions/own-session-service.ts'

/** Where users are signed in and which applications act for them, for the authenticated scope. */
export function registerSessionRoutes(
  scope: FastifyInstance,
  sessions: OwnSessionService,
  applications: ApplicationService,
): void {
  route(scope, listOwnSessions, ({ principal }) => sessions.list(principal))
  route(scope, endOwnSession, ({ caller, params }) => sessions.end(caller, params.id))
  route(scope, listApplications, ({ principal }) => applications.list(principal))
  route(scope, deleteApplication, ({ caller, params }) => applications.withdraw(caller, params.id))
}
