import type { SavedExploration } from '@millrace/contract/resources/saved-exploration.ts'
import { json, pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { history, id, owned, saves } from './columns.ts'

export const savedExplorations = pgTable('saved_explorations', {
  ...owned,
  name: text('name').notNull(),
  exploration: text('exploration', { enum: ['funnel', 'retention', 'paths'] }).notNull(),
  definition: json('definition').$type<SavedExploration['definition']>().notNull(),
  /** Null when that user is gone. */
  ownerId: id('owner_id'),
  ...saves,
  ...history,
})
