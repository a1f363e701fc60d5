import { and, eq, inArray } from 'drizzle-orm'
import type { Queries } from '../platform/stores/relational.ts'
import { teams } from './tables/team.ts'

/** Those of the ids that are teams of the company: what every store asks before a row points at one. */
export async function listExistingTeams(
  db: Pick<Queries, 'select'>,
  companyId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await db
    .select({ id: teams.id })
    .from(teams)
    .where(and(eq(teams.companyId, companyId), inArray(teams.id, [...ids])))
  return rows.map(({ id }) => id)
}
