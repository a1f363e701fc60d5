import { boolean, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { history, id } from './columns.ts'

/** A team; what it owns is a resource group of the interface. */
export const teams = pgTable('teams', {
  id: id('id').primaryKey(),
  companyId: id('company_id').notNull(),
  name: text('name').notNull(),
  /** Takes the people who are put into no team by name; one in each company. */
  isDefault: boolean('is_default').notNull().default(false),
  ...history,
})

export const teamMembers = pgTable(
  'team_members',
  {
    companyId: id('company_id').notNull(),
    teamId: id('team_id').notNull(),
    userId: id('user_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.teamId, table.userId] })],
)
