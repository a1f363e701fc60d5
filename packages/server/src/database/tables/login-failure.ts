import { pgTable } from 'drizzle-orm/pg-core'
import { bytes, instant } from './columns.ts'

/** Failed sign-ins under one key, as a bucket that every failure fills and time drains. */
export const loginFailures = pgTable('login_failures', {
  /** SHA-256 of what is counted: an account from an address, an account, an address, the whole service. */
  key: bytes('key').primaryKey(),
  drainedAt: instant('drained_at').notNull(),
  failedAt: instant('failed_at').notNull(),
})
