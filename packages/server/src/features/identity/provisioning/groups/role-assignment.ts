import type { Queries } from '../../../../platform/stores/relational.ts'
import type { AuditSource, UserLifecycle } from '../../people/users/user-lifecycle.ts'
import type { IdentityContext } from '../../sessions/identity-context.ts'
import { createRoleAssignmentStore, type RoleHolder } from './role-assignment-store.ts'

/** Throws when the caller may not give or take one of the roles. */
export type RequireRoles = (roleIds: readonly string[]) => Promise<unknown>

/** How many users or groups an entry of the audit log lists. */
export const maxNamed = 20

export interface RoleAssignmentDependencies extends Pick<IdentityContext, 'recordAudit'> {
  readonly lifecycle: Pick<UserLifecycle, 'endUnproven'>
}

export type RoleAssignment = ReturnType<typeof createRoleAssignment>

/**
 * Roles by groups: the first group of the mapping that a user is in gives the role, and users in none of them
 * have the default role. Both functions work inside a transaction that has locked the company's configuration, and
 * do nothing where roles do not come from groups.
 */
export function createRoleAssignment({ lifecycle, recordAudit }: RoleAssignmentDependencies) {
  /** Groups that give no role are no error; they are recorded. */
  async function noteUnmatched(
    tx: Queries,
    companyId: string,
    holders: readonly RoleHolder[],
    defaultRoleId: string,
    source: AuditSource,
  ): Promise<void> {
    const unmatched = holders.filter(({ groups }) => groups.length > 0)
    const [first] = unmatched
    if (!first) return
    const target =
      unmatched.length === 1 ? { kind: 'user', id: first.id, name: first.email } : { kind: 'scim-config' }
    const details = {
      defaultRoleId,
      groups: [...new Set(unmatched.flatMap(({ groups }) => groups))].slice(0, maxNamed),
      users: unmatched.length,
      userIds: unmatched.slice(0, maxNamed).map(({ id }) => id),
    }
    await recordAudit(tx, { companyId, action: 'scim-unmatched-value', target, details, ...source })
  }

  async function assign(
    tx: Queries,
    companyId: string,
    userIds: readonly string[] | undefined,
    source: AuditSource,
    requireRoles?: RequireRoles,
  ): Promise<void> {
    const store = createRoleAssignmentStore(tx)
    const rules = await store.findRules(companyId)
    if (rules.source === null) return
    const { defaultRoleId } = rules
    const holders = await store.listHolders(companyId, userIds)
    await noteUnmatched(tx, companyId, holders, defaultRoleId, source)

    const changes = holders
      .map((holder) => ({ ...holder, nextRoleId: holder.mappedRoleId ?? defaultRoleId }))
      .filter(({ roleId, nextRoleId }) => roleId !== nextRoleId)
    await requireRoles?.([...new Set(changes.flatMap(({ roleId, nextRoleId }) => [roleId, nextRoleId]))])
    // The entries first, before any row is locked.
    await recordAudit(
      tx,
      changes.map(({ id, email, roleId, nextRoleId }) => ({
        companyId,
        action: 'user-update',
        target: { kind: 'user', id, name: email },
        details: { roleId: nextRoleId, previousRoleId: roleId },
        ...source,
      })),
    )
    if (changes.length === 0) return
    const ids = changes.map(({ id }) => id)
    await lifecycle.endUnproven(tx, companyId, ids, source)
    await store.giveRoles(companyId, changes)
  }

  return {
    /** Gives these users, whose groups have changed, the roles that their groups give now. */
    async assignTo(
      tx: Queries,
      companyId: string,
      userIds: readonly string[],
      source: AuditSource,
    ): Promise<void> {
      if (userIds.length > 0) await assign(tx, companyId, userIds, source)
    },

    /**
     * The same for all provisioned users, after a change of the rules.
     * @param requireRoles asked before anything changes: every role that a user would lose or get
     */
    async assignAll(
      tx: Queries,
      companyId: string,
      source: AuditSource,
      requireRoles: RequireRoles,
    ): Promise<void> {
      await assign(tx, companyId, undefined, source, requireRoles)
    },

    /** Role of a new user. */
    async getRoleOfNewUsers(tx: Queries, companyId: string): Promise<string> {
      return (await createRoleAssignmentStore(tx).findRules(companyId)).defaultRoleId
    },
  }
}
