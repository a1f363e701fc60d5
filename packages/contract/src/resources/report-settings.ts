import { type Static, Type } from 'typebox'
import { languages } from '../languages.ts'
import { dateTime, emailAddress, id, longText, nullable, oneOf, responseOnly, strict } from './formats.ts'
import { reportCadences } from './report.ts'

const writable = {
  enabled: Type.Boolean({ description: 'Whether a report is made of every period' }),
  cadence: oneOf([...reportCadences], { description: 'How long a period is' }),
  recipients: Type.Array(emailAddress('Who gets the report'), {
    maxItems: 50,
    uniqueItems: true,
    description: 'Addresses of active users of the company, or of its verified domains',
  }),
  locale: nullable(oneOf([...languages]), { description: 'Language of the reports; null: the company’s' }),
  prompt: nullable(longText('What the reports look at, as a question', 2_000), {
    description: 'The company’s own words; null: the default ones',
  }),
}

const AnalysisSettings = Type.Object(
  {
    ...writable,
    settingsId: Type.Optional(id('Absent while nothing was set')),
    revision: Type.Integer({ minimum: 0, description: 'Grows with every change' }),
    defaultPrompt: Type.Object(
      { templateKey: Type.String(), version: Type.Integer({ minimum: 1 }), text: Type.String() },
      { ...strict, description: 'The words that hold while `prompt` is null' },
    ),
    ownerId: Type.Optional(
      id('Who enabled it or changed who gets it; while this user may not export, nothing is made'),
    ),
    nextAt: Type.Optional(dateTime('When the next report is made; absent while none is')),
    pausedReason: Type.Optional(
      Type.String({ description: 'Why the service has stopped; `enabled: true` sent again starts anew' }),
    ),
    updatedAt: Type.Optional(dateTime('When it was changed last')),
  },
  { ...strict, title: 'AutomaticAnalysisSettings' },
)
export type AutomaticAnalysisSettings = Static<typeof AnalysisSettings>

/** Which guided analyses are made by themselves, of which periods, and for whom. */
export const ReportSettings = Type.Object(
  {
    analyses: Type.Object(
      {
        impact: AnalysisSettings,
        revenue: AnalysisSettings,
        engagement: AnalysisSettings,
        retention: AnalysisSettings,
      },
      strict,
    ),
  },
  { ...strict, title: 'ReportSettings' },
)
export type ReportSettings = Static<typeof ReportSettings>

const change = {
  enabled: Type.Optional(writable.enabled),
  cadence: Type.Optional(writable.cadence),
  recipients: Type.Optional(writable.recipients),
  locale: Type.Optional(writable.locale),
  prompt: Type.Optional(writable.prompt),
}
const AnalysisChange = Type.Object(
  { ...change, ...responseOnly(AnalysisSettings, change) },
  { ...strict, title: 'AutomaticAnalysisChange' },
)

/** Partial, at both depths: what is absent stays as it is. */
export const ReportSettingsUpdate = Type.Object(
  {
    analyses: Type.Object(
      {
        impact: Type.Optional(AnalysisChange),
        revenue: Type.Optional(AnalysisChange),
        engagement: Type.Optional(AnalysisChange),
        retention: Type.Optional(AnalysisChange),
      },
      strict,
    ),
  },
  { ...strict, title: 'ReportSettingsUpdate' },
)
export type ReportSettingsUpdate = Static<typeof ReportSettingsUpdate>
