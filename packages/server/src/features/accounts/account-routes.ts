import type { FastifyInstance } from 'fastify'
import type { AccountServices } from './account-services.ts'
import { registerCompanyRoutes } from './company-routes.ts'
import { registerInvitationRoutes } from './invitation-routes.ts'
import { registerProfileRoutes } from './profile-routes.ts'
import { registerRoleRoutes } from './role-routes.ts'
import { registerTeamRoutes } from './team-routes.ts'
import { registerUserRoutes } from './user-routes.ts'

/** Everything about people, roles, teams and the company, for the authenticated scope. */
export function registerAccountRoutes(app: FastifyInstance, services: AccountServices): void {
  registerProfileRoutes(app, services.profile, services.passwordLinks)
  registerUserRoutes(app, services.users)
  registerInvitationRoutes(app, services.invitations)
  registerRoleRoutes(app, services.roles)
  registerTeamRoutes(app, services.teams)
  registerCompanyRoutes(app, services.company)
}
