import { Type } from 'typebox'
import type { ErrorRow } from '../error-row.ts'
import { anId, ById, ByName, Faults, Limit, QueryFaults } from '../failure-data.ts'
import { experimentActions, experimentStatuses } from '../resources/experiment.ts'
import { nullable, oneOf, strict } from '../resources/formats.ts'

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
    message: 'An experiment uses this tag value',
    data: Type.Object({ id: anId, experimentIds: Type.Array(anId, { minItems: 1 }) }, strict),
  },
  tagKeyInUse: {
    errorCode: 9041,
    status: 409,
    message: 'This tag key is in use; remove it there first',
    data: Type.Object(
      {
        id: anId,
        uses: Type.Array(
          Type.Object(
            {
              kind: oneOf(['experiment', 'workflow']),
              id: anId,
              name: Type.String({ examples: ['Spring'] }),
            },
            strict,
          ),
          { minItems: 1 },
        ),
      },
      strict,
    ),
  },
  tagValueNameTaken: {
    errorCode: 9042,
    status: 409,
    message: 'A value with this name already exists in this tag key',
    data: ByName,
  },
  systemTagKey: {
    errorCode: 9043,
    status: 409,
    message: 'The service made this tag key and keeps it; it cannot be changed or deleted here',
    data: ById,
  },
  tooManyTagKeys: {
    errorCode: 9044,
    status: 409,
    message: 'Your company has the most tag keys that are possible: delete one first',
    data: Type.Object({ limit: Type.Integer({ examples: [200] }) }, strict),
  },
  tooManyTagValues: {
    errorCode: 9045,
    status: 409,
    message: 'This tag key has the most values that are possible: delete one first',
    data: Type.Object({ limit: Type.Integer({ examples: [1000] }) }, strict),
  },
  eventAliasNotFound: {
    errorCode: 9050,
    status: 404,
    message: 'No event of this name has an alias',
    data: ByName,
  },
  eventAliasChain: {
    errorCode: 9051,
    status: 409,
    message: 'An alias leads to a name that has no alias itself',
    data: Type.Object(
      { name: Type.String({ examples: ['sign_up'] }), alias: Type.String({ examples: ['registration'] }) },
      strict,
    ),
  },
  tooManyEventAliases: {
    errorCode: 9052,
    status: 409,
    message: 'Your company has the most event aliases that are possible: delete one first',
    data: Type.Object({ limit: Type.Integer({ examples: [200] }) }, strict),
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
  savedQueryRunNotFound: {
    errorCode: 9202,
    status: 404,
    message: 'There is no such run of this saved query',
    data: ById,
  },
  savedQueryResultNotFound: {
    errorCode: 9203,
    status: 404,
    message: 'The run has no such result, or it has expired: results are kept for 7 days',
    data: ById,
  },
  savedQueryRuns: {
    errorCode: 9204,
    status: 409,
    message: 'A run of this saved query has not ended yet',
    data: ById,
  },
  tooManySavedQueries: {
    errorCode: 9205,
    status: 409,
    message: 'Your company has as many saved queries as it can have: delete one first',
    data: Type.Object({ limit: Type.Integer({ examples: [5_000] }) }, strict),
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
  experimentTransition: {
    errorCode: 9400,
    status: 409,
    message: 'The state of the experiment does not allow that',
    data: Type.Object(
      {
        id: anId,
        action: oneOf(experimentActions),
        from: oneOf(experimentStatuses),
        to: nullable(oneOf(experimentStatuses), { description: 'Null where the action keeps the state' }),
        allowed: Type.Array(oneOf(experimentActions)),
      },
      strict,
    ),
  },
  experimentFixed: {
    errorCode: 9401,
    status: 409,
    message: 'The experiment is no longer a draft: what decides its numbers cannot be changed',
    data: Type.Object(
      {
        id: anId,
        status: oneOf(experimentStatuses),
        fields: Type.Array(Type.String({ examples: ['variants'] }), { minItems: 1 }),
        changeable: Type.Array(Type.String({ examples: ['name'] })),
      },
      strict,
    ),
  },
  tooManyExperiments: {
    errorCode: 9402,
    status: 409,
    message: 'Your company has the most experiments that are possible: archive one first',
    data: Type.Object({ limit: Type.Integer({ examples: [1_000] }) }, strict),
  },
  experimentNotStarted: {
    errorCode: 9450,
    status: 409,
    message: 'The experiment has not started: there are no results yet',
    data: ById,
  },
  reportNotFound: { errorCode: 9500, status: 404, message: 'There is no such report', data: ById },
  reportEvidenceNotFound: {
    errorCode: 9501,
    status: 404,
    message: 'There is no such evidence of this report',
    data: ById,
  },
  reportGenerates: {
    errorCode: 9502,
    status: 409,
    message: 'A generation of this report has not ended yet',
    data: ById,
  },
  reportNotRetryable: {
    errorCode: 9503,
    status: 409,
    message: 'The last generation of this report did not fail, or another attempt would fail as it did',
    data: ById,
  },
  reportArchived: {
    errorCode: 9504,
    status: 409,
    message: 'This report is archived: make another one',
    data: ById,
  },
  reportNotAutomatic: {
    errorCode: 9505,
    status: 409,
    message: 'Only an automatic report is made again for its period',
    data: ById,
  },
  reportSuperseded: {
    errorCode: 9506,
    status: 409,
    message: 'Another report stands in the place of this one',
    data: Type.Object({ id: anId, supersededByReportId: anId }, strict),
  },
  tooManyReports: {
    errorCode: 9507,
    status: 409,
    message: 'Your company has the most reports that are possible: archive one first',
    data: Type.Object({ limit: Type.Integer({ examples: [10_000] }) }, strict),
  },
  tooManyFollowUps: {
    errorCode: 9508,
    status: 409,
    message: 'This report has the most follow-ups that are possible: make another report',
    data: Type.Object({ limit: Type.Integer({ examples: [50] }) }, strict),
  },
  questionUnreadable: {
    errorCode: 9550,
    status: 400,
    message: 'The question names nothing that can be measured',
    data: Type.Object(
      {
        unread: Type.Array(Type.String({ examples: ['weather'] }), {
          description: 'Parts of the question that no rule reads',
        }),
        measures: Type.Array(Type.String({ examples: ['Revenue'] }), {
          description: 'Some of what can be asked for',
        }),
      },
      strict,
    ),
  },
} as const satisfies Record<string, ErrorRow>
