import { pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { bytes, history, id, owned } from './columns.ts'

/** A link from a user to a messaging service. */
export const linkedAccounts = pgTable('linked_accounts', {
  ...owned,
  userId: id('user_id').notNull(),
  provider: text('provider', { enum: ['slack', 'teams', 'webhook'] }).notNull(),
  name: text('name').notNull(),
  /** Host of the address, for lists. */
  host: text('host').notNull(),
  /** The address with its secrets, sealed. */
  sealedTarget: bytes('sealed_target').notNull(),
  ...history,
})
