import { bigint, integer, pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id, instant, owned } from './columns.ts'

/** Where events come in. */
export const datasources = pgTable('datasources', {
  ...owned,
  name: text('name').notNull(),
  kind: text('kind', { enum: ['tracking', 'worker', 'workflow_events'] })
    .notNull()
    .default('tracking'),
  /** Only an active one takes events; a deleted one is never found. */
  status: text('status', { enum: ['active', 'paused', 'deleted'] })
    .notNull()
    .default('active'),
  /** Whether its events must say that the person has consented. */
  consent: text('consent', { enum: ['ignore', 'require'] })
    .notNull()
    .default('ignore'),
  /** Of the sample data of the company: whether all of its events were sent. */
  sampleData: text('sample_data', { enum: ['filling', 'filled'] }),
  /** Days that its events are kept; null as long as the company says. */
  eventRetentionDays: integer('event_retention_days'),
  /** When that was said. */
  eventRetentionSince: instant('event_retention_since').notNull().defaultNow(),
  ...history,
})

/** The teams that see a datasource; at least one. */
export const datasourceTeams = pgTable(
  'datasource_teams',
  {
    companyId: id('company_id').notNull(),
    datasourceId: id('datasource_id').notNull(),
    teamId: id('team_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.datasourceId, table.teamId] })],
)

/** Counts of the events of a datasource; increased by the loader, in the transaction of the checkpoint. */
export const datasourceCounters = pgTable(
  'datasource_counters',
  {
    companyId: id('company_id').notNull(),
    datasourceId: id('datasource_id').notNull(),
    accepted: bigint('accepted', { mode: 'number' }).notNull(),
    changed: bigint('changed', { mode: 'number' }).notNull(),
    dropped: bigint('dropped', { mode: 'number' }).notNull(),
    bot: bigint('bot', { mode: 'number' }).notNull(),
    duplicate: bigint('duplicate', { mode: 'number' }).notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.companyId, table.datasourceId] })],
)
