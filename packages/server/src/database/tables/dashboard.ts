import type { Dashboard } from '@millrace/contract/resources/dashboard.ts'
import { json, pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id, owned, saves } from './columns.ts'

export const dashboards = pgTable('dashboards', {
  ...owned,
  name: text('name').notNull(),
  description: text('description').notNull(),
  /** Null when that user is gone. */
  ownerId: id('owner_id'),
  tiles: json('tiles').$type<Dashboard['tiles']>().notNull(),
  filters: json('filters').$type<Dashboard['filters']>().notNull(),
  range: json('range').$type<Dashboard['range']>(),
  comparison: text('comparison', { enum: ['none', 'previous', 'year'] }).notNull(),
  ...saves,
  ...history,
})

/** The teams that see a dashboard; every user does where there is none. */
export const dashboardTeams = pgTable(
  'dashboard_teams',
  {
    companyId: id('company_id').notNull(),
    dashboardId: id('dashboard_id').notNull(),
    teamId: id('team_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.dashboardId, table.teamId] })],
)
