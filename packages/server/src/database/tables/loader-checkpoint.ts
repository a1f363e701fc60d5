import { bigint, pgTable, text } from '../../platform/stores/postgres/drizzle.ts'
import { instant } from './columns.ts'

/** How far an event log is loaded; moved together with the counters. */
export const loaderCheckpoints = pgTable('loader_checkpoints', {
  log: text('log').primaryKey(),
  segment: bigint('segment', { mode: 'number' }).notNull(),
  byteOffset: bigint('byte_offset', { mode: 'number' }).notNull(),
  /** The greatest reception time loaded. */
  receivedAt: instant('received_at'),
  updatedAt: instant('updated_at').notNull(),
})
