import { boolean, pgTable } from '../../platform/stores/postgres/drizzle.ts'
import { id, instant } from './columns.ts'

/** Datasources whose events leave the statistics, or have left them. */
export const eventPurges = pgTable('event_purges', {
  datasourceId: id('datasource_id').primaryKey(),
  companyId: id('company_id').notNull(),
  requestedAt: instant('requested_at').notNull().defaultNow(),
  /** From when on they are removed, and no further ones are stored. */
  purgeAfter: instant('purge_after').notNull().defaultNow(),
  /** Of a datasource that took no events when it was deleted. */
  wasPaused: boolean('was_paused').notNull().default(false),
  /** Since when orders are computed without them. */
  uncountedSince: instant('uncounted_since'),
  /** Of a deletion that is undone: they count again, and are hidden until all orders say so. */
  restoredAt: instant('restored_at'),
  finishedAt: instant('finished_at'),
})
