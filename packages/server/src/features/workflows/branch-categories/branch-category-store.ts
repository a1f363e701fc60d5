import { branchCategories } from '../../../database/tables/workflow-settings.ts'
import { and, asc, eq, inArray, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

export type StoredCategory = typeof branchCategories.$inferSelect
export type CategoryKey = Pick<StoredCategory, 'id' | 'companyId'>

export function createBranchCategoryStore(db: Queries) {
  const among = (companyId: string, ids: readonly string[]) =>
    and(eq(branchCategories.companyId, companyId), inArray(branchCategories.id, [...ids]))

  return {
    /** All of the company, in no order. */
    async list(companyId: string): Promise<StoredCategory[]> {
      return db.select().from(branchCategories).where(eq(branchCategories.companyId, companyId))
    },

    /** Of the ids those that there are. `lock`: none of them is deleted until the transaction ends. */
    async listKnown(companyId: string, ids: readonly string[], lock: boolean): Promise<string[]> {
      const query = db
        .select({ id: branchCategories.id })
        .from(branchCategories)
        .where(among(companyId, ids))
        .orderBy(asc(branchCategories.id))
        .$dynamic()
      const rows = await (lock ? query.for('key share') : query)
      return rows.map(({ id }) => id)
    },

    async insert(category: Pick<StoredCategory, 'id' | 'companyId' | 'name' | 'parentId'>): Promise<void> {
      await db.insert(branchCategories).values(category)
    },

    async update(
      { companyId, id }: CategoryKey,
      fields: Partial<Pick<StoredCategory, 'name' | 'parentId'>>,
    ): Promise<void> {
      await db
        .update(branchCategories)
        .set({
          ...fields,
          updatedAt: sql`greatest(now(), ${branchCategories.updatedAt} + interval '1 millisecond')`,
        })
        .where(among(companyId, [id]))
    },

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
