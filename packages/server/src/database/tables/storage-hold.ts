import { bigint, pgTable } from '../../platform/stores/postgres/drizzle.ts'
import { id, instant } from './columns.ts'

/** Room for what a company is storing. */
export const storageHolds = pgTable('storage_holds', {
  id: id('id').primaryKey(),
  companyId: id('company_id').notNull(),
  bytes: bigint('bytes', { mode: 'number' }).notNull(),
  /** Until when the process that stores is taken to be alive. */
  leaseUntil: instant('lease_until').notNull(),
})
