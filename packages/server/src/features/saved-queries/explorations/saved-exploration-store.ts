import type { ExplorationKind, SavedExploration } from '@millrace/contract/resources/saved-exploration.ts'
import { savedExplorations } from '../../../database/tables/saved-exploration.ts'
import { type Listed, mapListed, type Page } from '../../../platform/paging.ts'
import { companyRows, type Key } from '../../../platform/resources/company-rows.ts'
import { type ListSearch, listOrder } from '../../../platform/resources/list-order.ts'
import { withIsoDates } from '../../../platform/resources/resource.ts'
import { containsText } from '../../../platform/stores/postgres/contains-text.ts'
import { and, eq, sql } from '../../../platform/stores/postgres/drizzle.ts'
import type { Queries } from '../../../platform/stores/relational.ts'

type Stored = typeof savedExplorations.$inferSelect

export type SavedExplorationList = Page &
  ListSearch<'name' | 'createdAt' | 'updatedAt'> & { readonly exploration?: ExplorationKind | undefined }

export function toSavedExploration({ lastSavedBy, ...stored }: Stored): SavedExploration {
  return { ...withIsoDates(stored), ...(lastSavedBy !== null && { lastSavedBy }) }
}

/** Saved explorations; given a transaction it works inside it. */
export function createSavedExplorationStore(db: Queries) {
  const rows = companyRows(db, savedExplorations)
  const { id, companyId, name, exploration, createdAt, updatedAt } = savedExplorations

  return {
    ...rows,

    countOfCompany: (company: string): Promise<number> => rows.count(eq(companyId, company)),

    async list(company: Key['companyId'], wanted: SavedExplorationList): Promise<Listed<SavedExploration>> {
      const where = and(
        eq(companyId, company),
        wanted.exploration === undefined ? undefined : eq(exploration, wanted.exploration),
        wanted.q === undefined ? undefined : containsText(name, wanted.q),
      )
      const keys = { name: sql`lower(${name})`, createdAt, updatedAt }
      const order = listOrder(wanted, keys, id, { sortBy: 'createdAt', sortOrder: 'desc' })
      return mapListed(await rows.page(where, order, wanted), toSavedExploration)
    },
  }
}
