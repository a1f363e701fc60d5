import { Type } from 'typebox'
import { paginatedEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import {
  Datasource,
  DatasourceCreation,
  datasourceStatuses,
  datasourceTypes,
} from '../resources/datasource.ts'
import { DatasourceCounters } from '../resources/datasource-counters.ts'
import { DatasourceField } from '../resources/datasource-field.ts'
import { DatasourceLogEntry, datasourceLogKinds } from '../resources/datasource-log.ts'
import { id, idParams, nameText, oneOf, pagination, strict } from '../resources/formats.ts'

const datasourceRead = { resource: 'datasource', action: 'read' } as const
const datasourceId = idParams('Identifier of the datasource')

/** Operation 13. */
export const analyzeDatasource = {
  id: 'analyzeDatasource',
  number: 13,
  method: 'POST',
  url: '/v2/datasources/worker/:id/analyzer',
  scope: 'authenticated',
  permission: { resource: 'datasource', action: 'update' },
  tag: 'Datasources',
  summary: 'Analyse the content of a datasource',
  description:
    'Looks at a sample of the source and proposes one field for each attribute that it finds, with its meaning and how it is stored. It changes nothing. A body is not needed.',
  errors: [
    'datasourceNotFound',
    'notAWorkerDatasource',
    'datasourceWithoutSource',
    'sourceNotReachable',
    'sampleFailed',
    'tooManyRequests',
  ],
  replies: {
    200: {
      description: 'The fields found',
      examples: {
        price: {
          summary: 'One field',
          value: {
            fields: [
              {
                name: 'price',
                type: 'price',
                selected: false,
                primitive: 'number',
                rulesPerSources: { '0': [{ name: 'path', params: { value: 'price' } }] },
                source: 'user',
                ignoreIfMissing: true,
                metadata: { locale: 'de' },
              },
            ],
          },
        },
      },
    },
  },
  schema: {
    params: datasourceId,
    response: { 200: successEnvelope(Type.Object({ fields: Type.Array(DatasourceField) }, strict)) },
  },
} as const satisfies Operation

export const listDatasources = {
  id: 'listDatasources',
  extension: true,
  method: 'GET',
  url: '/v2/datasources',
  scope: 'authenticated',
  permission: datasourceRead,
  tag: 'Datasources',
  summary: 'List datasources',
  description: 'The datasources that your teams see, the oldest first, page by page.',
  errors: [],
  replies: { 200: { description: 'One page of datasources' } },
  schema: {
    querystring: Type.Object(
      {
        ...pagination,
        name: Type.Optional(nameText('Only those whose name contains it, whatever its case')),
        mode: Type.Optional(
          oneOf(['ingester', 'worker'], { description: 'Only those that take events, or that hold rows' }),
        ),
        type: Type.Optional(oneOf(datasourceTypes, { description: 'Only those of this type' })),
        status: Type.Optional(oneOf(datasourceStatuses, { description: 'Only those with this status' })),
        resourceGroupId: Type.Optional(id('Only those that this team sees')),
      },
      strict,
    ),
    response: { 200: paginatedEnvelope(Datasource) },
  },
} as const satisfies Operation

export const createDatasource = {
  id: 'createDatasource',
  extension: true,
  method: 'POST',
  url: '/v2/datasources',
  scope: 'authenticated',
  permission: { resource: 'datasource', action: 'create' },
  access: 'Datasource: create, and membership of every team in `resourceGroupIds`',
  tag: 'Datasources',
  audit: { action: 'datasource-create', target: 'datasource' },
  summary: 'Create a datasource',
  description:
    'Without `mode` a tracking datasource, for which the collector takes events at once: post them to `{collector_url}/collect/{id}/tracker`. With `mode` `worker` a datasource of rows, in draft: upload its content or name its address, analyse it, choose fields, and bring it live.',
  errors: ['unknownTeam', 'notInTeam', 'invalidDatasource', 'tooManyDatasources'],
  examples: {
    shop: { summary: 'For all your teams', value: { name: 'Web shop' } },
    teams: {
      summary: 'For one team',
      value: { name: 'Mobile app', resourceGroupIds: ['65f0c0ffee5ca1ab1e0ddba1'] },
    },
    worker: {
      summary: 'Products, fetched every hour',
      value: {
        name: 'Products',
        mode: 'worker',
        type: 'product',
        source: { type: 'url', url: 'https://shop.example/products.csv' },
        schedule: { everyMinutes: 60 },
      },
    },
  },
  replies: { 200: { description: 'The datasource' } },
  schema: { body: DatasourceCreation, response: { 200: successEnvelope(Datasource) } },
} as const satisfies Operation

export const listDatasourceLogs = {
  id: 'listDatasourceLogs',
  extension: true,
  method: 'GET',
  url: '/v2/datasources/:id/logs',
  scope: 'authenticated',
  permission: datasourceRead,
  tag: 'Datasources',
  summary: 'Read the log of a datasource',
  description:
    'Says for each dropped event and each changed field which rule it met, at which path, and shows a masked sample; for a worker datasource the same of the rows of its imports. The newest first, page by page. Lines are kept for 30 days. The answer of the collector never says any of it, so look here when events seem to be missing.',
  errors: ['datasourceNotFound', 'tooManyRequests', 'unavailable'],
  replies: {
    200: {
      description: 'One page of the log',
      examples: {
        joined: {
          summary: 'A purchase that was dropped',
          value: [
            {
              id: '40217',
              datasourceId: '65f0c0ffee5ca1ab1e0ddba1',
              receivedAt: '2026-01-31T12:00:00.000Z',
              kind: 'dropped',
              rule: 'purchase-value-joined',
              path: 'data.value',
              sample: '"##,#;##,#"',
              count: 1,
            },
          ],
        },
      },
    },
  },
  schema: {
    params: datasourceId,
    querystring: Type.Object(
      {
        ...pagination,
        kind: Type.Optional(oneOf(datasourceLogKinds, { description: 'Only lines of this kind' })),
        rule: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 100,
            description: 'Only lines of this rule',
            examples: ['key-mismatch'],
          }),
        ),
        from: Type.Optional(
          Type.String({ format: 'date-time', description: 'Only lines received at or after this instant' }),
        ),
        to: Type.Optional(
          Type.String({ format: 'date-time', description: 'Only lines received before this instant' }),
        ),
      },
      strict,
    ),
    response: { 200: paginatedEnvelope(DatasourceLogEntry) },
  },
} as const satisfies Operation

export const readDatasourceCounters = {
  id: 'readDatasourceCounters',
  extension: true,
  method: 'GET',
  url: '/v2/datasources/:id/counters',
  scope: 'authenticated',
  permission: datasourceRead,
  tag: 'Datasources',
  summary: 'Read the counters of a datasource',
  description:
    'What became of the events that the collector answered for: exact counts, which move when events are loaded (within seconds). Always `sent` = `accepted` + `dropped` + `bot` + `duplicate`.',
  errors: ['datasourceNotFound'],
  replies: {
    200: {
      description: 'The counters',
      examples: {
        counters: {
          summary: 'A healthy datasource',
          value: {
            datasourceId: '65f0c0ffee5ca1ab1e0ddba1',
            sent: 10_250,
            accepted: 10_000,
            changed: 12,
            dropped: 40,
            bot: 200,
            duplicate: 10,
            updatedAt: '2026-01-31T12:00:00.000Z',
          },
        },
      },
    },
  },
  schema: { params: datasourceId, response: { 200: successEnvelope(DatasourceCounters) } },
} as const satisfies Operation
