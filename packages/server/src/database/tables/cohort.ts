import type { CohortRule } from '@millrace/contract/resources/cohort.ts'
import { integer, jsonb, pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id, owned, saves } from './columns.ts'

/** A saved group of persons: by a rule, or by a list in the columnar store. */
export const cohorts = pgTable('cohorts', {
  ...owned,
  name: text('name').notNull(),
  description: text('description').notNull().default(''),
  rule: jsonb('rule').$type<CohortRule>(),
  listId: id('list_id'),
  /** How many identifiers the list has. */
  listed: integer('listed'),
  ownerId: id('owner_id'),
  ...saves,
  ...history,
})
