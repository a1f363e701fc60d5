import { pgTable } from 'drizzle-orm/pg-core'
import { bytes, instant } from './columns.ts'

/** Requests under one key, as a bucket that every request fills and time drains. */
export const requestBudgets = pgTable('request_budgets', {
  /** SHA-256 of what is counted and for whom. */
  key: bytes('key').primaryKey(),
  drainedAt: instant('drained_at').notNull(),
})
