import { type Static, Type } from 'typebox'
import { languages } from '../languages.ts'
import { Evidence } from './evidence.ts'
import {
  count,
  dateTime,
  extension,
  flag,
  id,
  like,
  lineText,
  listOf,
  longText,
  named,
  nameText,
  object,
  oneOf,
  text,
  times,
} from './formats.ts'
import { DateRange } from './query.ts'
import { ReportSection } from './report-section.ts'

const GenerationKind = oneOf(['initial', 'follow-up'])

export const guidedAnalyses = ['impact', 'revenue', 'engagement', 'retention'] as const
export type GuidedAnalysisName = (typeof guidedAnalyses)[number]

export const reportCadences = ['monthly', 'quarterly', 'yearly'] as const
export type ReportCadence = (typeof reportCadences)[number]

const PublicationQuality = oneOf(
  ['answered', 'limited'],
  '`limited`: a part of what was asked could not be read or answered, which a section says',
)

export const ReportRequester = named('ReportRequester', {
  type: oneOf(['user', 'platform', 'unknown']),
  userId: Type.Optional(text('For `user`')),
})
export type ReportRequester = Static<typeof ReportRequester>

export const ReportUsage = named('ReportUsage', {
  queryCount: Type.Number(),
  rowCount: Type.Number(),
  payloadBytes: Type.Number(),
  agentTurns: Type.Number(),
  durationMs: Type.Number(),
})
export type ReportUsage = Static<typeof ReportUsage>

const ActiveGeneration = named('ActiveGeneration', {
  id: Type.String(),
  kind: GenerationKind,
  status: oneOf(['pending', 'running']),
  startedAt: dateTime('When it started'),
})

const GenerationFailure = named('GenerationFailure', {
  kind: GenerationKind,
  question: Type.String(),
  evidence: Type.Array(Evidence),
  generationId: Type.String(),
  code: Type.String(),
  message: Type.String(),
  retryable: Type.Boolean(),
  failedAt: dateTime('When it failed'),
  requestedBy: ReportRequester,
  usage: Type.Optional(ReportUsage),
})
export type GenerationFailure = Static<typeof GenerationFailure>

const Window = named('Window', { start: dateTime('First instant'), end: dateTime('First instant after it') })
export type Window = Static<typeof Window>

const ComparisonWindows = object({ previousPeriod: Window, previousYear: Type.Optional(Window) })
export type ComparisonWindows = Static<typeof ComparisonWindows>

const AutomaticReport = named('AutomaticReport', {
  slug: Type.String(),
  cadence: oneOf(reportCadences),
  period: object({
    key: like('2026-01'),
    start: dateTime('First instant of the period'),
    end: dateTime('First instant after the period'),
    timezone: Type.String(),
    comparisonWindows: ComparisonWindows,
  }),
  promptSnapshot: object({
    templateKey: Type.String(),
    defaultVersion: Type.Number(),
    settingsRevision: Type.Number(),
    locale: Type.String(),
    source: oneOf(['platform-default', 'company-custom']),
    text: Type.String(),
  }),
  settingsId: Type.String(),
  publicationQuality: Type.Optional(PublicationQuality),
  supersedesReportId: Type.Optional(Type.String()),
})
export type AutomaticReport = Static<typeof AutomaticReport>

/** One entry of the list of reports; the sections themselves are not in it (docs/interface.md, Analysis report summary). */
export const ReportSummary = named('ReportSummary', {
  id: Type.String(),
  createdBy: Type.String(),
  requestedBy: ReportRequester,
  ...times,
  title: Type.Optional(Type.String()),
  origin: object({
    type: oneOf(['free-form', 'dashboard']),
    dashboardPath: Type.Optional(Type.String()),
    dashboardTitle: Type.Optional(Type.String()),
  }),
  guidedAnalysis: Type.Optional(oneOf(guidedAnalyses)),
  archivedAt: Type.Optional(dateTime('When it was archived')),
  sectionCount: Type.Number(),
  activeGeneration: Type.Optional(ActiveGeneration),
  lastGenerationFailure: Type.Optional(GenerationFailure),
  automatic: Type.Optional(AutomaticReport),
})
export type ReportSummary = Static<typeof ReportSummary>

/** A report as a whole: its summary, what it says, and the results that this rests on. */
export const Report = named('Report', {
  ...ReportSummary.properties,
  question: Type.Optional(extension(text('What was asked, for a free question'))),
  locale: extension(oneOf(languages, 'Language of its texts')),
  timezone: extension(text('Zone in which its periods begin and its times are shown', 'Europe/Paris')),
  period: Type.Optional(
    extension(
      object(
        {
          start: dateTime('First instant'),
          end: dateTime('First instant after it'),
          comparisonWindows: ComparisonWindows,
        },
        'What it is about; absent until the first generation reads it',
      ),
    ),
  ),
  publicationQuality: Type.Optional(extension(PublicationQuality)),
  progress: Type.Optional(
    extension(Type.Number({ minimum: 0, maximum: 1, description: 'How far the active generation has come' })),
  ),
  usage: Type.Optional(extension(object(ReportUsage.properties, 'What all its generations took'))),
  supersededByReportId: Type.Optional(extension(text('The report that stands in its place'))),
  sections: extension(listOf(ReportSection, 'In reading order; follow-ups at the end')),
  evidence: extension(listOf(Evidence, 'In the order in which it was read')),
})
export type Report = Static<typeof Report>

const question = { ...longText('What to find out, as a question', 2_000), minLength: 1 }

/** One of `question`, `guidedAnalysis` and `dashboardPath`. */
export const ReportCreation = named('ReportCreation', {
  question: Type.Optional(question),
  guidedAnalysis: Type.Optional(oneOf(guidedAnalyses)),
  period: Type.Optional(DateRange),
  dashboardPath: Type.Optional(
    lineText('The saved query that the report reads: its id, or `/v2/statistics/query/{id}`', 500),
  ),
  dashboardTitle: Type.Optional(nameText('Title of what `dashboardPath` names')),
  locale: Type.Optional(oneOf(languages, 'Language of the report; the company’s when absent')),
})
export type ReportCreation = Static<typeof ReportCreation>

export const FollowUp = named('FollowUp', { question })

/** What came of running the query of an evidence again. */
export const EvidenceCheck = named('EvidenceCheck', {
  evidenceId: id('The evidence'),
  matches: flag('Whether the result is the same now'),
  resultHash: text('Of the evidence'),
  presentHash: Type.Optional(text('Of the result now; absent when the query failed')),
  rowCount: count('Rows of the result now'),
  checkedAt: dateTime('When the query was run again'),
  failureMessage: Type.Optional(text('Why the query can no longer be run')),
})
export type EvidenceCheck = Static<typeof EvidenceCheck>
