import { type Static, Type } from 'typebox'
import { languages } from '../languages.ts'
import { Evidence } from './evidence.ts'
import { dateTime, id, lineText, longText, nameText, oneOf, strict } from './formats.ts'
import { DateRange } from './query.ts'
import { ReportSection } from './report-section.ts'

/** Beyond docs/interface.md. */
const extension = { 'x-millrace-extension': true } as const

const GenerationKind = oneOf(['initial', 'follow-up'])

export const guidedAnalyses = ['impact', 'revenue', 'engagement', 'retention'] as const
export type GuidedAnalysisName = (typeof guidedAnalyses)[number]

export const reportCadences = ['monthly', 'quarterly', 'yearly'] as const
export type ReportCadence = (typeof reportCadences)[number]

const PublicationQuality = oneOf(['answered', 'limited'], {
  description: '`limited`: a part of what was asked could not be read or answered, which a section says',
})

export const ReportRequester = Type.Object(
  {
    type: oneOf(['user', 'platform', 'unknown']),
    userId: Type.Optional(Type.String({ description: 'For `user`' })),
  },
  { ...strict, title: 'ReportRequester' },
)
export type ReportRequester = Static<typeof ReportRequester>

export const ReportUsage = Type.Object(
  {
    queryCount: Type.Number(),
    rowCount: Type.Number(),
    payloadBytes: Type.Number(),
    agentTurns: Type.Number(),
    durationMs: Type.Number(),
  },
  { ...strict, title: 'ReportUsage' },
)
export type ReportUsage = Static<typeof ReportUsage>

const ActiveGeneration = Type.Object(
  {
    id: Type.String(),
    kind: GenerationKind,
    status: oneOf(['pending', 'running']),
    startedAt: dateTime('When it started'),
  },
  { ...strict, title: 'ActiveGeneration' },
)

const GenerationFailure = Type.Object(
  {
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
  },
  { ...strict, title: 'GenerationFailure' },
)
export type GenerationFailure = Static<typeof GenerationFailure>

const Window = Type.Object(
  { start: dateTime('First instant'), end: dateTime('First instant after it') },
  { ...strict, title: 'Window' },
)
export type Window = Static<typeof Window>

const ComparisonWindows = Type.Object({ previousPeriod: Window, previousYear: Type.Optional(Window) }, strict)
export type ComparisonWindows = Static<typeof ComparisonWindows>

const AutomaticReport = Type.Object(
  {
    slug: Type.String(),
    cadence: oneOf([...reportCadences]),
    period: Type.Object(
      {
        key: Type.String({ examples: ['2026-01'] }),
        start: dateTime('First instant of the period'),
        end: dateTime('First instant after the period'),
        timezone: Type.String(),
        comparisonWindows: ComparisonWindows,
      },
      strict,
    ),
    promptSnapshot: Type.Object(
      {
        templateKey: Type.String(),
        defaultVersion: Type.Number(),
        settingsRevision: Type.Number(),
        locale: Type.String(),
        source: oneOf(['platform-default', 'company-custom']),
        text: Type.String(),
      },
      strict,
    ),
    settingsId: Type.String(),
    publicationQuality: Type.Optional(PublicationQuality),
    supersedesReportId: Type.Optional(Type.String()),
  },
  { ...strict, title: 'AutomaticReport' },
)
export type AutomaticReport = Static<typeof AutomaticReport>

/** One entry of the list of reports; the sections themselves are not in it (docs/interface.md, Analysis report summary). */
export const ReportSummary = Type.Object(
  {
    id: Type.String(),
    createdBy: Type.String(),
    requestedBy: ReportRequester,
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
    title: Type.Optional(Type.String()),
    origin: Type.Object(
      {
        type: oneOf(['free-form', 'dashboard']),
        dashboardPath: Type.Optional(Type.String()),
        dashboardTitle: Type.Optional(Type.String()),
      },
      strict,
    ),
    guidedAnalysis: Type.Optional(oneOf([...guidedAnalyses])),
    archivedAt: Type.Optional(dateTime('When it was archived')),
    sectionCount: Type.Number(),
    activeGeneration: Type.Optional(ActiveGeneration),
    lastGenerationFailure: Type.Optional(GenerationFailure),
    automatic: Type.Optional(AutomaticReport),
  },
  { ...strict, title: 'ReportSummary' },
)
export type ReportSummary = Static<typeof ReportSummary>

/** A report as a whole: its summary, what it says, and the results that this rests on. */
export const Report = Type.Object(
  {
    ...ReportSummary.properties,
    question: Type.Optional(
      Type.String({ description: 'What was asked, for a free question', ...extension }),
    ),
    locale: oneOf([...languages], { description: 'Language of its texts', ...extension }),
    timezone: Type.String({
      description: 'Zone in which its periods begin and its times are shown',
      examples: ['Europe/Paris'],
      ...extension,
    }),
    period: Type.Optional(
      Type.Object(
        {
          start: dateTime('First instant'),
          end: dateTime('First instant after it'),
          comparisonWindows: ComparisonWindows,
        },
        {
          ...strict,
          description: 'What it is about; absent until the first generation reads it',
          ...extension,
        },
      ),
    ),
    publicationQuality: Type.Optional({ ...PublicationQuality, ...extension }),
    progress: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'How far the active generation has come',
        ...extension,
      }),
    ),
    usage: Type.Optional(
      Type.Object(ReportUsage.properties, {
        ...strict,
        description: 'What all its generations took',
        ...extension,
      }),
    ),
    supersededByReportId: Type.Optional(
      Type.String({ description: 'The report that stands in its place', ...extension }),
    ),
    sections: Type.Array(ReportSection, {
      description: 'In reading order; follow-ups at the end',
      ...extension,
    }),
    evidence: Type.Array(Evidence, { description: 'In the order in which it was read', ...extension }),
  },
  { ...strict, title: 'Report' },
)
export type Report = Static<typeof Report>

const question = { ...longText('What to find out, as a question', 2_000), minLength: 1 }

/** One of `question`, `guidedAnalysis` and `dashboardPath`. */
export const ReportCreation = Type.Object(
  {
    question: Type.Optional(question),
    guidedAnalysis: Type.Optional(oneOf([...guidedAnalyses])),
    period: Type.Optional(DateRange),
    dashboardPath: Type.Optional(
      lineText('The saved query that the report reads: its id, or `/v2/statistics/query/{id}`', 500),
    ),
    dashboardTitle: Type.Optional(nameText('Title of what `dashboardPath` names')),
    locale: Type.Optional(
      oneOf([...languages], { description: 'Language of the report; the company’s when absent' }),
    ),
  },
  { ...strict, title: 'ReportCreation' },
)
export type ReportCreation = Static<typeof ReportCreation>

export const FollowUp = Type.Object({ question }, { ...strict, title: 'FollowUp' })

/** What came of running the query of an evidence again. */
export const EvidenceCheck = Type.Object(
  {
    evidenceId: id('The evidence'),
    matches: Type.Boolean({ description: 'Whether the result is the same now' }),
    resultHash: Type.String({ description: 'Of the evidence' }),
    presentHash: Type.Optional(
      Type.String({ description: 'Of the result now; absent when the query failed' }),
    ),
    rowCount: Type.Integer({ minimum: 0, description: 'Rows of the result now' }),
    checkedAt: dateTime('When the query was run again'),
    failureMessage: Type.Optional(Type.String({ description: 'Why the query can no longer be run' })),
  },
  { ...strict, title: 'EvidenceCheck' },
)
export type EvidenceCheck = Static<typeof EvidenceCheck>
