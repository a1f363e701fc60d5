import { branchCategories } from '../../../database/tables/workflow-settings.ts'
import { companyRows } from '../../../platform/resources/company-rows.ts'
import { and, asc, eq, inArray } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

export type StoredCategory = typeof branchCategories.$inferSelect

export function createBranchCategoryStore(db: Queries) {
  const among = (companyId: string, ids: readonly string[]) =>
    and(eq(branchCategories.companyId, companyId), inArray(branchCategories.id, [...ids]))

  const { select, known, insert, update } = companyRows(db, branchCategories)

  return {
    insert,
    update,

    /** All of the company. */
    list: (companyId: string): Promise<StoredCategory[]> => select(eq(branchCategories.companyId, companyId)),

    listKnown: known,

    /** Waits until no transaction publishes what names them; none begins to before this one ends. */
    async lock(companyId: string, ids: readonly string[]): Promise<void> {
      await db
        .select({ id: branchCategories.id })
        .from(branchCategories)
        .where(among(companyId, ids))
        .orderBy(asc(branchCategories.id))
        .for('update')
    },

    /** With those below them, which the caller names too. */
    async delete(companyId: string, ids: readonly string[]): Promise<void> {
      await db.delete(branchCategories).where(among(companyId, ids))
    },
  }
}
