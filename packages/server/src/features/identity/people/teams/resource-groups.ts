import { DomainError } from '../../../../platform/errors.ts'
import { normalizeId } from '../../../../platform/ids.ts'
import type { Queries } from '../../../../platform/stores/relational.ts'
import { requireTeams } from '../roles/grants.ts'

export type RequireResourceGroups = typeof requireResourceGroups

/**
 * The teams that an object is meant for, each once and in order; undefined where none are named.
 * @throws {DomainError} `unknownTeam` for those that are no teams of the company
 */
export async function requireResourceGroups(
  tx: Queries,
  companyId: string,
  wanted: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (wanted === undefined) return undefined
  const ids = [...new Set(wanted.map(normalizeId))].sort()
  await requireTeams(tx, companyId, ids)
  return ids
}

export type RequireMemberTeams = typeof requireMemberTeams

/**
 * The teams that are to see an object: of the company, and such as the caller is a member of.
 * @param present teams that see it already: they may stay
 * @returns each once and in order
 * @throws {DomainError} `unknownTeam` or `notInTeam`
 */
export async function requireMemberTeams(
  tx: Queries,
  caller: { readonly companyId: string; readonly teamIds: readonly string[] },
  wanted: readonly string[],
  present: readonly string[] = [],
): Promise<string[]> {
  const ids = (await requireResourceGroups(tx, caller.companyId, wanted)) ?? []
  const foreign = ids.filter((id) => !caller.teamIds.includes(id) && !present.includes(id))
  if (foreign.length > 0) throw new DomainError('notInTeam', { teamIds: foreign })
  return ids
}
