import { and, eq, inArray, type PgColumn, type PgTable, type SQL, sql } from '../stores/postgres/drizzle.ts'
import type { Queries } from '../stores/relational.ts'
import type { Key } from './company-rows.ts'

type TeamsTable<C extends string> = PgTable & Readonly<Record<'companyId' | 'teamId' | C, PgColumn>>

/**
 * The teams that see objects of one kind.
 * @param object the column with the id of the object
 */
export function objectTeams<C extends string>(db: Queries, table: TeamsTable<C>, object: C) {
  const objectId: PgColumn = table[object]

  return {
    /** Whether one of these teams sees the object; none does where there are no teams. */
    seenBy(id: PgColumn, teamIds: readonly string[]): SQL {
      if (teamIds.length === 0) return sql`false`
      return sql`exists (
        select 1 from ${table} where ${objectId} = ${id} and ${inArray(table.teamId, [...teamIds])})`
    },

    async replace({ companyId, id }: Key, teamIds: readonly string[]): Promise<void> {
      await db.delete(table).where(and(eq(table.companyId, companyId), eq(objectId, id)))
      if (teamIds.length === 0) return
      await db.insert(table).values(teamIds.map((teamId) => ({ companyId, teamId, [object]: id }) as never))
    },
  }
}
