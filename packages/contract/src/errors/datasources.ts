import { Type } from 'typebox'
import type { ErrorRow } from '../error-row.ts'
import { anId, ById, BySource, Faults, Limit, Nothing, Retry } from '../failure-data.ts'
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
  writeKeyMissing: {
    errorCode: 1007,
    status: 401,
    message:
      'Send the identifier of the datasource as write key: the user name of Basic authentication, or writeKey in the body',
    data: Nothing,
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
  notAWorkerDatasource: {
    errorCode: 1020,
    status: 409,
    message: 'Only a worker datasource has this; events of a tracking datasource come by the collector',
    data: ById,
  },
  datasourceWithoutContent: {
    errorCode: 1021,
    status: 409,
    message: 'This datasource has no content yet: send a file to its content',
    data: ById,
  },
  datasourceWithoutFields: {
    errorCode: 1022,
    status: 409,
    message: 'This datasource has no selected field: analyse it and select the fields to keep',
    data: ById,
  },
  invalidFields: {
    errorCode: 1023,
    status: 400,
    message: 'The fields cannot be kept',
    data: Faults,
  },
  datasourceImports: {
    errorCode: 1024,
    status: 409,
    message: 'An import of this datasource is under way: wait for its end',
    data: ById,
  },
  datasourcePaused: {
    errorCode: 1025,
    status: 409,
    message: 'This datasource is paused: resume it first',
    data: ById,
  },
  datasourceInUse: {
    errorCode: 1026,
    status: 409,
    message: 'Workflows use this datasource',
    data: Type.Object(
      {
        id: anId,
        workflows: Type.Array(
          Type.Object({ id: anId, name: Type.String({ examples: ['Home page'] }) }, strict),
          { minItems: 1 },
        ),
      },
      strict,
    ),
  },
  datasourceNotLive: {
    errorCode: 1027,
    status: 409,
    message:
      'This datasource has no live version yet: bring its draft live by POST /v2/datasources/{id}/versions/live',
    data: ById,
  },
  invalidDatasourceQuery: {
    errorCode: 1028,
    status: 400,
    message: 'The query cannot be answered',
    data: Faults,
  },
  datasourceQueryTooSlow: {
    errorCode: 1029,
    status: 400,
    message: 'The query took longer than 5 s: ask for the key, or for fewer conditions',
    data: ById,
  },
  contentTooLarge: {
    errorCode: 1030,
    status: 413,
    message: 'The content is larger than what a datasource may hold',
    data: Limit,
  },
  emptyContent: {
    errorCode: 1031,
    status: 400,
    message: 'The content is empty: send the file itself as the body',
    data: ById,
  },
  sourceIsAnAddress: {
    errorCode: 1032,
    status: 409,
    message: 'This datasource is fetched from an address; set its source to a file to upload content',
    data: ById,
  },
  tooManyDatasources: {
    errorCode: 1033,
    status: 409,
    message: 'Your company has the most datasources that are possible: delete one first',
    data: Type.Object({ limit: Type.Integer({ examples: [1000] }) }, strict),
  },
  invalidDatasource: {
    errorCode: 1034,
    status: 400,
    message: 'The datasource cannot be kept as it is described',
    data: Faults,
  },
  contentNotStored: {
    errorCode: 1035,
    status: 503,
    message: 'The content cannot be stored at the moment, send it again later',
    data: Retry,
  },
  storageFull: {
    errorCode: 1036,
    status: 507,
    message: 'Your company stores as many bytes as it may',
    data: Type.Object(
      {
        limit: Type.Integer({ examples: [21_474_836_480] }),
        used: Type.Integer({ examples: [21_474_000_000] }),
        asked: Type.Integer({ examples: [48_000_000] }),
        unit: Type.Literal('bytes'),
      },
      strict,
    ),
  },
} as const satisfies Record<string, ErrorRow>
