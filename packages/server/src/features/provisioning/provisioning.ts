import type { RecordAudit } from '../../platform/audit.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import type { UserLifecycle } from '../accounts/user-lifecycle.ts'
import { createRoleAssignment } from './role-assignment.ts'
import { createScimConfigService } from './scim-config-service.ts'
import { createScimDiscoveryService } from './scim-discovery-service.ts'
import { createScimGroupService } from './scim-group-service.ts'
import { createScimRequestService } from './scim-request-service.ts'
import { createScimTokenService } from './scim-token-service.ts'
import { createScimUserService } from './scim-user-service.ts'

export interface ProvisioningDependencies {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly lifecycle: Pick<UserLifecycle, 'transact' | 'create' | 'admit' | 'deactivate' | 'reactivate'>
  readonly recordAudit: RecordAudit
  /** Address under which people reach the service, without a path. */
  readonly origin: () => string
}

export type Provisioning = ReturnType<typeof createProvisioning>

/** Everything of the feature: what a company sets, its tokens, and what its identity provider calls. */
export function createProvisioning(dependencies: ProvisioningDependencies) {
  const { relational, lifecycle, recordAudit, origin } = dependencies
  const { transact } = lifecycle
  const baseUrl = () => `${origin()}/v2/scim/v2`
  const roleAssignment = createRoleAssignment({ recordAudit })
  const requests = createScimRequestService({ relational, transact, recordAudit })
  const parts = { requests, lifecycle, roleAssignment, recordAudit, baseUrl }
  return {
    config: createScimConfigService({ relational, transact, recordAudit, roleAssignment, baseUrl }),
    tokens: createScimTokenService({ relational, recordAudit }),
    requests,
    users: createScimUserService(parts),
    groups: createScimGroupService(parts),
    discovery: createScimDiscoveryService(parts),
  }
}
