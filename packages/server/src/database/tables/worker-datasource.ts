import type { DatasourceImport } from '@millrace/contract/resources/datasource-import.ts'
import type { DatasourceSource, RefreshSchedule } from '@millrace/contract/resources/datasource-source.ts'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import { bigint, integer, json, pgTable, real, text } from '../../platform/stores/postgres/drizzle.ts'
import { bytes, id, instant, owned } from './columns.ts'

/** A source without what is kept elsewhere. */
export type KeptSource = Omit<DatasourceSource, 'headers'> & { readonly headerNames?: readonly string[] }

/** The stored file of a datasource. */
export interface KeptContent {
  /** Name of the file in the directory of contents. */
  readonly file: string
  readonly bytes: number
  readonly fileName: string | null
  readonly contentType: string | null
  readonly sha256: string
  /** ISO 8601. */
  readonly uploadedAt: string
}

/** What a source answered when its rows went live: unchanged content is not imported again. */
export interface FetchedContent {
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
  readonly sha256: string
}

export const workerDatasources = pgTable('worker_datasources', {
  datasourceId: id('datasource_id').primaryKey(),
  companyId: id('company_id').notNull(),
  type: text('type', { enum: ['generic', 'product', 'location', 'crm'] }).notNull(),
  createdBy: id('created_by'),
  source: json('source').$type<KeptSource>(),
  sealedHeaders: bytes('sealed_headers'),
  content: json('content').$type<KeptContent>(),
  fetched: json('fetched').$type<FetchedContent>(),
  updateStrategy: text('update_strategy', { enum: ['replace', 'upsert'] })
    .notNull()
    .default('replace'),
  maxRefusedShare: real('max_refused_share').notNull().default(0.5),
  schedule: json('schedule').$type<RefreshSchedule>(),
  /** The next planned import; null while there is none. */
  nextRefreshAt: instant('next_refresh_at'),
  /** Planned times up to here are imported or missed. */
  plannedTo: instant('planned_to').notNull().defaultNow(),
  /** Of the draft. */
  fields: json('fields').$type<WorkerField[]>().notNull().default([]),
  fieldsUpdatedAt: instant('fields_updated_at').notNull().defaultNow(),
  failure: text('failure'),
})

/** Versions of rows; the rows of each are a table of their own in the schema `datasource_rows`. */
export const datasourceVersions = pgTable('datasource_versions', {
  ...owned,
  datasourceId: id('datasource_id').notNull(),
  state: text('state', { enum: ['live', 'retired'] }).notNull(),
  fields: json('fields').$type<WorkerField[]>().notNull(),
  keyField: text('key_field'),
  rowCount: bigint('row_count', { mode: 'number' }).notNull(),
  /** Of its table with the indexes. */
  rowBytes: bigint('row_bytes', { mode: 'number' }).notNull(),
  revision: integer('revision').notNull().default(1),
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
  retiredAt: instant('retired_at'),
})

export const datasourceImports = pgTable('datasource_imports', {
  ...owned,
  datasourceId: id('datasource_id').notNull(),
  trigger: text('trigger', { enum: ['upload', 'refresh', 'schedule', 'live'] }).notNull(),
  state: text('state', { enum: ['queued', 'running', 'done', 'unchanged', 'failed'] })
    .notNull()
    .default('queued'),
  attempts: integer('attempts').notNull().default(0),
  dueAt: instant('due_at').notNull().defaultNow(),
  leaseUntil: instant('lease_until'),
  rowsRead: bigint('rows_read', { mode: 'number' }).notNull().default(0),
  rowsStored: bigint('rows_stored', { mode: 'number' }).notNull().default(0),
  rowsRefused: bigint('rows_refused', { mode: 'number' }).notNull().default(0),
  bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
  bytesTotal: bigint('bytes_total', { mode: 'number' }),
  fault: json('fault').$type<NonNullable<DatasourceImport['fault']>>(),
  startedAt: instant('started_at'),
  endedAt: instant('ended_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
})

export const datasourceImportLog = pgTable('datasource_import_log', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  companyId: id('company_id').notNull(),
  datasourceId: id('datasource_id').notNull(),
  at: instant('at').notNull().defaultNow(),
  kind: text('kind', { enum: ['dropped', 'changed', 'refused', 'noted'] }).notNull(),
  rule: text('rule').notNull(),
  path: text('path').notNull(),
  sample: text('sample').notNull(),
  count: bigint('count', { mode: 'number' }).notNull(),
})
