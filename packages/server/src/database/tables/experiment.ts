import type { Attachment, ExperimentOutcome, Metric } from '@millrace/contract/resources/experiment.ts'
import {
  experimentStatuses,
  experimentTypes,
  experimentUnits,
} from '@millrace/contract/resources/experiment.ts'
import {
  doublePrecision,
  integer,
  json,
  pgTable,
  primaryKey,
  smallint,
  text,
} from '../../platform/stores/postgres/drizzle.ts'
import { history, id, instant, owned } from './columns.ts'

export const experiments = pgTable('experiments', {
  ...owned,
  name: text('name').notNull(),
  hypothesis: text('hypothesis').notNull().default(''),
  createdBy: id('created_by').notNull(),
  type: text('type', { enum: experimentTypes }).notNull(),
  unit: text('unit', { enum: experimentUnits }).notNull(),
  status: text('status', { enum: experimentStatuses }).notNull().default('draft'),
  baselineVariantId: text('baseline_variant_id').notNull(),
  /** The first is the success metric. */
  metrics: json('metrics').$type<Metric[]>().notNull(),
  conversionWindowHours: integer('conversion_window_hours').notNull(),
  plannedSample: integer('planned_sample'),
  outlierCap: doublePrecision('outlier_cap'),
  cupedDays: integer('cuped_days'),
  salt: text('salt').notNull(),
  attachments: json('attachments').$type<Attachment[]>().notNull().default([]),
  /** Null once an experiment that never ran is archived. */
  tagKeyId: id('tag_key_id'),
  scheduledAt: instant('scheduled_at'),
  startedAt: instant('started_at'),
  readAt: instant('read_at'),
  endedAt: instant('ended_at'),
  decidedAt: instant('decided_at'),
  archivedAt: instant('archived_at'),
  outcome: json('outcome').$type<ExperimentOutcome>(),
  ...history,
})

export const experimentVariants = pgTable(
  'experiment_variants',
  {
    companyId: id('company_id').notNull(),
    experimentId: id('experiment_id').notNull(),
    id: text('id').notNull(),
    position: smallint('position').notNull(),
    name: text('name').notNull(),
    allocation: doublePrecision('allocation').notNull(),
    tagValueId: id('tag_value_id'),
  },
  (table) => [primaryKey({ columns: [table.experimentId, table.id] })],
)

/** Teams that an experiment is meant for; every team where there is none. */
export const experimentTeams = pgTable(
  'experiment_teams',
  {
    companyId: id('company_id').notNull(),
    experimentId: id('experiment_id').notNull(),
    teamId: id('team_id').notNull(),
  },
  ({ experimentId, teamId }) => [primaryKey({ columns: [experimentId, teamId] })],
)
