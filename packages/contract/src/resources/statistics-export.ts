import { type Static, Type } from 'typebox'
import {
  count,
  dateTime,
  id,
  integer,
  like,
  listOf,
  named,
  nullable,
  object,
  oneOf,
  text,
} from './formats.ts'
import { Query } from './query.ts'

export const exportTables = ['events', 'orders', 'sessions', 'query'] as const
export const exportFormats = ['parquet', 'ndjson', 'csv'] as const

/** A day as files and folders have it, of UTC. */
const day = (description: string) => text(description, '2026-01-31', { format: 'date' })

const content = {
  table: oneOf(
    exportTables,
    'Events as they were collected, orders or sessions as they are computed of them, or the rows of a query',
  ),
  format: oneOf(exportFormats, 'NDJSON and CSV are packed with gzip'),
}

/** Hours between two runs. */
const everyHours = integer(1, 168, 'Hours after which the files are brought up to date again', 24)

const from = day('The first day, of UTC')
const until = day('The last day, of UTC')
const datasources = listOf(id('Identifier of a datasource'), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'Only what these have told; of events and orders',
})

export const StatisticsExportRequest = named('StatisticsExportRequest', {
  ...content,
  format: Type.Optional(content.format),
  query: Type.Optional(Query),
  from: Type.Optional(from),
  until: Type.Optional(until),
  datasources: Type.Optional(datasources),
  everyHours: Type.Optional(everyHours),
})
export type StatisticsExportRequest = Static<typeof StatisticsExportRequest>

const head = {
  id: id('Identifier of the export'),
  ...content,
  query: nullable(Query, 'Null for all but the rows of a query'),
  from: nullable(from, 'Null for a query, which has its range itself'),
  until: nullable(
    until,
    'Null for a query, and for the present: today, or the last day that is over where it is made again and again',
  ),
  datasources: nullable(datasources, 'Null for all'),
  everyHours: nullable(everyHours, 'Null for an export that is made once'),
  state: oneOf(
    ['queued', 'running', 'done', 'failed'],
    'One that is made again and again is done between two runs',
  ),
  reason: nullable(text('Why the last run failed')),
  requestedBy: id('The user with whose rights it runs'),
  createdAt: dateTime('When it was asked for'),
  finishedAt: nullable(dateTime('When the files were up to date last')),
  nextRunAt: nullable(dateTime('When they are brought up to date again')),
  expiresAt: nullable(dateTime('When an export that is made once is removed with its files')),
  days: count('Files: a day without rows has none, a query has one'),
  rows: count('Rows of all files'),
  bytes: count('Bytes of all files'),
}

/** An export of rows, a file for each day, or the one of a query. */
export const StatisticsExport = named('StatisticsExport', head)
export type StatisticsExport = Static<typeof StatisticsExport>

export const StatisticsExportFile = object({
  name: like('2026-01-31.parquet'),
  day: nullable(day('The day of UTC on which all of its rows happened'), 'Null for the rows of a query'),
  rows: count('Rows'),
  bytes: count('Bytes'),
  sha256: like('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
  writtenAt: dateTime(
    'When it was written: again where rows of its day came late or were removed, of a query at every run',
  ),
})
export type StatisticsExportFile = Static<typeof StatisticsExportFile>

/** The same with its files. */
export const StatisticsExportManifest = named('StatisticsExportManifest', {
  ...head,
  files: listOf(StatisticsExportFile, 'By day'),
})
export type StatisticsExportManifest = Static<typeof StatisticsExportManifest>
