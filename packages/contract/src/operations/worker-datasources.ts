import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import { Datasource, DatasourceUpdate, DeletedDatasource } from '../resources/datasource.ts'
import { DatasourceImport } from '../resources/datasource-import.ts'
import { DatasourceQuery } from '../resources/datasource-query.ts'
import { WorkerFieldsUpdate } from '../resources/datasource-version.ts'
import { fileNamePattern, freeObject, idParams, object, oneOf, text } from '../resources/formats.ts'
import { RetentionPreview, retentionDays } from '../resources/retention-preview.ts'

const operation = operationsOf('Datasources')
const datasourceId = idParams('Identifier of the datasource')
const target = 'datasource'
const sample = '65f0c0ffee5ca1ab1e0ddba1'

export const readDatasource = {
  ...operation('readDatasource', 'GET', '/v2/datasources/:id', 'datasource:read'),
  summary: 'Read a datasource',
  description:
    'With its versions: the draft holds the fields as they are chosen, the live version the rows. The values of request headers are never answered.',
  errors: ['datasourceNotFound'],
  ...answers('The datasource', Datasource, { params: datasourceId }),
} as const satisfies Operation

export const previewDatasourceRetention = {
  ...operation('previewDatasourceRetention', 'GET', '/v2/datasources/:id/retention', 'datasource:read'),
  summary: 'See what a retention of a datasource would remove',
  description:
    'Counts the events that would be removed if `eventRetentionDays` of the datasource were `days`. It changes nothing.',
  errors: ['datasourceNotFound', 'notAnEventDatasource', 'tooManyRequests'],
  ...answers('What would be removed', RetentionPreview, {
    params: datasourceId,
    querystring: object({ days: retentionDays }),
  }),
} as const satisfies Operation

export const updateDatasource = {
  ...operation('updateDatasource', 'PATCH', '/v2/datasources/:id', 'datasource:update'),
  access:
    'Datasource: update, membership of every team that is added to `resourceGroupIds`, and for another `eventRetentionDays` Datasource: delete',
  summary: 'Change a datasource',
  description:
    'Changes all of what is given or nothing. A `source` is replaced as a whole; the rows of the live version stay until the next import. Source, schedule and update strategy are those of worker datasources, and a schedule that of an address. `eventRetentionDays` is of datasources of events alone: older ones are removed for good, a day after it was set at the earliest. A team keeps the datasource while a published workflow of it, and of no other team of the datasource, reads it.',
  audit: { action: 'datasource-update', target },
  errors: [
    'datasourceNotFound',
    'unknownTeam',
    'notInTeam',
    'notAWorkerDatasource',
    'notAnEventDatasource',
    'invalidDatasource',
    'datasourceInUse',
  ],
  examples: {
    renamed: example('Another name', { name: 'Catalogue' }),
    year: example('Events are kept for a year', { eventRetentionDays: 365 }),
    hourly: example('Fetched every hour', { schedule: { everyMinutes: 60 } }),
  },
  ...answers('The datasource', Datasource, { params: datasourceId, body: DatasourceUpdate }),
} as const satisfies Operation

export const deleteDatasource = {
  ...operation('deleteDatasource', 'DELETE', '/v2/datasources/:id', 'datasource:delete'),
  summary: 'Delete a datasource',
  description:
    'A worker datasource goes with its rows, its files and its imports. A tracking datasource takes no more events from then on, and those that it has collected leave the statistics at once; for 7 days the deletion can be undone, then they leave the disk. With `purge=now` they leave it soon, and `confirm` has to be its name. Refused while workflows use it, and for the datasource of workflow events.',
  audit: { action: 'datasource-delete', target },
  errors: ['datasourceNotFound', 'datasourceInUse', 'datasourceNotConfirmed', 'conflict'],
  ...succeeds('It is deleted', {
    params: datasourceId,
    querystring: object({
      purge: Type.Optional(oneOf(['now'], 'That there is no way back')),
      confirm: Type.Optional(text('Its name, where there is no way back', 'Website', { maxLength: 200 })),
    }),
  }),
} as const satisfies Operation

export const listDeletedDatasources = {
  ...operation('listDeletedDatasources', 'GET', '/v2/datasources/deleted', 'datasource:delete'),
  summary: 'List datasources whose deletion can be undone',
  description: 'The last one that was deleted first.',
  ...lists('One page of deleted datasources', DeletedDatasource),
} as const satisfies Operation

export const restoreDatasource = {
  ...operation('restoreDatasource', 'POST', '/v2/datasources/:id/restore', 'datasource:delete'),
  summary: 'Undo the deletion of a datasource',
  description:
    'It is as it was: active or paused. Events that it has collected are in the statistics again within a minute.',
  audit: { action: 'datasource-restore', target },
  errors: ['datasourceNotFound', 'tooManyDatasources'],
  ...answers('The datasource', Datasource, { params: datasourceId }),
} as const satisfies Operation

export const pauseDatasource = {
  ...operation('pauseDatasource', 'POST', '/v2/datasources/:id/pause', 'datasource:update'),
  summary: 'Pause a datasource',
  description:
    'A paused worker datasource is not imported, by schedule or by hand, and its rows stay; the collector answers 404 for a paused tracking datasource within seconds. An import that is under way ends. The datasource of workflow events is never paused.',
  audit: { action: 'datasource-pause', target },
  errors: ['datasourceNotFound', 'conflict'],
  ...answers('The datasource', Datasource, { params: datasourceId }),
} as const satisfies Operation

export const resumeDatasource = {
  ...operation('resumeDatasource', 'POST', '/v2/datasources/:id/resume', 'datasource:update'),
  summary: 'Resume a datasource',
  description: 'Planned times that have passed meanwhile are not made up for.',
  audit: { action: 'datasource-resume', target },
  errors: ['datasourceNotFound'],
  ...answers('The datasource', Datasource, { params: datasourceId }),
} as const satisfies Operation

export const refreshDatasource = {
  ...operation('refreshDatasource', 'POST', '/v2/datasources/:id/refresh', 'datasource:update'),
  summary: 'Import a datasource again',
  description:
    'Queues an import of the address, or of the stored file, with the fields of the live version, and answers at once.',
  errors: [
    'datasourceNotFound',
    'notAWorkerDatasource',
    'datasourcePaused',
    'datasourceNotLive',
    'datasourceWithoutContent',
    'datasourceImports',
  ],
  ...answers('The datasource, with status `updating`', Datasource, { params: datasourceId }),
} as const satisfies Operation

export const uploadContent = {
  ...operation('uploadContent', 'PUT', '/v2/datasources/:id/content', 'datasource:update'),
  summary: 'Upload the content of a datasource',
  description:
    'The body is the file itself, not a form: CSV, JSON, NDJSON, XML, XLSX or Parquet, also packed with gzip or zip, up to `MILLRACE_MAX_UPLOAD_BYTES`. It replaces what was stored once it is there whole; a broken upload changes nothing. A datasource that is live is imported at once. The name of the file can be given as the query parameter `fileName`.',
  audit: { action: 'datasource-content', target },
  errors: [
    'datasourceNotFound',
    'notAWorkerDatasource',
    'sourceIsAnAddress',
    'unsupportedMediaType',
    'contentTooLarge',
    'emptyContent',
    'contentNotStored',
    'storageFull',
    'tooManyRequests',
  ],
  consumes: ['application/octet-stream'],
  ...answers('The datasource', Datasource, {
    params: datasourceId,
    querystring: object({
      fileName: Type.Optional(
        text('Name of the file, whose ending says its form', 'products.csv.gz', {
          minLength: 1,
          maxLength: 255,
          pattern: fileNamePattern,
        }),
      ),
    }),
  }),
} as const satisfies Operation

export const updateFields = {
  ...operation('updateFields', 'PATCH', '/v2/datasources/:id/fields', 'datasource:update'),
  summary: 'Choose the fields of a datasource',
  description:
    'Sets the fields of the draft: the whole list as `fields`, as the analysis answers it, or `changes` of some by name. At most 64 are selected, names are unique and match `^[a-z][a-z0-9_-]*$`, and at most one is the key. The live version stays as it is until the draft goes live.',
  audit: { action: 'datasource-update', target },
  errors: ['datasourceNotFound', 'notAWorkerDatasource', 'invalidFields'],
  examples: {
    whole: example('The whole list, as the analysis answers it', {
      fields: [
        {
          name: 'sku',
          type: 'reference_id',
          primitive: 'string',
          selected: true,
          isKey: true,
          rulesPerSources: { 0: [{ name: 'path', params: { value: 'sku' } }] },
        },
        {
          name: 'price',
          type: 'number',
          primitive: 'number',
          selected: true,
          ignoreIfMissing: true,
          rulesPerSources: { 0: [{ name: 'path', params: { value: 'price' } }] },
        },
      ],
    }),
    key: example('Two of the fields, one of them the key', {
      changes: [
        { name: 'sku', selected: true, isKey: true },
        { name: 'price', selected: true },
      ],
    }),
  },
  ...answers('The datasource', Datasource, { params: datasourceId, body: WorkerFieldsUpdate }),
} as const satisfies Operation

export const publishDatasource = {
  ...operation('publishDatasource', 'POST', '/v2/datasources/:id/versions/live', 'datasource:update'),
  summary: 'Bring the draft of a datasource live',
  description:
    'Queues an import with the fields of the draft and answers at once. The draft is live once the import has succeeded; until then, and when it fails, the live version stays.',
  audit: { action: 'datasource-publish', target },
  errors: [
    'datasourceNotFound',
    'notAWorkerDatasource',
    'datasourcePaused',
    'datasourceWithoutSource',
    'datasourceWithoutContent',
    'datasourceWithoutFields',
    'invalidFields',
    'datasourceImports',
  ],
  ...answers('The datasource, with status `updating`', Datasource, { params: datasourceId }),
} as const satisfies Operation

export const listImports = {
  ...operation('listImports', 'GET', '/v2/datasources/:id/imports', 'datasource:read'),
  summary: 'List the imports of a datasource',
  description:
    'The newest first, page by page; the progress of one that runs moves every second. Kept for 90 days.',
  errors: ['datasourceNotFound', 'notAWorkerDatasource'],
  ...lists('One page of imports', DatasourceImport, {}, { params: datasourceId }),
} as const satisfies Operation

export const queryDatasource = {
  ...operation('queryDatasource', 'POST', '/v2/datasources/query', 'datasource:read'),
  summary: 'Query the rows of a datasource',
  description:
    'Answers rows of the live version page by page, the first 10,000 at most; `paginationCount` counts no further than that. The operators of each field are in `queriableFields` of the datasource. Depth of the tree at most 5, leaves at most 50, time at most 5 s.',
  idempotent: true,
  errors: [
    'datasourceNotFound',
    'notAWorkerDatasource',
    'datasourceNotLive',
    'invalidDatasourceQuery',
    'datasourceQueryTooSlow',
    'tooManyRequests',
  ],
  examples: {
    cheap: example('Rows of two brands that cost less than 20', {
      datasourceId: sample,
      query: { $and: [{ brand: { $eq: ['Acme', 'Bolt'] } }, { price: { $lt: 20 } }] },
      sort: [{ field: 'price', order: 'asc' }],
    }),
  },
  ...lists(
    'One page of rows, each with its fields by name',
    freeObject('The fields of a row; one without a value is null'),
    {},
    { body: DatasourceQuery },
  ),
} as const satisfies Operation
