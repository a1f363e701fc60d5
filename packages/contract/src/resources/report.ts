import { type Static, Type } from 'typebox'
import { Evidence } from './evidence.ts'
import { dateTime, oneOf, strict } from './formats.ts'

const GenerationKind = oneOf(['initial', 'follow-up'])

export const ReportRequester = Type.Object(
  {
    type: oneOf(['user', 'platform', 'unknown']),
    userId: Type.Optional(Type.String({ description: 'For `user`' })),
  },
  { ...strict, title: 'ReportRequester' },
)

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

const Window = Type.Object(
  { start: dateTime('First instant'), end: dateTime('First instant after it') },
  { ...strict, title: 'Window' },
)

const AutomaticReport = Type.Object(
  {
    slug: Type.String(),
    cadence: oneOf(['monthly', 'quarterly', 'yearly']),
    period: Type.Object(
      {
        key: Type.String({ examples: ['2026-01'] }),
        start: dateTime('First instant of the period'),
        end: dateTime('First instant after the period'),
        timezone: Type.String(),
        comparisonWindows: Type.Object(
          { previousPeriod: Window, previousYear: Type.Optional(Window) },
          strict,
        ),
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
    publicationQuality: Type.Optional(oneOf(['answered', 'limited'])),
    supersedesReportId: Type.Optional(Type.String()),
  },
  { ...strict, title: 'AutomaticReport' },
)

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
    guidedAnalysis: Type.Optional(oneOf(['impact', 'revenue', 'engagement', 'retention'])),
    archivedAt: Type.Optional(dateTime('When it was archived')),
    sectionCount: Type.Number(),
    activeGeneration: Type.Optional(ActiveGeneration),
    lastGenerationFailure: Type.Optional(GenerationFailure),
    automatic: Type.Optional(AutomaticReport),
  },
  { ...strict, title: 'ReportSummary' },
)
export type ReportSummary = Static<typeof ReportSummary>
