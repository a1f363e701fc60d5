import { resetPassword } from '@millrace/contract/operations/accounts.ts'
import {
  changePassword,
  endOwnSessions,
  readProfile,
  updateProfile,
} from '@millrace/contract/operations/profile.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../../platform/http/route.ts'
import { callerOf } from '../../sessions/request-caller.ts'
import type { PasswordLinkService } from '../passwords/password-link-service.ts'
import type { ProfileService } from './profile-service.ts'

/** What users may do with their own account, and operation 15, for the authenticated scope. */
export function registerProfileRoutes(
  scope: FastifyInstance,
  service: ProfileService,
  passwordLinks: Pick<PasswordLinkService, 'mailReset'>,
): void {
  route(scope, readProfile, ({ principal }) => service.read(principal))
  route(scope, updateProfile, (request) => service.update(callerOf(request), request.body))
  route(scope, changePassword, async (request) => {
    const { currentPassword, newPassword } = request.body
    return { endedSessions: await service.changePassword(callerOf(request), currentPassword, newPassword) }
  })
  route(scope, endOwnSessions, (request) => service.endSessions(callerOf(request)))
  route(scope, resetPassword, (request) => passwordLinks.mailReset(callerOf(request), request.body.email))
}
