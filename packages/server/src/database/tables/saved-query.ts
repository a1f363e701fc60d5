import type { Query } from '@millrace/contract/resources/query.ts'
import type { Schedule } from '@millrace/contract/resources/saved-query.ts'
import type { SavedQueryRun } from '@millrace/contract/resources/saved-query-run.ts'
import { integer, json, pgTable, primaryKey, text } from '../../platform/stores/postgres/drizzle.ts'
import { bytes, history, id, instant, owned, saves } from './columns.ts'

export const savedQueries = pgTable('saved_queries', {
  ...owned,
  /** Who saved it first; a user, who may be gone. */
  createdBy: id('created_by'),
  /** Whose rights its runs have; null when that user is gone. */
  ownerId: id('owner_id'),
  name: text('name').notNull(),
  queries: json('queries').$type<Query[]>().notNull(),
  schedule: json('schedule').$type<Schedule>().notNull().default({}),
  /** The next planned time; null without a schedule that runs. */
  nextRunAt: instant('next_run_at'),
  /** Planned times up to here have their entries in the ledger. */
  plannedTo: instant('planned_to').notNull().defaultNow(),
  pausedReason: text('paused_reason'),
  /** Scheduled runs that have failed since one succeeded. */
  failures: integer('failures').notNull().default(0),
  ...saves,
  ...history,
})

export const savedQueryRuns = pgTable('saved_query_runs', {
  ...owned,
  savedQueryId: id('saved_query_id').notNull(),
  trigger: text('trigger', { enum: ['schedule', 'manual'] }).notNull(),
  /** Who asked for a manual run; a scheduled one has the rights of the owner. */
  askedBy: id('asked_by'),
  plannedFor: instant('planned_for').notNull(),
  state: text('state', { enum: ['queued', 'running', 'delivered', 'failed', 'missed'] }).notNull(),
  attempts: integer('attempts').notNull().default(0),
  dueAt: instant('due_at').notNull().defaultNow(),
  leaseUntil: instant('lease_until'),
  startedAt: instant('started_at'),
  endedAt: instant('ended_at'),
  recipients: json('recipients').$type<string[]>().notNull().default([]),
  results: json('results').$type<SavedQueryRun['results']>().notNull().default([]),
  resultsUntil: instant('results_until'),
  reason: text('reason'),
  createdAt: instant('created_at').notNull().defaultNow(),
})

export const savedQueryResults = pgTable(
  'saved_query_results',
  {
    runId: id('run_id').notNull(),
    attempt: integer('attempt').notNull(),
    queryIndex: integer('query_index').notNull(),
    piece: integer('piece').notNull(),
    content: bytes('content').notNull(),
  },
  ({ runId, attempt, queryIndex, piece }) => [primaryKey({ columns: [runId, attempt, queryIndex, piece] })],
)

export const savedQueryMessages = pgTable(
  'saved_query_messages',
  {
    runId: id('run_id').notNull(),
    linkedAccountId: id('linked_account_id').notNull(),
    state: text('state', { enum: ['queued', 'sent', 'failed'] }).notNull(),
    attempts: integer('attempts').notNull().default(0),
    dueAt: instant('due_at').notNull().defaultNow(),
    reason: text('reason'),
  },
  ({ runId, linkedAccountId }) => [primaryKey({ columns: [runId, linkedAccountId] })],
)
