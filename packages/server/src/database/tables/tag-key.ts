import { bigint, pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { bytes, history, id, owned } from './columns.ts'

/** What workflows, branches and experiments are tagged with. */
export const tagKeys = pgTable('tag_keys', {
  ...owned,
  name: text('name').notNull(),
  /** SHA-256 of the form in which names are compared. */
  nameHash: bytes('name_hash').notNull(),
  description: text('description').notNull().default(''),
  assignmentMode: text('assignment_mode', { enum: ['custom', 'system'] })
    .notNull()
    .default('custom'),
  cardinality: text('cardinality', { enum: ['single', 'multiple'] })
    .notNull()
    .default('single'),
  ...history,
})

export const tagValues = pgTable('tag_values', {
  ...owned,
  tagKeyId: id('tag_key_id').notNull(),
  name: text('name').notNull(),
  nameHash: bytes('name_hash').notNull(),
  description: text('description').notNull().default(''),
  /** In the order in which they were added. */
  position: bigint('position', { mode: 'number' }).generatedAlwaysAsIdentity(),
})

/** Teams that a key is meant for; every team where there is none. */
export const tagKeyTeams = pgTable(
  'tag_key_teams',
  {
    companyId: id('company_id').notNull(),
    tagKeyId: id('tag_key_id').notNull(),
    teamId: id('team_id').notNull(),
  },
  ({ tagKeyId, teamId }) => [primaryKey({ columns: [tagKeyId, teamId] })],
)
