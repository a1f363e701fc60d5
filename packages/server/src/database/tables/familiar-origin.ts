import { pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { bytes, id, instant } from './columns.ts'

/** Networks and browsers from which a user has signed in with the password. */
export const familiarOrigins = pgTable(
  'familiar_origins',
  {
    userId: id('user_id').notNull(),
    kind: text('kind', { enum: ['network', 'device'] }).notNull(),
    /** SHA-256 of the network, or of the secret that the browser keeps. */
    originHash: bytes('origin_hash').notNull(),
    usedAt: instant('used_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.originHash] })],
)
