import type { Query } from '@millrace/contract/resources/query.ts'
import { exportFormats, exportTables } from '@millrace/contract/resources/statistics-export.ts'
import {
  bigint,
  date,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
} from '../../platform/stores/postgres/drizzle.ts'
import { id, instant, owned } from './columns.ts'

export const statisticsExports = pgTable('statistics_exports', {
  ...owned,
  /** Whose rights it has; a user, who may be gone. */
  requestedBy: id('requested_by').notNull(),
  table: text('table_name', { enum: exportTables }).notNull(),
  format: text('format', { enum: exportFormats }).notNull(),
  /** Of an export of the table `query`, and of no other. */
  query: json('query').$type<Query>(),
  /** Null for a query, which has its range itself. */
  from: date('from_day', { mode: 'string' }),
  /** Null for the last day that is over at each run. */
  until: date('until_day', { mode: 'string' }),
  datasources: json('datasources').$type<string[]>(),
  everyHours: integer('every_hours'),
  /** One that is made again waits for its next run as `queued`. */
  state: text('state', { enum: ['queued', 'running', 'done', 'failed'] })
    .notNull()
    .default('queued'),
  attempts: integer('attempts').notNull().default(0),
  dueAt: instant('due_at').notNull().defaultNow(),
  leaseUntil: instant('lease_until'),
  startedAt: instant('started_at'),
  finishedAt: instant('finished_at'),
  reason: text('reason'),
  createdAt: instant('created_at').notNull().defaultNow(),
})

export const statisticsExportFiles = pgTable(
  'statistics_export_files',
  {
    exportId: id('export_id').notNull(),
    /** A day, or `query` for the rows of a query. */
    part: text('part').notNull(),
    rows: bigint('rows', { mode: 'number' }).notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    sha256: text('sha256').notNull(),
    fingerprint: text('fingerprint').notNull(),
    writtenAt: instant('written_at').notNull().defaultNow(),
  },
  ({ exportId, part }) => [primaryKey({ columns: [exportId, part] })],
)
