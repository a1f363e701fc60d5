import { bigint, pgTable } from '../../platform/stores/postgres/drizzle.ts'
import { instant, owned } from './columns.ts'

/** Room for what a company is storing. */
export const storageHolds = pgTable('storage_holds', {
  ...owned,
  bytes: bigint('bytes', { mode: 'number' }).notNull(),
  /** Until when the process that stores is taken to be alive. */
  leaseUntil: instant('lease_until').notNull(),
})
