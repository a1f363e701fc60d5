import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, answersRevision, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import {
  dateTime,
  id,
  idParams,
  indexPattern,
  object,
  searchIn,
  sorting,
  text,
} from '../resources/formats.ts'
import { IdempotencyHeaders } from '../resources/idempotency-key.ts'
import { SavedQuery, SavedQueryCreation, SavedQueryUpdate, Schedule } from '../resources/saved-query.ts'
import { SavedQueryRun } from '../resources/saved-query-run.ts'
import { expectedRevision } from '../revision.ts'

const operation = operationsOf('Statistics')
const access = 'Statistics: access; with an enabled schedule also Statistics: export'
const ofAnother = 'for what another user saved also Statistics: manage'
const params = idParams('Identifier of the saved query')

const queryErrors = [
  'unknownMember',
  'incompatibleMembers',
  'virtualMeasureFilter',
  'invalidQuery',
  'tooComplex',
  'invalidSchedule',
] as const

const rules = `Each query is checked as if it were run; \`path\` of a failure begins with its place (\`queries.1.measures.0\`).

A schedule runs \`daily\`, on \`weekdays\` (\`weekly\`) or on \`days\` of the month (\`monthly\`) at \`time\`, or by five fields of \`cron\` (\`custom\`), in \`timezone\`. \`enabled\` is true when it is absent. A time of day runs once on every such day: when the clock skips it at the first instant after the gap, when it comes twice the first time. A day that a month does not have is its last one.

Results are mailed as one CSV file for each query. Results of more than 5 MB together come as links that live 7 days and need Statistics: export. Runs have the rights of the user who saved the queries or changed queries or schedule last, as they are at that moment; when these no longer suffice the schedule is paused.`

const sample = {
  name: 'Purchases by day',
  queries: [
    {
      measures: ['purchases.count'],
      dimensions: [],
      filters: [],
      timeDimensions: [{ dimension: 'purchases.time', granularity: 'day', dateRange: 'last 30 days' }],
    },
  ],
  schedule: {
    enabled: true,
    frequency: 'weekly',
    weekdays: [1],
    time: '07:30',
    timezone: 'Europe/Paris',
    recipients: ['ada@example.com'],
    format: 'csv',
  },
}

/** Operation 6. */
export const saveQuery = {
  ...operation('saveQuery', 'POST', '/v2/statistics/query/save', 'statistics:access'),
  number: 6,
  access,
  summary: 'Save queries',
  description: `Saves one or several queries under a name, with a schedule where their results are to be mailed. A company has at most 5,000 saved queries.

A request that may be sent twice has the header \`Idempotency-Key\`: for 24 hours the same user gets the saved query that the first one made, as it is then, and 409 where the body is another one or the saved query is gone.

${rules}`,
  errors: [...queryErrors, 'tooManySavedQueries', 'conflict'],
  examples: { weekly: example('Mailed every Monday', sample) },
  ...answersRevision('The saved query', SavedQuery, {
    headers: IdempotencyHeaders,
    body: SavedQueryCreation,
  }),
} as const satisfies Operation

/** Operation 7. */
export const updateSavedQuery = {
  ...operation('updateSavedQuery', 'PATCH', '/v2/statistics/query/:id', 'statistics:access'),
  number: 7,
  access: `${access}; ${ofAnother}`,
  summary: 'Change a saved query',
  description: `A partial update: a field that is absent stays as it is. \`schedule\` is replaced as a whole; \`{}\` or null removes it.

${rules}`,
  errors: ['savedQueryNotFound', 'savedMeanwhile', ...queryErrors],
  examples: {
    rename: example('Another name', { name: 'Orders by day' }),
    unschedule: example('Stop the mails', { schedule: {} }),
  },
  ...answersRevision('The saved query as it is now', SavedQuery, {
    params,
    headers: expectedRevision,
    body: SavedQueryUpdate,
  }),
} as const satisfies Operation

export const listSavedQueries = {
  ...operation('listSavedQueries', 'GET', '/v2/statistics/query', 'statistics:access'),
  summary: 'List saved queries',
  description:
    'Those of your company, the newest first unless they are sorted. Those that never run come last.',
  ...lists('One page of saved queries', SavedQuery, {
    ...searchIn('name'),
    ...sorting(['name', 'updatedAt', 'createdAt', 'nextRunAt'], '`createdAt`'),
  }),
} as const satisfies Operation

export const readSavedQuery = {
  ...operation('readSavedQuery', 'GET', '/v2/statistics/query/:id', 'statistics:access'),
  summary: 'Read a saved query',
  errors: ['savedQueryNotFound'],
  ...answersRevision('The saved query', SavedQuery, { params }),
} as const satisfies Operation

export const deleteSavedQuery = {
  ...operation('deleteSavedQuery', 'DELETE', '/v2/statistics/query/:id', 'statistics:access'),
  access: `Statistics: access; ${ofAnother}`,
  summary: 'Delete a saved query',
  description:
    'With its schedule, its ledger and its stored results. A run that has begun delivers nothing more.',
  errors: ['savedQueryNotFound', 'savedMeanwhile'],
  ...succeeds('It is deleted', { params, headers: expectedRevision }),
} as const satisfies Operation

export const runSavedQuery = {
  ...operation('runSavedQuery', 'POST', '/v2/statistics/query/:id/run', 'statistics:access'),
  access: 'Statistics: access and Statistics: export',
  summary: 'Run a saved query now',
  description:
    'Queues a run beside the schedule, with the rights of the user who asks. It is delivered as the schedule says; without one its results are only stored, for 7 days. A user starts 30 runs an hour at most.',
  errors: ['savedQueryNotFound', 'savedQueryRuns', 'tooManyRequests'],
  ...answers('The run, which has not begun yet', SavedQueryRun, { params }),
} as const satisfies Operation

export const listSavedQueryRuns = {
  ...operation('listSavedQueryRuns', 'GET', '/v2/statistics/query/:id/runs', 'statistics:access'),
  summary: 'List the runs of a saved query',
  description: 'The ledger, the latest planned time first. Entries are kept for a year.',
  errors: ['savedQueryNotFound'],
  ...lists('One page of runs', SavedQueryRun, {}, { params }),
} as const satisfies Operation

const PlannedRuns = Type.Array(
  object({
    at: dateTime('When it runs'),
    local: text('The same instant in the time zone of the schedule', '2026-02-02T07:30:00.000+01:00'),
  }),
  { maxItems: 10 },
)

/** Of a schedule that is being written. */
export const previewSchedule = {
  ...operation('previewSchedule', 'POST', '/v2/statistics/query/next-runs', 'statistics:access'),
  summary: 'Preview a schedule',
  description:
    'The next ten planned times of a schedule that need not be saved, as far as they lie within forty years; none for `{}` and while it is off. Who would get the results is not checked here.',
  idempotent: true,
  errors: ['invalidSchedule'],
  examples: { weekdays: example('At seven on weekdays', { frequency: 'custom', cron: '0 7 * * 1-5' }) },
  ...answers('Planned times, the nearest first', PlannedRuns, { body: Schedule }),
} as const satisfies Operation

export const listNextRuns = {
  ...operation('listNextRuns', 'GET', '/v2/statistics/query/:id/next-runs', 'statistics:access'),
  summary: 'Preview the next runs',
  description:
    'The next ten planned times, as far as they lie within forty years; none without a schedule, while it is off and while it is paused.',
  errors: ['savedQueryNotFound'],
  ...answers('Planned times, the nearest first', PlannedRuns, { params }),
} as const satisfies Operation

export const readRunResult = {
  ...operation(
    'readRunResult',
    'GET',
    '/v2/statistics/query/:id/runs/:runId/results/:index',
    'statistics:access',
  ),
  access: 'Statistics: access and Statistics: export',
  summary: 'Download a result of a run',
  description: 'The CSV of one of its queries, bare, for 7 days after the run.',
  errors: ['savedQueryNotFound', 'savedQueryRunNotFound', 'savedQueryResultNotFound'],
  replies: { 200: { description: 'RFC 4180 CSV with a header' } },
  schema: {
    params: object({
      id: id('Identifier of the saved query'),
      runId: id('Identifier of the run'),
      index: text('Which of the queries, from 0', '0', { pattern: indexPattern }),
    }),
    response: { 200: Type.String({ contentMediaType: 'text/csv' }) },
  },
} as const satisfies Operation
