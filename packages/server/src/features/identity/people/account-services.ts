import type { RecordAudit } from '../../../platform/audit.ts'
import type { Passwords } from '../../../platform/crypto/passwords.ts'
import { createSqlLeakyBuckets, type SqlLeakyBuckets } from '../../../platform/limits/sql-leaky-bucket.ts'
import type { EnqueueMail } from '../../../platform/mail/mail-queue.ts'
import type { Queries, Relational } from '../../../platform/stores/relational.ts'
import { type CompanyService, createCompanyService } from './company/company-service.ts'
import { createInvitationService, type InvitationService } from './invitations/invitation-service.ts'
import { createPasswordLinkService, type PasswordLinkService } from './passwords/password-link-service.ts'
import { createPasswordLinkStore, type PasswordLinkStore } from './passwords/password-link-store.ts'
import { createRoleService, type RoleService, type RoleServiceDependencies } from './roles/role-service.ts'
import { createTeamService, type TeamService } from './teams/team-service.ts'
import { createProfileService, type ProfileService } from './users/profile-service.ts'
import { createUserLifecycle } from './users/user-lifecycle.ts'
import { createUserService, type UserService } from './users/user-service.ts'

export interface AccountServicesDependencies extends Pick<RoleServiceDependencies, 'settingsNaming'> {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly passwords: Passwords
  readonly recordAudit: RecordAudit
  readonly enqueueMail: EnqueueMail
  /** From here the user signs in also while others are held. */
  readonly rememberNetwork: (tx: Queries, userId: string, address: string) => Promise<void>
  /** Address under which people reach the service, without a path. */
  readonly origin: () => string
  readonly knowsTimezone: (zone: string) => Promise<boolean>
  /** Tests hand in stores with a clock of their own. */
  readonly linksIn?: (queries: Queries) => PasswordLinkStore
  readonly bucketsIn?: (queries: Queries) => SqlLeakyBuckets
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

/** People, roles, teams and the company, as operations offer them, over one store. */
export function createAccountServices(given: AccountServicesDependencies): AccountServices {
  const dependencies = {
    ...given,
    linksIn: given.linksIn ?? ((queries: Queries) => createPasswordLinkStore(queries)),
    bucketsIn: given.bucketsIn ?? ((queries: Queries) => createSqlLeakyBuckets(queries)),
    lifecycle: createUserLifecycle(given),
  }
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
