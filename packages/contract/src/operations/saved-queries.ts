import { Type } from 'typebox'
import { EmptyObject, paginatedEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { dateTime, id, idParams, indexPattern, pagination, strict } from '../resources/formats.ts'
import { IdempotencyHeaders } from '../resources/idempotency-key.ts'
import { SavedQuery, SavedQueryCreation, SavedQueryUpdate } from '../resources/saved-query.ts'
import { SavedQueryRun } from '../resources/saved-query-run.ts'
import { etag, expectedRevision } from '../revision.ts'

const statisticsAccess = { resource: 'statistics', action: 'access' } as const
const access = 'Statistics: access; with an enabled schedule also Statistics: export'
const ofAnother = 'for what another user saved also Statistics: manage'
const tag = 'Statistics'
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

const example = {
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
  id: 'saveQuery',
  number: 6,
  method: 'POST',
  url: '/v2/statistics/query/save',
  scope: 'authenticated',
  permission: statisticsAccess,
  access,
  tag,
  summary: 'Save queries',
  description: `Saves one or several queries under a name, with a schedule where their results are to be mailed. A company has at most 5,000 saved queries.

A request that may be sent twice has the header \`Idempotency-Key\`: for 24 hours the same user gets the saved query that the first one made, as it is then, and 409 where the body is another one or the saved query is gone.

${rules}`,
  errors: [...queryErrors, 'tooManySavedQueries', 'conflict'],
  examples: { weekly: { summary: 'Mailed every Monday', value: example } },
  replies: { 200: { description: 'The saved query', headers: etag } },
  schema: {
    headers: IdempotencyHeaders,
    body: SavedQueryCreation,
    response: { 200: successEnvelope(SavedQuery) },
  },
} as const satisfies Operation

/** Operation 7. */
export const updateSavedQuery = {
  id: 'updateSavedQuery',
  number: 7,
  method: 'PATCH',
  url: '/v2/statistics/query/:id',
  scope: 'authenticated',
  permission: statisticsAccess,
  access: `${access}; ${ofAnother}`,
  tag,
  summary: 'Change a saved query',
  description: `A partial update: a field that is absent stays as it is. \`schedule\` is replaced as a whole; \`{}\` or null removes it.

${rules}`,
  errors: ['savedQueryNotFound', 'savedMeanwhile', ...queryErrors],
  examples: {
    rename: { summary: 'Another name', value: { name: 'Orders by day' } },
    unschedule: { summary: 'Stop the mails', value: { schedule: {} } },
  },
  replies: { 200: { description: 'The saved query as it is now', headers: etag } },
  schema: {
    params,
    headers: expectedRevision,
    body: SavedQueryUpdate,
    response: { 200: successEnvelope(SavedQuery) },
  },
} as const satisfies Operation

export const listSavedQueries = {
  id: 'listSavedQueries',
  extension: true,
  method: 'GET',
  url: '/v2/statistics/query',
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  summary: 'List saved queries',
  description: 'Those of your company, the newest first.',
  errors: [],
  replies: { 200: { description: 'One page of saved queries' } },
  schema: {
    querystring: Type.Object(pagination, strict),
    response: { 200: paginatedEnvelope(SavedQuery) },
  },
} as const satisfies Operation

export const readSavedQuery = {
  id: 'readSavedQuery',
  extension: true,
  method: 'GET',
  url: '/v2/statistics/query/:id',
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  summary: 'Read a saved query',
  errors: ['savedQueryNotFound'],
  replies: { 200: { description: 'The saved query', headers: etag } },
  schema: { params, response: { 200: successEnvelope(SavedQuery) } },
} as const satisfies Operation

export const deleteSavedQuery = {
  id: 'deleteSavedQuery',
  extension: true,
  method: 'DELETE',
  url: '/v2/statistics/query/:id',
  scope: 'authenticated',
  permission: statisticsAccess,
  access: `Statistics: access; ${ofAnother}`,
  tag,
  summary: 'Delete a saved query',
  description:
    'With its schedule, its ledger and its stored results. A run that has begun delivers nothing more.',
  errors: ['savedQueryNotFound', 'savedMeanwhile'],
  replies: { 200: { description: 'It is deleted' } },
  schema: { params, headers: expectedRevision, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation

export const runSavedQuery = {
  id: 'runSavedQuery',
  extension: true,
  method: 'POST',
  url: '/v2/statistics/query/:id/run',
  scope: 'authenticated',
  permission: statisticsAccess,
  access: 'Statistics: access and Statistics: export',
  tag,
  summary: 'Run a saved query now',
  description:
    'Queues a run beside the schedule, with the rights of the user who asks. It is delivered as the schedule says; without one its results are only stored, for 7 days. A user starts 30 runs an hour at most.',
  errors: ['savedQueryNotFound', 'savedQueryRuns', 'tooManyRequests'],
  replies: { 200: { description: 'The run, which has not begun yet' } },
  schema: { params, response: { 200: successEnvelope(SavedQueryRun) } },
} as const satisfies Operation

export const listSavedQueryRuns = {
  id: 'listSavedQueryRuns',
  extension: true,
  method: 'GET',
  url: '/v2/statistics/query/:id/runs',
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  summary: 'List the runs of a saved query',
  description: 'The ledger, the latest planned time first. Entries are kept for a year.',
  errors: ['savedQueryNotFound'],
  replies: { 200: { description: 'One page of runs' } },
  schema: {
    params,
    querystring: Type.Object(pagination, strict),
    response: { 200: paginatedEnvelope(SavedQueryRun) },
  },
} as const satisfies Operation

export const listNextRuns = {
  id: 'listNextRuns',
  extension: true,
  method: 'GET',
  url: '/v2/statistics/query/:id/next-runs',
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  summary: 'Preview the next runs',
  description:
    'The next ten planned times, as far as they lie within forty years; none without a schedule, while it is off and while it is paused.',
  errors: ['savedQueryNotFound'],
  replies: { 200: { description: 'Planned times, the nearest first' } },
  schema: {
    params,
    response: {
      200: successEnvelope(
        Type.Array(
          Type.Object(
            {
              at: dateTime('When it runs'),
              local: Type.String({
                description: 'The same instant in the time zone of the schedule',
                examples: ['2026-02-02T07:30:00.000+01:00'],
              }),
            },
            strict,
          ),
          { maxItems: 10 },
        ),
      ),
    },
  },
} as const satisfies Operation

export const readRunResult = {
  id: 'readRunResult',
  extension: true,
  method: 'GET',
  url: '/v2/statistics/query/:id/runs/:runId/results/:index',
  scope: 'authenticated',
  permission: statisticsAccess,
  access: 'Statistics: access and Statistics: export',
  tag,
  summary: 'Download a result of a run',
  description: 'The CSV of one of its queries, bare, for 7 days after the run.',
  errors: ['savedQueryNotFound', 'savedQueryRunNotFound', 'savedQueryResultNotFound'],
  replies: { 200: { description: 'RFC 4180 CSV with a header' } },
  schema: {
    params: Type.Object(
      {
        id: id('Identifier of the saved query'),
        runId: id('Identifier of the run'),
        index: Type.String({
          pattern: indexPattern,
          description: 'Which of the queries, from 0',
          examples: ['0'],
        }),
      },
      strict,
    ),
    response: { 200: Type.String({ contentMediaType: 'text/csv' }) },
  },
} as const satisfies Operation
