import { Type } from 'typebox'
import type { ErrorRow } from '../error-row.ts'
import { anId, ById, ByName, Faults, Limit, QueryFaults } from '../failure-data.ts'
import { strict } from '../resources/formats.ts'

/**
 * Statistics: codes from 9000. Those up to 9034 are known to clients as those of tag keys and experiments, so that
 * failures of queries begin at 9100.
 */
export const statisticErrors = {
  experimentNotFound: { errorCode: 9000, status: 404, message: 'Unable to find experiment', data: ById },
  tagKeyNameTaken: {
    errorCode: 9001,
    status: 409,
    message: 'A tag key with this name already exists',
    data: ByName,
  },
  tagKeyNotFound: { errorCode: 9002, status: 404, message: 'There is no such tag key', data: ById },
  tagValueNotFound: {
    errorCode: 9003,
    status: 404,
    message: 'There is no such value of this tag key',
    data: ById,
  },
  tagValueInUse: {
    errorCode: 9040,
    status: 409,
    message: 'A running experiment uses this tag value',
    data: Type.Object({ id: anId, experimentIds: Type.Array(anId, { minItems: 1 }) }, strict),
  },
  unknownMember: {
    errorCode: 9100,
    status: 400,
    message: 'The query names a member that does not exist',
    data: QueryFaults,
  },
  incompatibleMembers: {
    errorCode: 9101,
    status: 400,
    message: 'The query names members that do not fit together',
    data: QueryFaults,
  },
  virtualMeasureFilter: {
    errorCode: 9102,
    status: 400,
    message: 'A virtual measure cannot be filtered: it is computed from other measures after aggregation',
    data: QueryFaults,
  },
  invalidQuery: {
    errorCode: 9103,
    status: 400,
    message: 'The query cannot be answered as it is written',
    data: QueryFaults,
  },
  resultTooLarge: {
    errorCode: 9104,
    status: 413,
    message: 'The result is too large for the envelope',
    data: Limit,
  },
  savedQueryNotFound: {
    errorCode: 9200,
    status: 404,
    message: 'There is no such saved query',
    data: ById,
  },
  invalidSchedule: {
    errorCode: 9201,
    status: 400,
    message: 'The schedule is not valid',
    data: Faults,
  },
  cohortNotFound: { errorCode: 9300, status: 404, message: 'There is no such cohort', data: ById },
  cohortNameTaken: {
    errorCode: 9301,
    status: 409,
    message: 'A cohort with this name already exists',
    data: ByName,
  },
  tooManyCohorts: {
    errorCode: 9302,
    status: 409,
    message: 'Your company has the most cohorts that are possible: delete one first',
    data: Type.Object({ limit: Type.Integer({ examples: [100] }) }, strict),
  },
  cohortKind: {
    errorCode: 9303,
    status: 409,
    message: 'A cohort has a rule or a list, and keeps which of the two it has',
    data: Type.Object(
      { reason: Type.String({ examples: ['is a list: make another cohort for the rule'] }) },
      strict,
    ),
  },
} as const satisfies Record<string, ErrorRow>
