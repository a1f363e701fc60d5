import { Type } from 'typebox'
import {
  conflict,
  full,
  invalid,
  notFound,
  row,
  tooLarge,
  unauthenticated,
  unavailable,
} from '../error-row.ts'
import { anId, ById, BySource, Faults } from '../failure-data.ts'
import { count, like, object } from '../resources/formats.ts'

const MalformedEvents = object({ reason: like('the JSON ends early, at position 118') })
const DatasourceInUse = object({
  id: anId,
  workflows: Type.Array(object({ id: anId, name: like('Home page') }), { minItems: 1 }),
})
const StorageFull = object({
  limit: Type.Integer({ examples: [21_474_836_480] }),
  used: Type.Integer({ examples: [21_474_000_000] }),
  asked: Type.Integer({ examples: [48_000_000] }),
  unit: Type.Literal('bytes'),
})

/** Datasources and the collector: codes 1000 to 1999. */
export const datasourceErrors = {
  datasourceNotFound: notFound(1000, 'No datasource matches this identifier'),
  invalidDatasourceId: invalid(1001, 'The datasource identifier is 24 hexadecimal characters', ById),
  emptyEvents: invalid(1002, 'The body is empty: send an event or an array of events'),
  malformedEvents: invalid(1003, 'The body cannot be parsed as events', MalformedEvents),
  eventsTooLarge: tooLarge(1004, 'The body holds more than one request may carry'),
  eventsNotDurable: unavailable(1005, 'Events cannot be made durable at the moment, send them again'),
  collectorOverloaded: unavailable(1006, 'More events arrive than can be written, send them again later'),
  writeKeyMissing: unauthenticated(
    1007,
    'Send the identifier of the datasource as write key: the user name of Basic authentication, or writeKey in the body',
  ),
  datasourceWithoutSource: invalid(1010, 'This datasource has no source to analyse', ById),
  sourceNotReachable: invalid(1011, 'The source of this datasource cannot be reached', BySource),
  sampleFailed: invalid(1012, 'Failed to get sample', BySource),
  notAWorkerDatasource: conflict(
    1020,
    'Only a worker datasource has this; events of a tracking datasource come by the collector',
  ),
  datasourceWithoutContent: conflict(1021, 'This datasource has no content yet: send a file to its content'),
  datasourceWithoutFields: conflict(
    1022,
    'This datasource has no selected field: analyse it and select the fields to keep',
  ),
  invalidFields: invalid(1023, 'The fields cannot be kept', Faults),
  datasourceImports: conflict(1024, 'An import of this datasource is under way: wait for its end'),
  datasourcePaused: conflict(1025, 'This datasource is paused: resume it first'),
  datasourceInUse: conflict(1026, 'Workflows use this datasource', DatasourceInUse),
  datasourceNotLive: conflict(
    1027,
    'This datasource has no live version yet: bring its draft live by POST /v2/datasources/{id}/versions/live',
  ),
  invalidDatasourceQuery: invalid(1028, 'The query cannot be answered', Faults),
  datasourceQueryTooSlow: invalid(
    1029,
    'The query took longer than 5 s: ask for the key, or for fewer conditions',
    ById,
  ),
  contentTooLarge: tooLarge(1030, 'The content is larger than what a datasource may hold'),
  emptyContent: invalid(1031, 'The content is empty: send the file itself as the body', ById),
  sourceIsAnAddress: conflict(
    1032,
    'This datasource is fetched from an address; set its source to a file to upload content',
  ),
  tooManyDatasources: full(1033, 1000, 'datasources'),
  invalidDatasource: invalid(1034, 'The datasource cannot be kept as it is described', Faults),
  contentNotStored: unavailable(1035, 'The content cannot be stored at the moment, send it again later'),
  storageFull: row(507)(1036, 'Your company stores as many bytes as it may', StorageFull),
  notAnEventDatasource: conflict(
    1037,
    'Only a datasource of events keeps them for some days; rows stay until an import replaces them',
    ById,
  ),
  personsNotConfirmed: conflict(
    1038,
    'Several persons are meant: send `confirm` to say that they are',
    object({ persons: count('Persons'), events: count('Events'), confirm: like('erase 12 persons') }),
  ),
  personTooLarge: invalid(
    1039,
    'More devices are bound to this person than one request can name: name fewer identifiers',
    object({ limit: Type.Integer({ examples: [5_000] }) }),
  ),
  erasureNotFound: notFound(1040, 'No erasure matches this identifier'),
  tooManyErasures: full(1041, 1000, 'erasures that are not done'),
  datasourceNotConfirmed: conflict(
    1042,
    'There will be no way back: send the name of the datasource as `confirm`',
    object({ id: anId, confirm: like('Website') }),
  ),
}
