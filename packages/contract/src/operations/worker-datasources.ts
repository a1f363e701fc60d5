import { Type } from 'typebox'
import { EmptyObject, paginatedEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { Datasource, DatasourceUpdate } from '../resources/datasource.ts'
import { DatasourceImport } from '../resources/datasource-import.ts'
import { DatasourceQuery } from '../resources/datasource-query.ts'
import { WorkerFieldsUpdate } from '../resources/datasource-version.ts'
import { fileNamePattern, freeObject, idParams, pagination, strict } from '../resources/formats.ts'

const datasourceRead = { resource: 'datasource', action: 'read' } as const
const datasourceUpdate = { resource: 'datasource', action: 'update' } as const
const datasourceId = idParams('Identifier of the datasource')
const target = 'datasource'
const example = '65f0c0ffee5ca1ab1e0ddba1'

export const readDatasource = {
  id: 'readDatasource',
  extension: true,
  method: 'GET',
  url: '/v2/datasources/:id',
  scope: 'authenticated',
  permission: datasourceRead,
  tag: 'Datasources',
  summary: 'Read a datasource',
  description:
    'With its versions: the draft holds the fields as they are chosen, the live version the rows. The values of request headers are never answered.',
  errors: ['datasourceNotFound'],
  replies: { 200: { description: 'The datasource' } },
  schema: { params: datasourceId, response: { 200: successEnvelope(Datasource) } },
} as const satisfies Operation

export const updateDatasource = {
  id: 'updateDatasource',
  extension: true,
  method: 'PATCH',
  url: '/v2/datasources/:id',
  scope: 'authenticated',
  permission: datasourceUpdate,
  access: 'Datasource: update, and membership of every team that is added to `resourceGroupIds`',
  audit: { action: 'datasource-update', target },
  tag: 'Datasources',
  summary: 'Change a datasource',
  description:
    'Changes all of what is given or nothing. A `source` is replaced as a whole; the rows of the live version stay until the next import. Source, schedule and update strategy are those of worker datasources, and a schedule that of an address. A team keeps the datasource while a published workflow of it, and of no other team of the datasource, reads it.',
  errors: [
    'datasourceNotFound',
    'unknownTeam',
    'notInTeam',
    'notAWorkerDatasource',
    'invalidDatasource',
    'datasourceInUse',
  ],
  examples: {
    renamed: { summary: 'Another name', value: { name: 'Catalogue' } },
    hourly: { summary: 'Fetched every hour', value: { schedule: { everyMinutes: 60 } } },
  },
  replies: { 200: { description: 'The datasource' } },
  schema: { params: datasourceId, body: DatasourceUpdate, response: { 200: successEnvelope(Datasource) } },
} as const satisfies Operation

export const deleteDatasource = {
  id: 'deleteDatasource',
  extension: true,
  method: 'DELETE',
  url: '/v2/datasources/:id',
  scope: 'authenticated',
  permission: { resource: 'datasource', action: 'delete' },
  audit: { action: 'datasource-delete', target },
  tag: 'Datasources',
  summary: 'Delete a datasource',
  description:
    'A worker datasource goes with its rows, its files and its imports. A tracking datasource takes no more events from then on, and those that it has collected stay in statistics. Refused while workflows use it, and for the datasource of workflow events.',
  errors: ['datasourceNotFound', 'datasourceInUse', 'conflict'],
  replies: { 200: { description: 'It is deleted' } },
  schema: { params: datasourceId, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation

export const pauseDatasource = {
  id: 'pauseDatasource',
  extension: true,
  method: 'POST',
  url: '/v2/datasources/:id/pause',
  scope: 'authenticated',
  permission: datasourceUpdate,
  audit: { action: 'datasource-pause', target },
  tag: 'Datasources',
  summary: 'Pause a datasource',
  description:
    'A paused worker datasource is not imported, by schedule or by hand, and its rows stay; the collector answers 404 for a paused tracking datasource within seconds. An import that is under way ends. The datasource of workflow events is never paused.',
  errors: ['datasourceNotFound', 'conflict'],
  replies: { 200: { description: 'The datasource' } },
  schema: { params: datasourceId, response: { 200: successEnvelope(Datasource) } },
} as const satisfies Operation

export const resumeDatasource = {
  id: 'resumeDatasource',
  extension: true,
  method: 'POST',
  url: '/v2/datasources/:id/resume',
  scope: 'authenticated',
  permission: datasourceUpdate,
  audit: { action: 'datasource-resume', target },
  tag: 'Datasources',
  summary: 'Resume a datasource',
  description: 'Planned times that have passed meanwhile are not made up for.',
  errors: ['datasourceNotFound'],
  replies: { 200: { description: 'The datasource' } },
  schema: { params: datasourceId, response: { 200: successEnvelope(Datasource) } },
} as const satisfies Operation

export const refreshDatasource = {
  id: 'refreshDatasource',
  extension: true,
  method: 'POST',
  url: '/v2/datasources/:id/refresh',
  scope: 'authenticated',
  permission: datasourceUpdate,
  tag: 'Datasources',
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
  replies: { 200: { description: 'The datasource, with status `updating`' } },
  schema: { params: datasourceId, response: { 200: successEnvelope(Datasource) } },
} as const satisfies Operation

export const uploadContent = {
  id: 'uploadContent',
  extension: true,
  method: 'PUT',
  url: '/v2/datasources/:id/content',
  scope: 'authenticated',
  permission: datasourceUpdate,
  audit: { action: 'datasource-content', target },
  tag: 'Datasources',
  summary: 'Upload the content of a datasource',
  description:
    'The body is the file itself, not a form: CSV, JSON, NDJSON, XML, XLSX or Parquet, also packed with gzip or zip, up to `MILLRACE_MAX_UPLOAD_BYTES`. It replaces what was stored once it is there whole; a broken upload changes nothing. A datasource that is live is imported at once. The name of the file can be given as the query parameter `fileName`.',
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
  replies: { 200: { description: 'The datasource' } },
  schema: {
    params: datasourceId,
    querystring: Type.Object(
      {
        fileName: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 255,
            pattern: fileNamePattern,
            description: 'Name of the file, whose ending says its form',
            examples: ['products.csv.gz'],
          }),
        ),
      },
      strict,
    ),
    response: { 200: successEnvelope(Datasource) },
  },
} as const satisfies Operation

export const updateFields = {
  id: 'updateFields',
  extension: true,
  method: 'PATCH',
  url: '/v2/datasources/:id/fields',
  scope: 'authenticated',
  permission: datasourceUpdate,
  audit: { action: 'datasource-update', target },
  tag: 'Datasources',
  summary: 'Choose the fields of a datasource',
  description:
    'Sets the fields of the draft: the whole list as `fields`, as the analysis answers it, or `changes` of some by name. At most 64 are selected, names are unique and match `^[a-z][a-z0-9_-]*$`, and at most one is the key. The live version stays as it is until the draft goes live.',
  errors: ['datasourceNotFound', 'notAWorkerDatasource', 'invalidFields'],
  examples: {
    whole: {
      summary: 'The whole list, as the analysis answers it',
      value: {
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
      },
    },
    key: {
      summary: 'Two of the fields, one of them the key',
      value: {
        changes: [
          { name: 'sku', selected: true, isKey: true },
          { name: 'price', selected: true },
        ],
      },
    },
  },
  replies: { 200: { description: 'The datasource' } },
  schema: { params: datasourceId, body: WorkerFieldsUpdate, response: { 200: successEnvelope(Datasource) } },
} as const satisfies Operation

export const publishDatasource = {
  id: 'publishDatasource',
  extension: true,
  method: 'POST',
  url: '/v2/datasources/:id/versions/live',
  scope: 'authenticated',
  permission: datasourceUpdate,
  audit: { action: 'datasource-publish', target },
  tag: 'Datasources',
  summary: 'Bring the draft of a datasource live',
  description:
    'Queues an import with the fields of the draft and answers at once. The draft is live once the import has succeeded; until then, and when it fails, the live version stays.',
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
  replies: { 200: { description: 'The datasource, with status `updating`' } },
  schema: { params: datasourceId, response: { 200: successEnvelope(Datasource) } },
} as const satisfies Operation

export const listImports = {
  id: 'listImports',
  extension: true,
  method: 'GET',
  url: '/v2/datasources/:id/imports',
  scope: 'authenticated',
  permission: datasourceRead,
  tag: 'Datasources',
  summary: 'List the imports of a datasource',
  description:
    'The newest first, page by page; the progress of one that runs moves every second. Kept for 90 days.',
  errors: ['datasourceNotFound', 'notAWorkerDatasource'],
  replies: { 200: { description: 'One page of imports' } },
  schema: {
    params: datasourceId,
    querystring: Type.Object({ ...pagination }, strict),
    response: { 200: paginatedEnvelope(DatasourceImport) },
  },
} as const satisfies Operation

export const queryDatasource = {
  id: 'queryDatasource',
  extension: true,
  method: 'POST',
  url: '/v2/datasources/query',
  scope: 'authenticated',
  permission: datasourceRead,
  tag: 'Datasources',
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
    cheap: {
      summary: 'Rows of two brands that cost less than 20',
      value: {
        datasourceId: example,
        query: { $and: [{ brand: { $eq: ['Acme', 'Bolt'] } }, { price: { $lt: 20 } }] },
        sort: [{ field: 'price', order: 'asc' }],
      },
    },
  },
  replies: { 200: { description: 'One page of rows, each with its fields by name' } },
  schema: {
    querystring: Type.Object({ ...pagination }, strict),
    body: DatasourceQuery,
    response: { 200: paginatedEnvelope(freeObject('The fields of a row; one without a value is null')) },
  },
} as const satisfies Operation
