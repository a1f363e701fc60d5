import { boolean, pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { id, instant } from './columns.ts'

/** What the first start made; its one row says that there was a first start. */
export const installation = pgTable('installation', {
  onlyOne: boolean('only_one').primaryKey().default(true),
  companyId: id('company_id').notNull(),
  clientId: id('client_id').notNull(),
  datasourceId: id('datasource_id').notNull(),
  adminEmail: text('admin_email').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
})
