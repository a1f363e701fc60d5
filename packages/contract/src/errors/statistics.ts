import { Type } from 'typebox'
import { conflict, full, invalid, limitOf, notFound, row, tooLarge } from '../error-row.ts'
import { anId, ByName, Faults, QueryFaults } from '../failure-data.ts'
import { experimentActions, experimentStatuses } from '../resources/experiment.ts'
import { like, listOf, nullable, object, oneOf } from '../resources/formats.ts'

const TagValueInUse = object({ id: anId, experimentIds: Type.Array(anId, { minItems: 1 }) })
const TagKeyInUse = object({
  id: anId,
  uses: Type.Array(
    object({
      kind: oneOf(['experiment', 'workflow']),
      id: anId,
      name: like('Spring'),
    }),
    { minItems: 1 },
  ),
})
const EventAliasChain = object({ name: like('sign_up'), alias: like('registration') })
const CohortKind = object({ reason: like('is a list: make another cohort for the rule') })
const ExperimentTransition = object({
  id: anId,
  action: oneOf(experimentActions),
  from: oneOf(experimentStatuses),
  to: nullable(oneOf(experimentStatuses), 'Null where the action keeps the state'),
  allowed: Type.Array(oneOf(experimentActions)),
})
const ExperimentFixed = object({
  id: anId,
  status: oneOf(experimentStatuses),
  fields: Type.Array(like('variants'), { minItems: 1 }),
  changeable: Type.Array(like('name')),
})
const ReportSuperseded = object({ id: anId, supersededByReportId: anId })
const QuestionUnreadable = object({
  unread: listOf(like('weather'), 'Parts of the question that no rule reads'),
  measures: listOf(like('Revenue'), 'Some of what can be asked for'),
})

/**
 * Statistics: codes from 9000. Those up to 9034 are known to clients as those of tag keys and experiments, so that
 * failures of queries begin at 9100.
 */
export const statisticErrors = {
  experimentNotFound: notFound(9000, 'Unable to find experiment'),
  tagKeyNameTaken: conflict(9001, 'A tag key with this name already exists', ByName),
  tagKeyNotFound: notFound(9002, 'There is no such tag key'),
  tagValueNotFound: notFound(9003, 'There is no such value of this tag key'),
  tagValueInUse: conflict(9040, 'An experiment uses this tag value', TagValueInUse),
  tagKeyInUse: conflict(9041, 'This tag key is in use; remove it there first', TagKeyInUse),
  tagValueNameTaken: conflict(9042, 'A value with this name already exists in this tag key', ByName),
  systemTagKey: conflict(
    9043,
    'The service made this tag key and keeps it; it cannot be changed or deleted here',
  ),
  tooManyTagKeys: full(9044, 200, 'tag keys'),
  tooManyTagValues: conflict(
    9045,
    'This tag key has the most values that are possible: delete one first',
    limitOf(1000),
  ),
  eventAliasNotFound: notFound(9050, 'No event of this name has an alias', ByName),
  eventAliasChain: conflict(9051, 'An alias leads to a name that has no alias itself', EventAliasChain),
  tooManyEventAliases: full(9052, 200, 'event aliases'),
  unknownMember: invalid(9100, 'The query names a member that does not exist', QueryFaults),
  incompatibleMembers: invalid(9101, 'The query names members that do not fit together', QueryFaults),
  virtualMeasureFilter: invalid(
    9102,
    'A virtual measure cannot be filtered: it is computed from other measures after aggregation',
    QueryFaults,
  ),
  invalidQuery: invalid(9103, 'The query cannot be answered as it is written', QueryFaults),
  resultTooLarge: tooLarge(9104, 'The result is too large for the envelope'),
  savedQueryNotFound: notFound(9200, 'There is no such saved query'),
  invalidSchedule: invalid(9201, 'The schedule is not valid', Faults),
  savedQueryRunNotFound: notFound(9202, 'There is no such run of this saved query'),
  savedQueryResultNotFound: notFound(
    9203,
    'The run has no such result, or it has expired: results are kept for 7 days',
  ),
  savedQueryRuns: conflict(9204, 'A run of this saved query has not ended yet'),
  tooManySavedQueries: conflict(
    9205,
    'Your company has as many saved queries as it can have: delete one first',
    limitOf(5_000),
  ),
  savedExplorationNotFound: notFound(9206, 'There is no such saved exploration'),
  tooManySavedExplorations: full(9207, 1_000, 'saved explorations'),
  exportNotFound: notFound(9208, 'There is no such export'),
  exportFileNotFound: notFound(9209, 'The export has no file of this name: read it for its files'),
  exportRangeInvalid: row(416)(9210, 'The file has no bytes in this range: read the export for its size'),
  tooManyExports: full(9211, 100, 'exports'),
  cohortNotFound: notFound(9300, 'There is no such cohort'),
  cohortNameTaken: conflict(9301, 'A cohort with this name already exists', ByName),
  tooManyCohorts: full(9302, 100, 'cohorts'),
  cohortKind: conflict(9303, 'A cohort has a rule or a list, and keeps which of the two it has', CohortKind),
  dashboardNotFound: notFound(9350, 'There is no such dashboard'),
  tooManyDashboards: full(9351, 1_000, 'dashboards'),
  experimentTransition: conflict(
    9400,
    'The state of the experiment does not allow that',
    ExperimentTransition,
  ),
  experimentFixed: conflict(
    9401,
    'The experiment is no longer a draft: what decides its numbers cannot be changed',
    ExperimentFixed,
  ),
  tooManyExperiments: full(9402, 1_000, 'experiments', 'archive'),
  experimentNotStarted: conflict(9450, 'The experiment has not started: there are no results yet'),
  reportNotFound: notFound(9500, 'There is no such report'),
  reportEvidenceNotFound: notFound(9501, 'There is no such evidence of this report'),
  reportGenerates: conflict(9502, 'A generation of this report has not ended yet'),
  reportNotRetryable: conflict(
    9503,
    'The last generation of this report did not fail, or another attempt would fail as it did',
  ),
  reportArchived: conflict(9504, 'This report is archived: make another one'),
  reportNotAutomatic: conflict(9505, 'Only an automatic report is made again for its period'),
  reportSuperseded: conflict(9506, 'Another report stands in the place of this one', ReportSuperseded),
  tooManyReports: full(9507, 10_000, 'reports', 'archive'),
  tooManyFollowUps: conflict(
    9508,
    'This report has the most follow-ups that are possible: make another report',
    limitOf(50),
  ),
  questionUnreadable: invalid(9550, 'The question names nothing that can be measured', QuestionUnreadable),
}
