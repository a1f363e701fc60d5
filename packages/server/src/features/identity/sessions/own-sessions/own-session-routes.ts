import { endOwnSession, listOwnSessions } from '@millrace/contract/operations/profile.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../../platform/http/route.ts'
import { callerOf } from '../request-caller.ts'
import type { OwnSessionService } from './own-session-service.ts'

/** A user's own sessions, for the authenticated scope. */
export function registerOwnSessionRoutes(scope: FastifyInstance, service: OwnSessionService): void {
  route(scope, listOwnSessions, ({ principal }) => service.list(principal))
  route(scope, endOwnSession, (request) => service.end(callerOf(request), request.params.id))
}
