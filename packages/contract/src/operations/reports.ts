import { Type } from 'typebox'
import { listEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { id, idParams, strict } from '../resources/formats.ts'
import { EvidenceCheck, FollowUp, Report, ReportCreation, ReportSummary } from '../resources/report.ts'
import { ReportSettings, ReportSettingsUpdate } from '../resources/report-settings.ts'

const statisticsAccess = { resource: 'statistics', action: 'access' } as const
const ofAnother = 'Statistics: access; for what another user made also Statistics: manage'
const tag = 'Statistics'
const url = '/v2/statistics/reports'
const params = idParams('Identifier of the report')

/** Summaries that the list has where no page is asked for. */
export const listedReports = 500

/** Operation 3. */
export const listReports = {
  id: 'listReports',
  number: 3,
  method: 'GET',
  url,
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  summary: 'List analysis reports',
  description: `The analysis reports of your company, the newest first, as summaries: the sections themselves are not in them. Without \`page\` and \`perPage\` they are the newest ${listedReports.toLocaleString('en')}, and \`warnings\` says when there are more; with one of them the envelope has the fields of a page.`,
  errors: [],
  replies: { 200: { description: 'The reports' } },
  schema: {
    querystring: Type.Object(
      {
        includeArchived: Type.Optional(
          Type.Boolean({ description: 'Whether archived reports are listed too; they are not when absent' }),
        ),
        page: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 1_000_000,
            description: 'Which page, from 1',
            'x-millrace-extension': true,
          }),
        ),
        perPage: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 100,
            description: 'How many reports a page has; 10 where only `page` is given',
            'x-millrace-extension': true,
          }),
        ),
      },
      strict,
    ),
    response: { 200: listEnvelope(ReportSummary) },
  },
} as const satisfies Operation

export const createReport = {
  id: 'createReport',
  extension: true,
  method: 'POST',
  url,
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  summary: 'Make a report',
  description: `Queues the first generation and answers at once; read the report until \`activeGeneration\` is absent.

Give one of three:
- \`question\`: what you want to know. It is matched to members, ranges and filters by the rules of docs/reports.md; what they cannot read the report says, and its \`publicationQuality\` is \`limited\`.
- \`guidedAnalysis\`, of \`period\` or the last 28 days: what changed against the period before and the year before, and what drove it.
- \`dashboardPath\` with \`dashboardTitle\`: a saved query.

A generation has the rights of the user who asks, as they are when it runs. Two generations of a company run at once, others wait; a user starts 30 an hour at most. A company has at most 10,000 reports: beyond, the one that was archived first is deleted, or the request is refused where none is archived.`,
  audit: { action: 'report-create', target: 'report' },
  errors: ['questionUnreadable', 'savedQueryNotFound', 'tooManyReports', 'tooManyRequests'],
  examples: {
    guided: { summary: 'What drove revenue', value: { guidedAnalysis: 'revenue', period: '2011-11' } },
    question: { summary: 'A question', value: { question: 'revenue by device type last month' } },
  },
  replies: { 200: { description: 'The report, which has no sections yet' } },
  schema: { body: ReportCreation, response: { 200: successEnvelope(Report) } },
} as const satisfies Operation

export const readReport = {
  id: 'readReport',
  extension: true,
  method: 'GET',
  url: `${url}/:id`,
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  summary: 'Read a report',
  description:
    'Its sections, and the evidence that every number in them refers to. Every user of the company with Statistics: access may.',
  errors: ['reportNotFound'],
  replies: { 200: { description: 'The report' } },
  schema: { params, response: { 200: successEnvelope(Report) } },
} as const satisfies Operation

export const askFollowUp = {
  id: 'askFollowUp',
  extension: true,
  method: 'POST',
  url: `${url}/:id/follow-ups`,
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  summary: 'Ask a report a further question',
  description:
    'Queues a generation whose sections come at the end of the report. A report has 50 follow-ups at most.',
  errors: ['reportNotFound', 'reportGenerates', 'reportArchived', 'tooManyFollowUps', 'tooManyRequests'],
  examples: { question: { summary: 'A question', value: { question: 'and by country?' } } },
  replies: { 200: { description: 'The report, with its active generation' } },
  schema: { params, body: FollowUp, response: { 200: successEnvelope(Report) } },
} as const satisfies Operation

export const retryReport = {
  id: 'retryReport',
  extension: true,
  method: 'POST',
  url: `${url}/:id/retry`,
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  summary: 'Try the failed generation of a report again',
  description:
    'Queues the last generation again, with your rights, where `lastGenerationFailure.retryable` is true.',
  errors: [
    'reportNotFound',
    'reportGenerates',
    'reportNotRetryable',
    'reportArchived',
    'reportSuperseded',
    'tooManyRequests',
  ],
  replies: { 200: { description: 'The report, with its active generation' } },
  schema: { params, response: { 200: successEnvelope(Report) } },
} as const satisfies Operation

export const regenerateReport = {
  id: 'regenerateReport',
  extension: true,
  method: 'POST',
  url: `${url}/:id/regenerate`,
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  access: ofAnother,
  summary: 'Make an automatic report again',
  description:
    'Makes another report of the same period by the settings as they are now. It names the former one in `supersedesReportId`, which is archived once the new one is complete. Automatic reports are of the user who has turned their analysis on.',
  audit: { action: 'report-create', target: 'report' },
  errors: [
    'reportNotFound',
    'reportGenerates',
    'reportNotAutomatic',
    'reportSuperseded',
    'tooManyReports',
    'tooManyRequests',
  ],
  replies: { 200: { description: 'The new report, which has no sections yet' } },
  schema: { params, response: { 200: successEnvelope(Report) } },
} as const satisfies Operation

export const archiveReport = {
  id: 'archiveReport',
  extension: true,
  method: 'POST',
  url: `${url}/:id/archive`,
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  access: ofAnother,
  summary: 'Archive a report',
  description: 'It leaves the list and can still be read. A generation that has not ended is given up.',
  audit: { action: 'report-archive', target: 'report' },
  errors: ['reportNotFound'],
  replies: { 200: { description: 'The report' } },
  schema: { params, response: { 200: successEnvelope(Report) } },
} as const satisfies Operation

export const verifyEvidence = {
  id: 'verifyEvidence',
  extension: true,
  method: 'GET',
  url: `${url}/:id/evidence/:evidenceId/verify`,
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  summary: 'Run the query of an evidence again',
  description:
    'Says whether the result is the same. Events that arrived since, and changes of the settings of statistics, make another one.',
  errors: ['reportNotFound', 'reportEvidenceNotFound', 'tooManyRequests'],
  replies: { 200: { description: 'What came of it' } },
  schema: {
    params: Type.Object(
      { id: id('Identifier of the report'), evidenceId: id('Identifier of the evidence') },
      strict,
    ),
    response: { 200: successEnvelope(EvidenceCheck) },
  },
} as const satisfies Operation

export const readReportSettings = {
  id: 'readReportSettings',
  extension: true,
  method: 'GET',
  url: `${url}/settings`,
  scope: 'authenticated',
  permission: statisticsAccess,
  tag,
  summary: 'Read the settings of automatic reports',
  errors: [],
  replies: { 200: { description: 'The settings' } },
  schema: { response: { 200: successEnvelope(ReportSettings) } },
} as const satisfies Operation

export const updateReportSettings = {
  id: 'updateReportSettings',
  extension: true,
  method: 'PATCH',
  url: `${url}/settings`,
  scope: 'authenticated',
  permission: { resource: 'company', action: 'update' },
  access: 'Company: update; where an analysis is enabled also Statistics: access and Statistics: export',
  tag,
  summary: 'Change the settings of automatic reports',
  description: `A partial update: a field that is absent, at any depth, stays as it is; all of it is taken or nothing.

An enabled analysis makes a report of every month, quarter or year in the company’s time zone, three hours after its end, and mails its summary to \`recipients\`. After a stop only the latest period is made up for. The first period is the one that has not ended when the analysis is enabled.`,
  audit: { action: 'report-settings-update', target: 'company', of: 'company' },
  errors: [],
  examples: {
    revenue: {
      summary: 'Revenue, every month',
      value: {
        analyses: { revenue: { enabled: true, cadence: 'monthly', recipients: ['ada@example.com'] } },
      },
    },
  },
  replies: { 200: { description: 'The settings as they are now' } },
  schema: { body: ReportSettingsUpdate, response: { 200: successEnvelope(ReportSettings) } },
} as const satisfies Operation
