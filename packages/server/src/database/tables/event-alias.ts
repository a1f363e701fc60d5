import { pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id } from './columns.ts'

/** The name under which a renamed custom event answers. */
export const eventAliases = pgTable(
  'event_aliases',
  {
    companyId: id('company_id').notNull(),
    /** The name that is stored with its events. */
    name: text('name').notNull(),
    alias: text('alias').notNull(),
    ...history,
  },
  ({ companyId, name }) => [primaryKey({ columns: [companyId, name] })],
)
