import { languages } from '@millrace/contract/languages.ts'
import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import {
  type AutomaticReport,
  type ComparisonWindows,
  type GenerationFailure,
  guidedAnalyses,
  type ReportUsage,
  reportCadences,
} from '@millrace/contract/resources/report.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import {
  bigint,
  boolean,
  integer,
  json,
  pgTable,
  primaryKey,
  real,
  text,
} from '../../platform/stores/postgres/drizzle.ts'
import { history, id, instant, owned } from './columns.ts'

const requester = {
  requestedType: text('requested_type', { enum: ['user', 'platform', 'unknown'] }).notNull(),
  /** Of a user, who may be gone. */
  requestedBy: id('requested_by'),
}

export const reports = pgTable('reports', {
  ...owned,
  /** A user, who may be gone, or `platform`. */
  createdBy: text('created_by').notNull(),
  ...requester,
  title: text('title'),
  question: text('question'),
  originType: text('origin_type', { enum: ['free-form', 'dashboard'] }).notNull(),
  dashboardPath: text('dashboard_path'),
  dashboardTitle: text('dashboard_title'),
  guidedAnalysis: text('guided_analysis', { enum: guidedAnalyses }),
  timezone: text('timezone').notNull(),
  locale: text('locale', { enum: languages }).notNull(),
  periodStart: instant('period_start'),
  periodEnd: instant('period_end'),
  comparisonWindows: json('comparison_windows').$type<ComparisonWindows>(),
  sectionCount: integer('section_count').notNull().default(0),
  publicationQuality: text('publication_quality', { enum: ['answered', 'limited'] }),
  /** Of all evidence that is stored for it. */
  evidenceBytes: integer('evidence_bytes').notNull().default(0),
  /** The last generation, where it has failed. */
  failedGenerationId: id('failed_generation_id'),
  archivedAt: instant('archived_at'),
  slug: text('slug', { enum: guidedAnalyses }),
  cadence: text('cadence', { enum: reportCadences }),
  periodKey: text('period_key'),
  promptSnapshot: json('prompt_snapshot').$type<AutomaticReport['promptSnapshot']>(),
  settingsId: id('settings_id'),
  supersedesId: id('supersedes_id'),
  supersededById: id('superseded_by_id'),
  ...history,
})

export const reportGenerations = pgTable('report_generations', {
  ...owned,
  reportId: id('report_id').notNull(),
  kind: text('kind', { enum: ['initial', 'follow-up'] }).notNull(),
  question: text('question').notNull(),
  ...requester,
  state: text('state', { enum: ['queued', 'running', 'done', 'failed'] })
    .notNull()
    .default('queued'),
  attempts: integer('attempts').notNull().default(0),
  dueAt: instant('due_at').notNull().defaultNow(),
  leaseUntil: instant('lease_until'),
  progress: real('progress').notNull().default(0),
  startedAt: instant('started_at'),
  endedAt: instant('ended_at'),
  sections: json('sections').$type<ReportSection[]>(),
  usage: json('usage').$type<ReportUsage>(),
  failure: json('failure').$type<StoredFailure>(),
  createdAt: instant('created_at').notNull().defaultNow(),
})

/** What a failed generation shows beside its own columns. */
export type StoredFailure = Pick<GenerationFailure, 'code' | 'message' | 'retryable' | 'evidence'>

export const reportEvidence = pgTable(
  'report_evidence',
  {
    generationId: id('generation_id').notNull(),
    id: id('id').notNull(),
    companyId: id('company_id').notNull(),
    reportId: id('report_id').notNull(),
    /** In the order in which they were read. */
    position: bigint('position', { mode: 'number' }).generatedAlwaysAsIdentity(),
    bytes: integer('bytes').notNull(),
    content: json('content').$type<Evidence>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.generationId, table.id] })],
)

export const reportSettings = pgTable(
  'report_settings',
  {
    companyId: id('company_id').notNull(),
    slug: text('slug', { enum: guidedAnalyses }).notNull(),
    id: id('id').notNull(),
    enabled: boolean('enabled').notNull().default(false),
    cadence: text('cadence', { enum: reportCadences }).notNull(),
    recipients: json('recipients').$type<string[]>().notNull().default([]),
    /** The company's language when null. */
    locale: text('locale', { enum: languages }),
    /** The default words when null. */
    prompt: text('prompt'),
    revision: integer('revision').notNull().default(0),
    /** Whose rights the reports have; null when that user is gone. */
    ownerId: id('owner_id'),
    /** When the next report is made; null while none is. */
    nextAt: instant('next_at'),
    /** Periods that ended up to here have their reports. */
    plannedTo: instant('planned_to').notNull().defaultNow(),
    pausedReason: text('paused_reason'),
    ...history,
  },
  ({ companyId, slug }) => [primaryKey({ columns: [companyId, slug] })],
)
