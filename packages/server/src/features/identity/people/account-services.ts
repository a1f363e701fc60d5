import type { IdentityContext } from '../sessions/identity-context.ts'
import {
  type CompanyService,
  type CompanyServiceDependencies,
  createCompanyService,
} from './company/company-service.ts'
import { createInvitationService, type InvitationService } from './invitations/invitation-service.ts'
import { createPasswordLinkService, type PasswordLinkService } from './passwords/password-link-service.ts'
import { createRoleService, type RoleService, type RoleServiceDependencies } from './roles/role-service.ts'
import { createTeamService, type TeamService } from './teams/team-service.ts'
import { createProfileService, type ProfileService } from './users/profile-service.ts'
import { createUserLifecycle } from './users/user-lifecycle.ts'
import { createUserService, type UserService } from './users/user-service.ts'

export interface AccountServicesDependencies
  extends Pick<RoleServiceDependencies, 'settingsNaming'>,
    Pick<CompanyServiceDependencies, 'onTimezoneChanged'>,
    IdentityContext {
  readonly knowsTimezone: (zone: string) => Promise<boolean>
}

export interface AccountServices {
  readonly passwordLinks: PasswordLinkService
  readonly profile: ProfileService
  readonly users: UserService
  readonly invitations: InvitationService
  readonly roles: RoleService
  readonly teams: TeamService
  readonly company: CompanyService
}

/** Users, roles, teams and the company, as operations offer them, over one store. */
export function createAccountServices(given: AccountServicesDependencies): AccountServices {
  const dependencies = { ...given, lifecycle: createUserLifecycle(given) }
  const passwordLinks = createPasswordLinkService(dependencies)
  const { makeInvitationLink } = passwordLinks
  return {
    passwordLinks,
    profile: createProfileService(dependencies),
    users: createUserService(dependencies),
    invitations: createInvitationService({ ...dependencies, makeInvitationLink }),
    roles: createRoleService(dependencies),
    teams: createTeamService(dependencies),
    company: createCompanyService(dependencies),
  }
}
