import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { example, operationsOf } from '../operation-builders.ts'
import { CollectedEvent } from '../resources/collected-event.ts'
import { id, object } from '../resources/formats.ts'

const operation = operationsOf('Collector', 'collector')

const event = {
  key: '65f0c0ffee5ca1ab1e0ddba1',
  name: 'purchase',
  url: 'https://shop.example/checkout',
  tmpId: 'k3v9x1',
  clientId: 'customer-42',
  data: { ids: ['sku-1', 'sku-2'], value: 59.9, transId: 'A-1001', currency: 'EUR' },
  eventId: '0b0f7e0e-6f0c-4a57-9d0c-6f6b4f0f2c11',
  v: 1,
}

/**
 * Operation 19. Neither the path nor the body is validated by schema: the collector answers by its own rules,
 * event by event (`events/rules.ts`).
 */
export const collectEvents = {
  ...operation('collectEvents', 'POST', '/collect/:datasourceId/tracker'),
  number: 19,
  summary: 'Send events',
  description: `Takes one event or up to 2,000: as JSON, form-encoded, or one JSON object per line, of at most 5 MB; gzip, deflate and br are inflated within that bound. \`text/plain\` bodies, as browsers' beacons send them, are read as JSON. There is no token: the datasource is known by its identifier, and \`key\` must be the company that owns it.

200 means that the events are on disk. What is wrong with single events or fields is never in the answer: it is in the log of the datasource.

Send again only after transport failures and 5xx answers, with the same \`eventId\`: an event counts once for its datasource within 7 days.`,
  idempotent: true,
  errors: [
    'emptyEvents',
    'malformedEvents',
    'invalidDatasourceId',
    'datasourceNotFound',
    'eventsTooLarge',
    'unsupportedMediaType',
    'eventsNotDurable',
    'collectorOverloaded',
  ],
  consumes: ['application/json', 'application/x-ndjson', 'application/x-www-form-urlencoded', 'text/plain'],
  described: {
    params: object({ datasourceId: id('Identifier of the datasource') }),
    body: Type.Union([CollectedEvent, Type.Array(CollectedEvent, { minItems: 1, maxItems: 2_000 })], {
      description: 'One event, or an array of events that are validated separately',
    }),
  },
  examples: {
    one: example('One event', event),
    batch: example('Several events', [
      {
        ...event,
        name: 'page_view',
        data: {},
        eventId: '5f6d1c52-3f7e-4a2f-8a3c-8f3d1c0e7a01',
        timestamp: 1767225600000,
      },
      event,
    ]),
  },
  replies: {
    200: { description: 'The events are on disk; the body is empty' },
    202: { description: 'Dropped as the traffic of a crawler, by the `User-Agent`; the body is empty' },
  },
  schema: { response: { 200: Type.Null(), 202: Type.Null() } },
} as const satisfies Operation
