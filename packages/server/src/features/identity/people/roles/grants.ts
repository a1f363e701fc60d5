import { DomainError } from '../../../../platform/errors.ts'
import { normalizeId } from '../../../../platform/ids.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import type { Principal } from '../../sessions/principal.ts'
import { createPeopleStore } from '../people-store.ts'
import { createTeamStore } from '../teams/team-store.ts'
import { createRoleStore } from './role-store.ts'

/** Those of the permissions that the principal does not have. */
export function permissionsAbove(principal: Principal, permissions: Iterable<string>): string[] {
  return [...permissions].filter((permission) => !principal.permissions.has(permission))
}

/**
 * Each role must be of the caller's company and allow nothing beyond the caller's own.
 * @throws DomainError `unknownRole` or `roleAboveOwn`, naming all that are so
 */
export async function requireGrantableRoles(
  queries: Queries,
  principal: Principal,
  roleIds: readonly string[],
): Promise<void> {
  const ids = [...new Set(roleIds.map(normalizeId))]
  const roles = await createRoleStore(queries).listExisting(principal.companyId, ids)
  const known = new Set(roles.map(({ id }) => id))
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length > 0) throw new DomainError('unknownRole', { roleIds: unknown })
  const above = roles.filter(({ permissions }) => permissionsAbove(principal, permissions).length > 0)
  if (above.length > 0) throw new DomainError('roleAboveOwn', { roleIds: above.map(({ id }) => id) })
}

/** The same of one role. @returns the normalised identifier */
export async function requireGrantableRole(
  queries: Queries,
  principal: Principal,
  roleId: string,
): Promise<string> {
  await requireGrantableRoles(queries, principal, [roleId])
  return normalizeId(roleId)
}

/** @throws DomainError `unknownTeam`, naming all that are not teams of the company */
export async function requireTeams(
  queries: Queries,
  companyId: string,
  ids: readonly string[],
): Promise<void> {
  const known = new Set(await createPeopleStore(queries).listTeams(companyId, ids))
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length > 0) throw new DomainError('unknownTeam', { teamIds: unknown })
}

/**
 * Teams that the caller may add a user to: of the company, and such as the caller uses or may change.
 * @param present teams that the user is in already: keeping them gives nothing
 * @returns the normalised identifiers, in order
 * @throws DomainError `unknownTeam` or `notInTeam`
 */
export async function requireGrantableTeams(
  queries: Queries,
  principal: Principal,
  teamIds: readonly string[],
  present: readonly string[] = [],
): Promise<string[]> {
  const ids = [...new Set(teamIds.map(normalizeId))].sort()
  await requireTeams(queries, principal.companyId, ids)
  const given = ids.filter((id) => !present.includes(id))
  const foreign = principal.can('team', 'update') ? [] : given.filter((id) => !principal.teamIds.includes(id))
  if (foreign.length > 0) throw new DomainError('notInTeam', { teamIds: foreign })
  return ids
}

/**
 * The caller may not change a user who has more permissions.
 * @throws DomainError `userAboveOwn`
 */
export async function requireNotAbove(
  queries: Queries,
  principal: Principal,
  user: { readonly id: string; readonly roleId: string },
): Promise<void> {
  const [role] = await createRoleStore(queries).listExisting(principal.companyId, [user.roleId])
  if (permissionsAbove(principal, role?.permissions ?? []).length > 0)
    throw new DomainError('userAboveOwn', { id: user.id })
}

/**
 * Choosing the trusted identity provider, or giving one the right to provision, decides about every user: that takes
 * all permissions that any user of the company has.
 * @throws DomainError `roleAboveOwn`
 */
export async function requireNoUserAbove(
  queries: Queries,
  { companyId, permissions }: Pick<Principal, 'companyId' | 'permissions'>,
): Promise<void> {
  const roleIds = await createRoleStore(queries).listAbove(companyId, permissions)
  if (roleIds.length === 0) return
  const message = 'Some users of your company have a role that allows more than your own'
  throw new DomainError('roleAboveOwn', { roleIds }, { message })
}

/**
 * Name and members of a provisioned team are the identity provider's, because a membership may give a role. That holds
 * while provisioning is off, too: a change made meanwhile would count as soon as it is on again.
 * @throws DomainError `provisionedTeam`
 */
export async function requireUnprovisioned(
  queries: Queries,
  companyId: string,
  teamIds: readonly string[],
): Promise<void> {
  const kept = await createTeamStore(queries).listProvisioned(companyId, teamIds)
  if (kept.length > 0) throw new DomainError('provisionedTeam', { teamIds: kept })
}
