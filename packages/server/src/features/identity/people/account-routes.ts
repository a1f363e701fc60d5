import type { FastifyInstance } from 'fastify'
import type { AccountServices } from './account-services.ts'
import { registerCompanyRoutes } from './company/company-routes.ts'
import { registerInvitationRoutes } from './invitations/invitation-routes.ts'
import { registerRoleRoutes } from './roles/role-routes.ts'
import { registerTeamRoutes } from './teams/team-routes.ts'
import { registerProfileRoutes } from './users/profile-routes.ts'
import { registerUserRoutes } from './users/user-routes.ts'

/** Everything about users, roles, teams and the company, for the authenticated scope. */
export function registerAccountRoutes(app: FastifyInstance, services: AccountServices): void {
  registerProfileRoutes(app, services.profile, services.passwordLinks)
  registerUserRoutes(app, services.users)
  registerInvitationRoutes(app, services.invitations)
  registerRoleRoutes(app, services.roles)
  registerTeamRoutes(app, services.teams)
  registerCompanyRoutes(app, services.company)
}
