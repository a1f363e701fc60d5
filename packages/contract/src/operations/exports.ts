import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import { id, idParams, object, text } from '../resources/formats.ts'
import {
  StatisticsExport,
  StatisticsExportManifest,
  StatisticsExportRequest,
} from '../resources/statistics-export.ts'

const operation = operationsOf('Statistics')
const url = '/v2/statistics/exports'
const access = 'Statistics: access and Statistics: export'
const params = idParams('Identifier of the export')
const target = 'statistics-export'

const others = 'Exports of other users are seen by those who have Statistics: manage.'

export const createExport = {
  ...operation('createExport', 'POST', url, 'statistics:access'),
  access: `${access}; but for a query also sight of the workflows of all teams`,
  summary: 'Export events, orders, sessions or the rows of a query in bulk',
  description: [
    'Queues an export of any number of rows: a file for each day of UTC that has some, as Parquet (when `format` is absent), NDJSON or CSV. Read it until its `state` is `done`, then download its files.',
    'A `query` is answered as `POST /v2/statistics/query` answers it to you, in one file, with any number of rows and within 15 minutes.',
    'With `everyHours` it is kept up to date: days that are over are written once, and again when rows of theirs came late or were removed; without `until` it follows the present. The files then stay until it is deleted, also in `MILLRACE_EXPORT_DIR`, as `dt=2026-01-31/events.parquet` beside a `manifest.json`; a query is asked again at every run. An export that is made once is removed after 7 days.',
    'Events, orders and sessions tell of workflows of all teams. A company has at most 100 exports.',
  ].join('\n\n'),
  audit: { action: 'statistics-export-create', target },
  errors: [
    'tooManyExports',
    'unknownMember',
    'incompatibleMembers',
    'virtualMeasureFilter',
    'invalidQuery',
    'tooComplex',
  ],
  examples: {
    parquet: example('All events of January', { table: 'events', from: '2026-01-01', until: '2026-01-31' }),
    daily: example('Orders for a data warehouse, day by day', {
      table: 'orders',
      format: 'ndjson',
      from: '2026-01-01',
      everyHours: 24,
    }),
    query: example('Visitors by path, as often as they change', {
      table: 'query',
      query: {
        measures: ['events.people'],
        dimensions: ['events.path'],
        filters: [],
        timeDimensions: [{ dimension: 'events.time', granularity: 'day', dateRange: 'last 30 days' }],
      },
      everyHours: 24,
    }),
  },
  ...answers('The export, queued', StatisticsExport, { body: StatisticsExportRequest }),
} as const satisfies Operation

export const listExports = {
  ...operation('listExports', 'GET', url, 'statistics:access'),
  access,
  summary: 'List exports',
  description: `Your own, the newest first. ${others}`,
  ...lists('One page of exports', StatisticsExport),
} as const satisfies Operation

export const readExport = {
  ...operation('readExport', 'GET', `${url}/:id`, 'statistics:access'),
  access,
  summary: 'Read an export with its files',
  description: others,
  errors: ['exportNotFound'],
  ...answers('The export', StatisticsExportManifest, { params }),
} as const satisfies Operation

export const downloadExportFile = {
  ...operation('downloadExportFile', 'GET', `${url}/:id/files/:name`, 'statistics:access'),
  access,
  summary: 'Download a file of an export',
  description:
    'Bare, with its hash as `ETag`. `Range` and `If-Range` take a download up where it was cut: of one range, 206; a range behind the end of the file gets 416.',
  audit: { action: 'statistics-export-download', target },
  errors: ['exportNotFound', 'exportFileNotFound', 'exportRangeInvalid'],
  replies: { 200: { description: 'The file' }, 206: { description: 'The part of it that was asked for' } },
  schema: {
    headers: Type.Object({
      range: Type.Optional(text('The part that is wanted', 'bytes=1048576-')),
      'if-range': Type.Optional(text('The `ETag` of which the part must be')),
    }),
    params: object({
      id: id('Identifier of the export'),
      name: text('Name of the file', '2026-01-31.parquet', { maxLength: 40 }),
    }),
    response: {
      200: Type.String({ contentMediaType: 'application/octet-stream' }),
      206: Type.String({ contentMediaType: 'application/octet-stream' }),
    },
  },
} as const satisfies Operation

export const deleteExport = {
  ...operation('deleteExport', 'DELETE', `${url}/:id`, 'statistics:access'),
  access,
  summary: 'Delete an export with its files',
  description: others,
  audit: { action: 'statistics-export-delete', target },
  errors: ['exportNotFound'],
  ...succeeds('It is deleted', { params }),
} as const satisfies Operation
