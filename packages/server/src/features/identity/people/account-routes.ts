import { resetPassword } from '@millrace/contract/operations/accounts.ts'
import { closeCompany, readCompany, updateCompany } from '@millrace/contract/operations/company.ts'
import {
  deleteInvitation,
  inviteUser,
  listInvitations,
  renewInvitation,
} from '@millrace/contract/operations/invitations.ts'
import {
  changePassword,
  endOwnSessions,
  readProfile,
  updateProfile,
} from '@millrace/contract/operations/profile.ts'
import {
  createRole,
  deleteRole,
  listRoles,
  readRole,
  updateRole,
} from '@millrace/contract/operations/roles.ts'
import {
  createTeam,
  deleteTeam,
  listTeams,
  readTeam,
  updateTeam,
} from '@millrace/contract/operations/teams.ts'
import {
  deactivateUser,
  deleteUser,
  listPeople,
  listUsers,
  reactivateUser,
  readUser,
  unlinkUser,
  updateUser,
} from '@millrace/contract/operations/users.ts'
import type { FastifyInstance } from 'fastify'
import { route } from '../../../platform/http/route.ts'
import type { AccountServices } from './account-services.ts'
import type { CompanyClosing } from './company/company-closing.ts'

/** Everything about users, roles, teams and the company, for the authenticated scope. */
export function registerAccountRoutes(
  scope: FastifyInstance,
  services: AccountServices & { readonly companyClosing: CompanyClosing },
): void {
  const { profile, passwordLinks, users, invitations, roles, teams, company, companyClosing } = services
  route(scope, readProfile, ({ principal }) => profile.read(principal))
  route(scope, updateProfile, (request) => profile.update(request.caller, request.body))
  route(scope, changePassword, async (request) => {
    const { currentPassword, newPassword } = request.body
    return { endedSessions: await profile.changePassword(request.caller, currentPassword, newPassword) }
  })
  route(scope, endOwnSessions, (request) => profile.endSessions(request.caller))
  route(scope, resetPassword, (request) => passwordLinks.mailReset(request.caller, request.body.email))

  route(scope, listUsers, ({ principal, query }) => {
    const { page, perPage, resourceGroupId: teamId, ...filter } = query
    return users.list(principal, { ...filter, teamId }, { page, perPage })
  })
  route(scope, listPeople, ({ principal, query: { page, perPage, ...filter } }) =>
    users.listColleagues(principal, filter, { page, perPage }),
  )
  route(scope, readUser, ({ principal, params }) => users.read(principal, params.id))
  route(scope, updateUser, (request) => users.update(request.caller, request.params.id, request.body))
  route(scope, deactivateUser, (request) => users.deactivate(request.caller, request.params.id))
  route(scope, reactivateUser, (request) => users.reactivate(request.caller, request.params.id))
  route(scope, unlinkUser, (request) => users.unlink(request.caller, request.params.id))
  route(scope, deleteUser, (request) => users.delete(request.caller, request.params.id))

  route(scope, inviteUser, (request) => invitations.invite(request.caller, request.body))
  route(scope, listInvitations, ({ principal, query }) => invitations.list(principal, query))
  route(scope, renewInvitation, (request) => {
    const { sendMail = true } = request.body
    return invitations.renew(request.caller, request.params.id, sendMail)
  })
  route(scope, deleteInvitation, (request) => invitations.delete(request.caller, request.params.id))

  route(scope, listRoles, ({ principal, query }) => roles.list(principal, query))
  route(scope, readRole, ({ principal, params }) => roles.read(principal, params.id))
  route(scope, createRole, (request) => roles.create(request.caller, request.body))
  route(scope, updateRole, (request) => roles.update(request.caller, request.params.id, request.body))
  route(scope, deleteRole, (request) => roles.delete(request.caller, request.params.id))

  route(scope, listTeams, ({ principal, query }) => teams.list(principal, query.search, query))
  route(scope, readTeam, ({ principal, params }) => teams.read(principal, params.id))
  route(scope, createTeam, (request) => teams.create(request.caller, request.body))
  route(scope, updateTeam, (request) => teams.update(request.caller, request.params.id, request.body))
  route(scope, deleteTeam, (request) => teams.delete(request.caller, request.params.id))

  route(scope, readCompany, ({ principal }) => company.read(principal))
  route(scope, closeCompany, (request) => companyClosing.close(request.caller, request.body))
  route(scope, updateCompany, (request) => company.update(request.caller, request.body))
}
