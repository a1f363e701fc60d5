import { jsonb, pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { id, instant } from './columns.ts'

/** Who did what, when; entries are added and never changed. */
export const auditEntries = pgTable('audit_entries', {
  id: id('id').primaryKey(),
  companyId: id('company_id'),
  at: instant('at').notNull().defaultNow(),
  category: text('category').notNull(),
  action: text('action').notNull(),
  actorKind: text('actor_kind').notNull(),
  actorId: text('actor_id'),
  actorName: text('actor_name'),
  targetKind: text('target_kind'),
  targetId: text('target_id'),
  targetName: text('target_name'),
  outcome: text('outcome', { enum: ['success', 'failure'] }).notNull(),
  error: text('error'),
  details: jsonb('details').$type<Record<string, unknown>>().notNull().default({}),
  address: text('address'),
})
