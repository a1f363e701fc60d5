import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, lists, operationsOf } from '../operation-builders.ts'
import {
  Datasource,
  DatasourceCreation,
  datasourceStatuses,
  datasourceTypes,
} from '../resources/datasource.ts'
import { DatasourceCounters } from '../resources/datasource-counters.ts'
import { DatasourceField } from '../resources/datasource-field.ts'
import { DatasourceLogEntry, datasourceLogKinds } from '../resources/datasource-log.ts'
import { id, idParams, nameText, object, oneOf, sorting, text } from '../resources/formats.ts'

const operation = operationsOf('Datasources')
const datasourceId = idParams('Identifier of the datasource')

/** Operation 13. */
export const analyzeDatasource = {
  ...operation('analyzeDatasource', 'POST', '/v2/datasources/worker/:id/analyzer', 'datasource:update'),
  number: 13,
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
  ...answers(
    'The fields found',
    object({ fields: Type.Array(DatasourceField) }),
    { params: datasourceId },
    {
      price: example('One field', {
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
      }),
    },
  ),
} as const satisfies Operation

export const listDatasources = {
  ...operation('listDatasources', 'GET', '/v2/datasources', 'datasource:read'),
  summary: 'List datasources',
  description: 'The datasources that your teams see, the oldest first unless they are sorted, page by page.',
  ...lists('One page of datasources', Datasource, {
    name: Type.Optional(nameText('Only those whose name contains it, whatever its case')),
    mode: Type.Optional(oneOf(['ingester', 'worker'], 'Only those that take events, or that hold rows')),
    type: Type.Optional(oneOf(datasourceTypes, 'Only those of this type')),
    status: Type.Optional(oneOf(datasourceStatuses, 'Only those with this status')),
    resourceGroupId: Type.Optional(id('Only those that this team sees')),
    ...sorting(['name', 'updatedAt', 'createdAt'], '`createdAt`, ascending,'),
  }),
} as const satisfies Operation

export const createDatasource = {
  ...operation('createDatasource', 'POST', '/v2/datasources', 'datasource:create'),
  access: 'Datasource: create, and membership of every team in `resourceGroupIds`',
  summary: 'Create a datasource',
  description:
    'Without `mode` a tracking datasource, for which the collector takes events at once: post them to `{collector_url}/collect/{id}/tracker`. With `mode` `worker` a datasource of rows, in draft: upload its content or name its address, analyse it, choose fields, and bring it live.',
  audit: { action: 'datasource-create', target: 'datasource' },
  errors: ['unknownTeam', 'notInTeam', 'invalidDatasource', 'tooManyDatasources'],
  examples: {
    shop: example('For all your teams', { name: 'Web shop' }),
    teams: example('For one team', { name: 'Mobile app', resourceGroupIds: ['65f0c0ffee5ca1ab1e0ddba1'] }),
    worker: example('Products, fetched every hour', {
      name: 'Products',
      mode: 'worker',
      type: 'product',
      source: { type: 'url', url: 'https://shop.example/products.csv' },
      schedule: { everyMinutes: 60 },
    }),
  },
  ...answers('The datasource', Datasource, { body: DatasourceCreation }),
} as const satisfies Operation

export const listDatasourceLogs = {
  ...operation('listDatasourceLogs', 'GET', '/v2/datasources/:id/logs', 'datasource:read'),
  summary: 'Read the log of a datasource',
  description:
    'Says for each dropped event and each changed field which rule it met, at which path, and shows a masked sample; for a worker datasource the same of the rows of its imports. The newest first, page by page. Lines are kept for 30 days. The answer of the collector never says any of it, so look here when events seem to be missing.',
  errors: ['datasourceNotFound', 'tooManyRequests', 'unavailable'],
  ...lists(
    'One page of the log',
    DatasourceLogEntry,
    {
      kind: Type.Optional(oneOf(datasourceLogKinds, 'Only lines of this kind')),
      rule: Type.Optional(text('Only lines of this rule', 'key-mismatch', { minLength: 1, maxLength: 100 })),
      from: Type.Optional(
        Type.String({ format: 'date-time', description: 'Only lines received at or after this instant' }),
      ),
      to: Type.Optional(
        Type.String({ format: 'date-time', description: 'Only lines received before this instant' }),
      ),
    },
    { params: datasourceId },
    {
      joined: example('A purchase that was dropped', [
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
      ]),
    },
  ),
} as const satisfies Operation

export const watchDatasource = {
  ...operation('watchDatasource', 'GET', '/v2/datasources/:id/activity', 'datasource:read'),
  summary: 'Watch the events of a datasource as they come',
  description: [
    'Server-sent events, one for each event that the collector takes while you listen: what became of it, its name, its address without query, the kind of sender, and a short text in the place of the person. It never shows labels, items, amounts, network addresses or identities. Nothing is repeated: what came before is in the log and the statistics.',
    'Messages: `open` at once; `activity` (`outcome`: `accepted`, `changed`, `dropped`, `bot`, or `refused` for a whole request); `sampled` for a second in which more than 50 came, with how many of each outcome are not shown; `skipped` where you read too slowly, with how many you missed; `end` with the reason before the stream ends, as when the token ends or the role changes; a comment every 15 seconds. Duplicates are found when events are loaded: the counters have them.',
    'A process shows what it takes itself: behind a balancer with several processes that is a part of all. A user has at most 5 streams at once, a company 30 in each process.',
  ].join('\n\n'),
  errors: ['datasourceNotFound', 'tooManyRequests'],
  replies: { 200: { description: 'The stream, until either side ends it' } },
  schema: { params: datasourceId, response: { 200: Type.String({ contentMediaType: 'text/event-stream' }) } },
} as const satisfies Operation

export const readDatasourceCounters = {
  ...operation('readDatasourceCounters', 'GET', '/v2/datasources/:id/counters', 'datasource:read'),
  summary: 'Read the counters of a datasource',
  description:
    'What became of the events that the collector answered for: exact counts, which move when events are loaded (within seconds). Always `sent` = `accepted` + `dropped` + `bot` + `duplicate`.',
  errors: ['datasourceNotFound'],
  ...answers(
    'The counters',
    DatasourceCounters,
    { params: datasourceId },
    {
      counters: example('A healthy datasource', {
        datasourceId: '65f0c0ffee5ca1ab1e0ddba1',
        sent: 10_250,
        accepted: 10_000,
        changed: 12,
        dropped: 40,
        bot: 200,
        duplicate: 10,
        updatedAt: '2026-01-31T12:00:00.000Z',
      }),
    },
  ),
} as const satisfies Operation
