import { resetPassword } from '@millrace/contract/operations/accounts.ts'
import {
  changePassword,
  endOwnSessions,
  readProfile,
  updateProfile,
} from '@millrace/contract/operations/profile.ts'
import type { PasswordChange, ProfileUpdate } from '@millrace/contract/resources/user.ts'
import type { FastifyInstance } from 'fastify'
import { success } from '../../../../platform/http/envelope.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { PasswordLinkService } from '../passwords/password-link-service.ts'
import type { ProfileService } from './profile-service.ts'

/** What everybody may do with their own account, and operation 15, for the authenticated scope. */
export function registerProfileRoutes(
  app: FastifyInstance,
  service: ProfileService,
  passwordLinks: Pick<PasswordLinkService, 'mailReset'>,
): void {
  app.route({
    ...readProfile,
    async handler({ principal }) {
      return success(await service.read(principal))
    },
  })

  app.route<{ Body: ProfileUpdate }>({
    ...updateProfile,
    async handler(request) {
      return success(await service.update(callerOf(request), request.body))
    },
  })

  app.route<{ Body: PasswordChange }>({
    ...changePassword,
    async handler(request) {
      const { currentPassword, newPassword } = request.body
      const endedSessions = await service.changePassword(callerOf(request), currentPassword, newPassword)
      return success({ endedSessions })
    },
  })

  app.route({
    ...endOwnSessions,
    async handler(request) {
      await service.endSessions(callerOf(request))
      return success({})
    },
  })

  app.route<{ Body: { email: string } }>({
    ...resetPassword,
    async handler(request) {
      await passwordLinks.mailReset(callerOf(request), request.body.email)
      return success({})
    },
  })
}
