import { languages } from '@millrace/contract/languages.ts'
import { boolean, integer, pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id, instant } from './columns.ts'

export const companies = pgTable('companies', {
  id: id('id').primaryKey(),
  name: text('name').notNull(),
  /** IANA name; dates without a zone are read in it. */
  timezone: text('timezone').notNull().default('UTC'),
  language: text('language', { enum: languages }).notNull().default('en'),
  /** Of amounts, as ISO 4217 has it; null where it was not said. */
  currency: text('currency'),
  /** Whether distinct counts are exact at any size. */
  exactCounts: boolean('exact_counts').notNull().default(false),
  attributionModel: text('attribution_model', { enum: ['last-touch', 'linear', 'decay'] })
    .notNull()
    .default('last-touch'),
  clickWindowHours: integer('click_window_hours').notNull().default(720),
  displayWindowHours: integer('display_window_hours').notNull().default(168),
  /** Whether the country of a sender is looked up when an event is collected. */
  countries: boolean('countries').notNull().default(true),
  showsOtherTeams: boolean('shows_other_teams').notNull().default(false),
  /** Days that entries of the audit log are kept. */
  auditRetentionDays: integer('audit_retention_days').notNull().default(90),
  /** Days that events are kept; null for ever. */
  eventRetentionDays: integer('event_retention_days'),
  /** Since when nothing of it works; it can be opened again for 7 days. */
  closedAt: instant('closed_at'),
  /** When that was said. */
  eventRetentionSince: instant('event_retention_since').notNull().defaultNow(),
  /** Role of users whom single sign-on creates without one. */
  defaultRoleId: id('default_role_id'),
  ...history,
})
