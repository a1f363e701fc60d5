import type { AuditActor, RecordAudit } from '../../../../platform/audit.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { UserLifecycle } from '../../people/users/user-lifecycle.ts'
import { createRoleAssignmentStore, type RoleHolder } from './role-assignment-store.ts'

/** Who a change is made by, and from where. */
export interface Origin {
  readonly actor: AuditActor
  readonly address: string
}

/** Throws when one of the roles is not for the caller to give or to take. */
export type RequireRoles = (roleIds: readonly string[]) => Promise<unknown>

/** How many names an entry of the audit log lists. */
const mostNamed = 20

export interface RoleAssignmentDependencies {
  readonly lifecycle: Pick<UserLifecycle, 'endUnproven'>
  readonly recordAudit: RecordAudit
}

export type RoleAssignment = ReturnType<typeof createRoleAssignment>

/**
 * Roles by groups: the first group of the mapping that somebody is in gives the role, and whoever is in none
 * of them has the default role. Both work inside a transaction that holds the company's configuration, and do
 * nothing where roles do not come from groups.
 */
export function createRoleAssignment({ lifecycle, recordAudit }: RoleAssignmentDependencies) {
  /** Groups that give no role never stop anything; they are written down. */
  async function noteUnmatched(
    tx: Queries,
    companyId: string,
    people: readonly RoleHolder[],
    defaultRoleId: string,
    origin: Origin,
  ): Promise<void> {
    const unmatched = people.filter(({ groups }) => groups.length > 0)
    const [first] = unmatched
    if (!first) return
    const target =
      unmatched.length === 1 ? { kind: 'user', id: first.id, name: first.email } : { kind: 'scim-config' }
    const details = {
      defaultRoleId,
      groups: [...new Set(unmatched.flatMap(({ groups }) => groups))].slice(0, mostNamed),
      users: unmatched.length,
      userIds: unmatched.slice(0, mostNamed).map(({ id }) => id),
    }
    await recordAudit(tx, { companyId, action: 'scim-unmatched-value', target, details, ...origin })
  }

  async function assign(
    tx: Queries,
    companyId: string,
    userIds: readonly string[] | undefined,
    origin: Origin,
    requireRoles?: RequireRoles,
  ): Promise<void> {
    const store = createRoleAssignmentStore(tx)
    const { source, defaultRoleId } = await store.findRules(companyId)
    if (source === null) return
    const people = await store.listHolders(companyId, userIds)
    await noteUnmatched(tx, companyId, people, defaultRoleId, origin)

    const changes = people
      .map((person) => ({ ...person, nextRoleId: person.mappedRoleId ?? defaultRoleId }))
      .filter(({ roleId, nextRoleId }) => roleId !== nextRoleId)
    await requireRoles?.([...new Set(changes.flatMap(({ roleId, nextRoleId }) => [roleId, nextRoleId]))])
    // The entries first: nobody waits for them.
    await recordAudit(
      tx,
      changes.map(({ id, email, roleId, nextRoleId }) => ({
        companyId,
        action: 'user-update',
        target: { kind: 'user', id, name: email },
        details: { roleId: nextRoleId, previousRoleId: roleId },
        ...origin,
      })),
    )
    if (changes.length === 0) return
    const ids = changes.map(({ id }) => id)
    await lifecycle.endUnproven(tx, companyId, ids, origin)
    await store.giveRoles(companyId, changes)
  }

  return {
    /** Gives the people named, whose groups have changed, the roles that their groups give now. */
    async assignTo(
      tx: Queries,
      companyId: string,
      userIds: readonly string[],
      origin: Origin,
    ): Promise<void> {
      if (userIds.length > 0) await assign(tx, companyId, userIds, origin)
    },

    /**
     * The same for everybody whom the identity provider keeps, after a change of the rules.
     * @param requireRoles asked before anything changes: every role that somebody would lose or get
     */
    async assignAll(
      tx: Queries,
      companyId: string,
      origin: Origin,
      requireRoles: RequireRoles,
    ): Promise<void> {
      await assign(tx, companyId, undefined, origin, requireRoles)
    },

    /** Role of somebody new. */
    async findDefaultRole(tx: Queries, companyId: string): Promise<string> {
      return (await createRoleAssignmentStore(tx).findRules(companyId)).defaultRoleId
    },
  }
}
