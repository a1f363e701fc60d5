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
