import type { ScimConfig, ScimConfigUpdate } from '@millrace/contract/resources/scim-config.ts'
import { actorOf, auditEventOf } from '../../../../platform/audit.ts'
import { changesOf } from '../../../../platform/changes.ts'
import { normalizeId } from '../../../../platform/ids.ts'
import { invalid } from '../../../../platform/invalid.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { requireGrantableRoles, requireNoUserAbove } from '../../people/roles/grants.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import type { Principal } from '../../sessions/principal.ts'
import type { RoleAssignment } from '../groups/role-assignment.ts'
import {
  createScimConfigStore,
  type ProvisioningSettings,
  type RoleMapping,
  type SettingsFields,
} from './scim-config-store.ts'

export interface ScimConfigDependencies extends Pick<IdentityContext, 'relational' | 'recordAudit'> {
  /** Runs a change of users or roles; `lastAdministrator` when no administrator would be left. */
  readonly transact: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>
  readonly roleAssignment: Pick<RoleAssignment, 'assignAll'>
  /** Address of the SCIM service. */
  readonly baseUrl: () => string
}

/** Exactly the fields that a caller may set. */
type Wanted = Pick<
  ScimConfigUpdate,
  'enabled' | 'groupSync' | 'roleSource' | 'roleMapping' | 'defaultRoleId' | 'deprovisionMode'
>

function normalized(wanted: Wanted): { fields: SettingsFields; mapping: RoleMapping[] | undefined } {
  const { enabled, groupSync, roleSource, defaultRoleId, deprovisionMode, roleMapping } = wanted
  return {
    fields: {
      ...(enabled !== undefined && { enabled }),
      ...(groupSync !== undefined && { groupSync }),
      ...(roleSource !== undefined && { roleSource }),
      ...(defaultRoleId !== undefined && { defaultRoleId: normalizeId(defaultRoleId) }),
      ...(deprovisionMode !== undefined && { deprovisionMode }),
    },
    mapping: roleMapping?.map(({ group, roleId }) => ({ group, roleId: normalizeId(roleId) })),
  }
}

function requireDistinctGroups(mapping: readonly RoleMapping[]): void {
  const seen = new Map<string, number>()
  for (const [i, { group }] of mapping.entries()) {
    const first = seen.get(group.toLowerCase())
    if (first !== undefined) {
      const path = `roleMapping.${i}.group`
      const message = `must be named once whatever its case; it is the group of roleMapping.${first} too`
      throw invalid(path, message)
    }
    seen.set(group.toLowerCase(), i)
  }
}

export type ScimConfigService = ReturnType<typeof createScimConfigService>

/** A company's provisioning configuration: operations 17 and 18. */
export function createScimConfigService(dependencies: ScimConfigDependencies) {
  const { relational, transact, recordAudit, roleAssignment, baseUrl } = dependencies

  function present({ roleSource, defaultRoleId, lastSyncAt, ...settings }: ProvisioningSettings): ScimConfig {
    return {
      ...settings,
      roleMapping: settings.roleMapping.map((entry) => ({ ...entry })),
      ...(roleSource && { roleSource }),
      ...(defaultRoleId && { defaultRoleId }),
      baseUrl: baseUrl(),
      ...(lastSyncAt && { lastSyncAt: lastSyncAt.toISOString() }),
    }
  }

  return {
    async read({ companyId }: Pick<Principal, 'companyId'>): Promise<ScimConfig> {
      return present(await createScimConfigStore(relational.db).find(companyId))
    },

    /**
     * Sets what is given and leaves the rest. Changed rules for roles hold at once, and give or take no role that the
     * caller could not give. Turning the identity provider or its groups on decides about every user; having groups
     * give roles gives each role of the mapping.
     * @throws DomainError `validation`, `unknownRole`, `roleAboveOwn` or `lastAdministrator`
     */
    async update(principal: Principal, wanted: Wanted, address: string): Promise<ScimConfig> {
      const { companyId } = principal
      const { fields, mapping } = normalized(wanted)
      requireDistinctGroups(mapping ?? [])
      const roleIds = new Set(mapping?.map(({ roleId }) => roleId))
      if (fields.defaultRoleId) roleIds.add(fields.defaultRoleId)
      const source = { actor: actorOf(principal), address }
      const event = auditEventOf({ principal, address }, 'scim-config-update', { kind: 'scim-config' })
      return transact(async (tx) => {
        const store = createScimConfigStore(tx)
        await store.lock(companyId)
        const before = await store.find(companyId)
        const { to: changes } = changesOf(before, { ...fields, roleMapping: mapping })
        if ('roleSource' in changes)
          for (const { roleId } of mapping ?? before.roleMapping) roleIds.add(roleId)
        await requireGrantableRoles(tx, principal, [...roleIds])
        if (Object.keys(changes).length > 0) {
          if (changes.enabled === true || changes.groupSync === true) await requireNoUserAbove(tx, principal)
          await store.update(companyId, fields)
          if (mapping) await store.replaceMapping(companyId, mapping)
          await recordAudit(tx, { ...event, details: { changes } })
          if ('roleSource' in changes || 'roleMapping' in changes || 'defaultRoleId' in changes)
            await roleAssignment.assignAll(tx, companyId, source, (moved) =>
              requireGrantableRoles(tx, principal, moved),
            )
        }
        return present(await store.find(companyId))
      })
    },
  }
}
