import {
  deleteInvitation,
  inviteUser,
  listInvitations,
  renewInvitation,
} from '@millrace/contract/operations/invitations.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../../platform/http/route.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { InvitationService } from './invitation-service.ts'

/** Invitations, for the authenticated scope. */
export function registerInvitationRoutes(scope: FastifyInstance, service: InvitationService): void {
  route(scope, inviteUser, (request) => service.invite(callerOf(request), request.body))
  route(scope, listInvitations, ({ principal, query }) => service.list(principal, query))
  route(scope, renewInvitation, (request) => {
    const { sendMail = true } = request.body
    return service.renew(callerOf(request), request.params.id, sendMail)
  })
  route(scope, deleteInvitation, (request) => service.delete(callerOf(request), request.params.id))
}
