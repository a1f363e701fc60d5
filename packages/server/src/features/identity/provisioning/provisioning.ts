import type { Queries } from '../../../platform/stores/relational.ts'
import { createUserLifecycle } from '../people/users/user-lifecycle.ts'
import type { IdentityContext } from '../sessions/identity-context.ts'
import { createScimConfigService } from './config/scim-config-service.ts'
import { createScimConfigStore } from './config/scim-config-store.ts'
import { createScimTokenService } from './config/scim-token-service.ts'
import { createRoleAssignment } from './groups/role-assignment.ts'
import { createScimGroupService } from './groups/scim-group-service.ts'
import { createScimDiscoveryService } from './scim-discovery-service.ts'
import { createScimRequestService } from './scim-request-service.ts'
import { createScimUserService } from './users/scim-user-service.ts'

/** Provisioning as a whole: a company's configuration, its tokens, and the SCIM service. */
export function createProvisioning(dependencies: IdentityContext) {
  const lifecycle = createUserLifecycle(dependencies)
  const { transact } = lifecycle
  const baseUrl = () => `${dependencies.publicUrl()}/v2/scim/v2`
  const roleAssignment = createRoleAssignment({ ...dependencies, lifecycle })
  const requests = createScimRequestService({ ...dependencies, transact })
  const parts = { ...dependencies, requests, lifecycle, transact, roleAssignment, baseUrl }
  return {
    config: createScimConfigService(parts),
    tokens: createScimTokenService(dependencies),
    requests,
    users: createScimUserService(parts),
    groups: createScimGroupService(parts),
    discovery: createScimDiscoveryService(parts),

    /** Settings that refer to a role, for a message. */
    async settingsNaming(
      tx: Queries,
      role: { readonly id: string; readonly companyId: string },
    ): Promise<string[]> {
      const { defaultRoleId, roleMapping } = await createScimConfigStore(tx).find(role.companyId)
      const groups = roleMapping.filter(({ roleId }) => roleId === role.id).map(({ group }) => group)
      return [
        ...(defaultRoleId === role.id ? ['the default role of provisioning'] : []),
        ...groups.map((group) => `the role of the group ${group} in provisioning`),
      ]
    },
  }
}
