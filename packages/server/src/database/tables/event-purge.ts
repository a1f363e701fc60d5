import { pgTable } from '../../platform/stores/postgres/drizzle.ts'
import { id, instant } from './columns.ts'

/** Datasources whose events leave the statistics, or have left them. */
export const eventPurges = pgTable('event_purges', {
  datasourceId: id('datasource_id').primaryKey(),
  companyId: id('company_id').notNull(),
  requestedAt: instant('requested_at').notNull().defaultNow(),
  finishedAt: instant('finished_at'),
})
