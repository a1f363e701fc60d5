import type { JsonTemplate } from '@millrace/contract/resources/json-template.ts'
import { workflowStatuses } from '@millrace/contract/resources/workflow.ts'
import type { WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import {
  type Analyze,
  type AnalyzeOverrides,
  versionStates,
  type WorkflowVersion,
} from '@millrace/contract/resources/workflow-version.ts'
import {
  boolean,
  doublePrecision,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
} from '../../platform/stores/postgres/drizzle.ts'
import { bytes, history, id, instant, owned, saves } from './columns.ts'

export const workflows = pgTable('workflows', {
  ...owned,
  name: text('name').notNull(),
  description: text('description').notNull().default(''),
  /** Folders from the root. */
  hierarchy: text('hierarchy').array().notNull().default([]),
  status: text('status', { enum: workflowStatuses }).notNull().default('draft'),
  hidden: boolean('hidden').notNull().default(false),
  variableProfileId: id('variable_profile_id'),
  /** The live version; it stays while the workflow is archived. */
  publishedVersionId: id('published_version_id'),
  archivedAt: instant('archived_at'),
  ...history,
})

export const workflowVersions = pgTable('workflow_versions', {
  ...owned,
  workflowId: id('workflow_id').notNull(),
  number: integer('number').notNull(),
  state: text('state', { enum: versionStates }).notNull().default('draft'),
  /** Grows with each save. */
  definition: json('definition').$type<WorkflowVersion['definition']>().notNull(),
  analyze: json('analysis').$type<Analyze>().notNull(),
  analyzeOverrides: json('analysis_overrides').$type<AnalyzeOverrides>().notNull(),
  metadata: json('metadata').$type<Record<string, unknown>>().notNull().default({}),
  complexityScore: doublePrecision('complexity_score').notNull().default(0),
  /** Of definition and analysis as they are stored. */
  bytes: integer('bytes').notNull().default(0),
  changeDescription: text('change_description'),
  ...saves,
  publishedAt: instant('published_at'),
  ...history,
})

/** What a published version needs of a JSON template. */
export interface PublishedTemplate {
  readonly definition: unknown
  /** `index`: the row of a `fixed` one, from 0. */
  readonly variables: readonly (JsonTemplate['variables'][number] & { readonly index?: number })[]
  readonly redirectVariable?: string
}

/** What a version took with it when it was published. */
export const workflowPublications = pgTable('workflow_publications', {
  versionId: id('version_id').primaryKey(),
  companyId: id('company_id').notNull(),
  workflowId: id('workflow_id').notNull(),
  /** As it runs: with the bindings that follow from names. */
  definition: json('definition').$type<WorkflowDefinition>().notNull(),
  templates: json('templates').$type<Record<string, PublishedTemplate>>().notNull(),
  publishedBy: id('published_by').notNull(),
  publishedAt: instant('published_at').notNull().defaultNow(),
})

export const referenceKinds = [
  'datasource',
  'template',
  'cohort',
  'experiment',
  'tag-key',
  'tag-value',
  'category',
] as const
export type ReferenceKind = (typeof referenceKinds)[number]

/** What draft and live versions name; drafts may name what is gone. */
export const workflowReferences = pgTable(
  'workflow_references',
  {
    versionId: id('version_id').notNull(),
    companyId: id('company_id').notNull(),
    workflowId: id('workflow_id').notNull(),
    kind: text('kind', { enum: referenceKinds }).notNull(),
    resourceId: id('resource_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.versionId, table.kind, table.resourceId] })],
)

/** The teams that see a workflow; at least one. */
export const workflowTeams = pgTable(
  'workflow_teams',
  {
    companyId: id('company_id').notNull(),
    workflowId: id('workflow_id').notNull(),
    teamId: id('team_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workflowId, table.teamId] })],
)

/** Where a request that was sent twice finds what the first one made. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    companyId: id('company_id').notNull(),
    userId: id('user_id').notNull(),
    operation: text('operation').notNull(),
    /** SHA-256. */
    keyHash: bytes('key_hash').notNull(),
    bodyHash: bytes('body_hash').notNull(),
    resourceId: id('resource_id').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.companyId, table.userId, table.operation, table.keyHash] })],
)
