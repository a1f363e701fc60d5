import type { Cohort } from '@millrace/contract/resources/cohort.ts'
import { cohorts } from '../../../database/tables/cohort.ts'
import type { Listed, Page } from '../../../platform/paging.ts'
import { companyRows } from '../../../platform/resources/company-rows.ts'
import { type ListSearch, listOrder } from '../../../platform/resources/list-order.ts'
import { withIsoDates } from '../../../platform/resources/resource.ts'
import { containsText } from '../../../platform/stores/postgres/contains-text.ts'
import { and, eq, inArray, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

export type StoredCohort = typeof cohorts.$inferSelect
export type CohortPage = Page & ListSearch<'name' | 'createdAt' | 'updatedAt'>
export type CohortFields = Partial<Pick<StoredCohort, 'name' | 'description' | 'rule' | 'listId' | 'listed'>>

export function toCohort({ listId, lastSavedBy, ...stored }: StoredCohort): Cohort {
  return {
    ...withIsoDates(stored),
    ...(lastSavedBy !== null && { lastSavedBy }),
    kind: listId === null ? 'rule' : 'list',
  }
}

/** Definitions of cohorts; given a transaction it works inside it. */
export function createCohortStore(db: Queries) {
  const rows = companyRows(db, cohorts)

  return {
    ...rows,

    count: (companyId: string): Promise<number> => rows.count(eq(cohorts.companyId, companyId)),

    list(companyId: string, wanted: CohortPage): Promise<Listed<StoredCohort>> {
      const { id, name, createdAt, updatedAt } = cohorts
      const keys = { name: sql`lower(btrim(${name}))`, createdAt, updatedAt }
      const where = and(
        eq(cohorts.companyId, companyId),
        wanted.q === undefined ? undefined : containsText(name, wanted.q),
      )
      return rows.page(where, listOrder(wanted, keys, id, { sortBy: 'name', sortOrder: 'asc' }), wanted)
    },

    async listByIds(companyId: string, ids: readonly string[]): Promise<StoredCohort[]> {
      if (ids.length === 0) return []
      return rows.select(and(eq(cohorts.companyId, companyId), inArray(cohorts.id, [...ids])))
    },
  }
}
