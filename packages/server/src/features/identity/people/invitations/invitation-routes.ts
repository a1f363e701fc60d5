import {
  deleteInvitation,
  inviteUser,
  listInvitations,
  renewInvitation,
} from '@millrace/contract/operations/invitations.ts'
import type { InvitationCreation, InvitationRenewal } from '@millrace/contract/resources/invitation.ts'
import type { FastifyInstance } from 'fastify'
import { paginated, success } from '../../../../platform/http/envelope.ts'
import type { Page } from '../../../../platform/paging.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { InvitationService } from './invitation-service.ts'

/** Inviting people, for the authenticated scope. */
export function registerInvitationRoutes(app: FastifyInstance, service: InvitationService): void {
  app.route<{ Body: InvitationCreation }>({
    ...inviteUser,
    async handler(request) {
      return success(await service.invite(callerOf(request), request.body))
    },
  })

  app.route<{ Querystring: Page }>({
    ...listInvitations,
    async handler({ principal, query }) {
      return paginated({ ...(await service.list(principal, query)), ...query })
    },
  })

  app.route<{ Params: { id: string }; Body: InvitationRenewal }>({
    ...renewInvitation,
    async handler(request) {
      const { sendMail = true } = request.body
      return success(await service.renew(callerOf(request), request.params.id, sendMail))
    },
  })

  app.route<{ Params: { id: string } }>({
    ...deleteInvitation,
    async handler(request) {
      await service.delete(callerOf(request), request.params.id)
      return success({})
    },
  })
}
