import { Type } from 'typebox'
import type { ErrorRow } from '../error-row.ts'
import { ById, BySource, Limit, Nothing, Retry } from '../failure-data.ts'
import { strict } from '../resources/formats.ts'

/** Datasources and the collector: codes 1000 to 1999. */
export const datasourceErrors = {
  datasourceNotFound: {
    errorCode: 1000,
    status: 404,
    message: 'No datasource matches this identifier',
    data: ById,
  },
  invalidDatasourceId: {
    errorCode: 1001,
    status: 400,
    message: 'The datasource identifier is 24 hexadecimal characters',
    data: ById,
  },
  emptyEvents: {
    errorCode: 1002,
    status: 400,
    message: 'The body is empty: send an event or an array of events',
    data: Nothing,
  },
  malformedEvents: {
    errorCode: 1003,
    status: 400,
    message: 'The body cannot be parsed as events',
    data: Type.Object(
      { reason: Type.String({ examples: ['the JSON ends early, at position 118'] }) },
      strict,
    ),
  },
  eventsTooLarge: {
    errorCode: 1004,
    status: 413,
    message: 'The body holds more than one request may carry',
    data: Limit,
  },
  eventsNotDurable: {
    errorCode: 1005,
    status: 503,
    message: 'Events cannot be made durable at the moment, send them again',
    data: Retry,
  },
  collectorOverloaded: {
    errorCode: 1006,
    status: 503,
    message: 'More events arrive than can be written, send them again later',
    data: Retry,
  },
  datasourceWithoutSource: {
    errorCode: 1010,
    status: 400,
    message: 'This datasource has no source to analyse',
    data: ById,
  },
  sourceNotReachable: {
    errorCode: 1011,
    status: 400,
    message: 'The source of this datasource cannot be reached',
    data: BySource,
  },
  sampleFailed: {
    errorCode: 1012,
    status: 400,
    message: 'Failed to get sample',
    data: BySource,
  },
} as const satisfies Record<string, ErrorRow>
