import { type Static, Type } from 'typebox'
import { languages } from '../languages.ts'
import {
  bodyOf,
  count,
  dateTime,
  emailAddress,
  flag,
  id,
  longText,
  named,
  nullable,
  object,
  oneOf,
  optionals,
  text,
} from './formats.ts'
import { reportCadences } from './report.ts'

const writable = {
  enabled: flag('Whether a report is made of every period'),
  cadence: oneOf(reportCadences, 'How long a period is'),
  recipients: Type.Array(emailAddress('Who gets the report'), {
    maxItems: 50,
    uniqueItems: true,
    description: 'Addresses of active users of the company, or of its verified domains',
  }),
  locale: nullable(oneOf(languages), 'Language of the reports; null: the company’s'),
  prompt: nullable(
    longText('What the reports look at, as a question', 2_000),
    'The company’s own words; null: the default ones',
  ),
}

const AnalysisSettings = named('AutomaticAnalysisSettings', {
  ...writable,
  settingsId: Type.Optional(id('Absent while nothing was set')),
  revision: count('Grows with every change'),
  defaultPrompt: object(
    { templateKey: Type.String(), version: Type.Integer({ minimum: 1 }), text: Type.String() },
    'The words that hold while `prompt` is null',
  ),
  ownerId: Type.Optional(
    id('Who enabled it or changed who gets it; while this user may not export, nothing is made'),
  ),
  nextAt: Type.Optional(dateTime('When the next report is made; absent while none is')),
  pausedReason: Type.Optional(text('Why the service has stopped; `enabled: true` sent again starts anew')),
  updatedAt: Type.Optional(dateTime('When it was changed last')),
})
export type AutomaticAnalysisSettings = Static<typeof AnalysisSettings>

/** Which guided analyses are made by themselves, of which periods, and for whom. */
export const ReportSettings = named('ReportSettings', {
  analyses: object({
    impact: AnalysisSettings,
    revenue: AnalysisSettings,
    engagement: AnalysisSettings,
    retention: AnalysisSettings,
  }),
})
export type ReportSettings = Static<typeof ReportSettings>

const change = optionals(writable)
const AnalysisChange = bodyOf('AutomaticAnalysisChange', AnalysisSettings, change)

/** Partial, at both depths: what is absent stays as it is. */
export const ReportSettingsUpdate = named('ReportSettingsUpdate', {
  analyses: object({
    impact: Type.Optional(AnalysisChange),
    revenue: Type.Optional(AnalysisChange),
    engagement: Type.Optional(AnalysisChange),
    retention: Type.Optional(AnalysisChange),
  }),
})
export type ReportSettingsUpdate = Static<typeof ReportSettingsUpdate>
