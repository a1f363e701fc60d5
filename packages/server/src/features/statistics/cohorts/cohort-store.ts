import type { Cohort } from '@millrace/contract/resources/cohort.ts'
import { cohorts } from '../../../database/tables/cohort.ts'
import { nextRevision } from '../../../database/tables/columns.ts'
import type { Range } from '../../../platform/paging.ts'
import { and, asc, eq, inArray, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

export type StoredCohort = typeof cohorts.$inferSelect
export type CohortFields = Partial<Pick<StoredCohort, 'name' | 'description' | 'rule' | 'listId' | 'listed'>>

export function toCohort({ listId, lastSavedBy, createdAt, updatedAt, ...stored }: StoredCohort): Cohort {
  return {
    ...stored,
    ...(lastSavedBy !== null && { lastSavedBy }),
    kind: listId === null ? 'rule' : 'list',
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

/** Definitions of cohorts; given a transaction it works inside it. */
export function createCohortStore(db: Queries) {
  const one = (companyId: string, id: string) => and(eq(cohorts.companyId, companyId), eq(cohorts.id, id))

  return {
    /** Lets no other transaction make cohorts of the company until this one ends. */
    async lockCompany(companyId: string): Promise<void> {
      await db.execute(sql`select 1 from companies where id = ${companyId} for no key update`)
    },

    async count(companyId: string): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(cohorts)
        .where(eq(cohorts.companyId, companyId))
      return row?.count ?? 0
    },

    /** By name. */
    async list(companyId: string, { limit, offset }: Range): Promise<StoredCohort[]> {
      return db
        .select()
        .from(cohorts)
        .where(eq(cohorts.companyId, companyId))
        .orderBy(sql`lower(btrim(${cohorts.name}))`, asc(cohorts.id))
        .limit(limit)
        .offset(offset)
    },

    async listByIds(companyId: string, ids: readonly string[]): Promise<StoredCohort[]> {
      if (ids.length === 0) return []
      return db
        .select()
        .from(cohorts)
        .where(and(eq(cohorts.companyId, companyId), inArray(cohorts.id, [...ids])))
    },

    async find(companyId: string, id: string): Promise<StoredCohort | undefined> {
      const [row] = await db.select().from(cohorts).where(one(companyId, id))
      return row
    },

    /** Locks the cohort until the transaction ends. */
    async findForUpdate(companyId: string, id: string): Promise<StoredCohort | undefined> {
      const [row] = await db.select().from(cohorts).where(one(companyId, id)).for('update')
      return row
    },

    async insert(cohort: typeof cohorts.$inferInsert): Promise<StoredCohort> {
      const [row] = await db.insert(cohorts).values(cohort).returning()
      if (!row) throw new Error('an insert without conflict gives its row')
      return row
    },

    async update(
      companyId: string,
      id: string,
      fields: CohortFields & { readonly lastSavedBy: string },
    ): Promise<StoredCohort> {
      const [row] = await db
        .update(cohorts)
        .set({ ...fields, ...nextRevision(cohorts) })
        .where(one(companyId, id))
        .returning()
      if (!row) throw new Error('a cohort that is locked is there')
      return row
    },

    async delete(companyId: string, id: string): Promise<void> {
      await db.delete(cohorts).where(one(companyId, id))
    },
  }
}
