import type { Cohort } from '@millrace/contract/resources/cohort.ts'
import { cohorts } from '../../../database/tables/cohort.ts'
import type { Listed, Page } from '../../../platform/paging.ts'
import { companyRows } from '../../../platform/resources/company-rows.ts'
import { withIsoDates } from '../../../platform/resources/resource.ts'
import { and, asc, eq, inArray, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

export type StoredCohort = typeof cohorts.$inferSelect
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

    /** By name. */
    list(companyId: string, wanted: Page): Promise<Listed<StoredCohort>> {
      const order = [sql`lower(btrim(${cohorts.name}))`, asc(cohorts.id)]
      return rows.page(eq(cohorts.companyId, companyId), order, wanted)
    },

    async listByIds(companyId: string, ids: readonly string[]): Promise<StoredCohort[]> {
      if (ids.length === 0) return []
      return rows.select(and(eq(cohorts.companyId, companyId), inArray(cohorts.id, [...ids])))
    },
  }
}
