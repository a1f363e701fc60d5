import { listEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf } from '../operation-builders.ts'
import {
  extension,
  flag,
  id,
  idParams,
  integer,
  object,
  optionals,
  searchIn,
  sorting,
} from '../resources/formats.ts'
import { EvidenceCheck, FollowUp, Report, ReportCreation, ReportSummary } from '../resources/report.ts'
import { ReportSettings, ReportSettingsUpdate } from '../resources/report-settings.ts'

const ofAnother = 'Statistics: access; for what another user made also Statistics: manage'
const operation = operationsOf('Statistics')
const url = '/v2/statistics/reports'
const params = idParams('Identifier of the report')

/** Summaries that the list has where no page is asked for. */
export const listedReports = 500

const searched = {
  ...searchIn('title'),
  ...sorting(['title', 'updatedAt', 'createdAt'], '`createdAt`'),
}

/** Operation 3. */
export const listReports = {
  ...operation('listReports', 'GET', url, 'statistics:access'),
  number: 3,
  summary: 'List analysis reports',
  description: `The analysis reports of your company, the newest first unless they are sorted, as summaries: the sections themselves are not in them. Without \`page\` and \`perPage\` they are the first ${listedReports.toLocaleString('en')}, and \`warnings\` says when there are more; with one of them the envelope has the fields of a page.`,
  replies: { 200: { description: 'The reports' } },
  schema: {
    querystring: object({
      q: extension(searched.q),
      sortBy: extension(searched.sortBy),
      sortOrder: extension(searched.sortOrder),
      ...optionals({
        includeArchived: flag('Whether archived reports are listed too; they are not when absent'),
        page: extension(integer(1, 1_000_000, 'Which page, from 1')),
        perPage: extension(integer(1, 100, 'How many reports a page has; 10 where only `page` is given')),
      }),
    }),
    response: { 200: listEnvelope(ReportSummary) },
  },
} as const satisfies Operation

export const createReport = {
  ...operation('createReport', 'POST', url, 'statistics:access'),
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
    guided: example('What drove revenue', { guidedAnalysis: 'revenue', period: '2011-11' }),
    question: example('A question', { question: 'revenue by device type last month' }),
  },
  ...answers('The report, which has no sections yet', Report, { body: ReportCreation }),
} as const satisfies Operation

export const readReport = {
  ...operation('readReport', 'GET', `${url}/:id`, 'statistics:access'),
  summary: 'Read a report',
  description:
    'Its sections, and the evidence that every number in them refers to. Every user of the company with Statistics: access may.',
  errors: ['reportNotFound'],
  ...answers('The report', Report, { params }),
} as const satisfies Operation

export const askFollowUp = {
  ...operation('askFollowUp', 'POST', `${url}/:id/follow-ups`, 'statistics:access'),
  summary: 'Ask a report a further question',
  description:
    'Queues a generation whose sections come at the end of the report. A report has 50 follow-ups at most.',
  errors: ['reportNotFound', 'reportGenerates', 'reportArchived', 'tooManyFollowUps', 'tooManyRequests'],
  examples: { question: example('A question', { question: 'and by country?' }) },
  ...answers('The report, with its active generation', Report, { params, body: FollowUp }),
} as const satisfies Operation

export const retryReport = {
  ...operation('retryReport', 'POST', `${url}/:id/retry`, 'statistics:access'),
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
  ...answers('The report, with its active generation', Report, { params }),
} as const satisfies Operation

export const regenerateReport = {
  ...operation('regenerateReport', 'POST', `${url}/:id/regenerate`, 'statistics:access'),
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
  ...answers('The new report, which has no sections yet', Report, { params }),
} as const satisfies Operation

export const archiveReport = {
  ...operation('archiveReport', 'POST', `${url}/:id/archive`, 'statistics:access'),
  access: ofAnother,
  summary: 'Archive a report',
  description: 'It leaves the list and can still be read. A generation that has not ended is given up.',
  audit: { action: 'report-archive', target: 'report' },
  errors: ['reportNotFound'],
  ...answers('The report', Report, { params }),
} as const satisfies Operation

export const verifyEvidence = {
  ...operation('verifyEvidence', 'GET', `${url}/:id/evidence/:evidenceId/verify`, 'statistics:access'),
  summary: 'Run the query of an evidence again',
  description:
    'Says whether the result is the same. Events that arrived since, and changes of the settings of statistics, make another one.',
  errors: ['reportNotFound', 'reportEvidenceNotFound', 'tooManyRequests'],
  ...answers('What came of it', EvidenceCheck, {
    params: object({ id: id('Identifier of the report'), evidenceId: id('Identifier of the evidence') }),
  }),
} as const satisfies Operation

export const readReportSettings = {
  ...operation('readReportSettings', 'GET', `${url}/settings`, 'statistics:access'),
  summary: 'Read the settings of automatic reports',
  ...answers('The settings', ReportSettings),
} as const satisfies Operation

export const updateReportSettings = {
  ...operation('updateReportSettings', 'PATCH', `${url}/settings`, 'company:update'),
  access: 'Company: update; where an analysis is enabled also Statistics: access and Statistics: export',
  summary: 'Change the settings of automatic reports',
  description: `A partial update: a field that is absent, at any depth, stays as it is; all of it is taken or nothing.

An enabled analysis makes a report of every month, quarter or year in the company’s time zone, three hours after its end, and mails its summary to \`recipients\`. After a stop only the latest period is made up for. The first period is the one that has not ended when the analysis is enabled.`,
  audit: { action: 'report-settings-update', target: 'company', of: 'company' },
  examples: {
    revenue: example('Revenue, every month', {
      analyses: { revenue: { enabled: true, cadence: 'monthly', recipients: ['ada@example.com'] } },
    }),
  },
  ...answers('The settings as they are now', ReportSettings, { body: ReportSettingsUpdate }),
} as const satisfies Operation
