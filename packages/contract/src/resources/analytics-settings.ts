import { type Static, Type } from 'typebox'
import { attributionModel, windowHours } from './company.ts'
import { strict } from './formats.ts'

const windows = {
  clickHours: windowHours('How long after a click a purchase is credited to it'),
  displayHours: windowHours('How long after a display a purchase is credited to it'),
}

/** How statistics of the caller's company are computed. */
export const AnalyticsSettings = Type.Object(
  {
    attribution: Type.Object({ model: attributionModel, windows: Type.Object(windows, strict) }, strict),
    exactCounts: Type.Boolean({ description: 'Whether distinct counts are exact at any size' }),
    countries: Type.Boolean({
      description: 'Whether the country of a sender is looked up when an event is collected',
    }),
    showsOtherTeams: Type.Boolean({
      description:
        'Whether names, addresses and parameters of workflows are shown to users of other teams too',
    }),
  },
  { ...strict, title: 'AnalyticsSettings' },
)
export type AnalyticsSettings = Static<typeof AnalyticsSettings>

/** Partial: a field that is absent, at any depth, stays as it is. */
export const AnalyticsSettingsUpdate = Type.Object(
  {
    attribution: Type.Optional(
      Type.Object(
        {
          model: Type.Optional(attributionModel),
          windows: Type.Optional(
            Type.Object(
              {
                clickHours: Type.Optional(windows.clickHours),
                displayHours: Type.Optional(windows.displayHours),
              },
              strict,
            ),
          ),
        },
        strict,
      ),
    ),
    exactCounts: Type.Optional(AnalyticsSettings.properties.exactCounts),
    countries: Type.Optional(AnalyticsSettings.properties.countries),
    showsOtherTeams: Type.Optional(AnalyticsSettings.properties.showsOtherTeams),
  },
  { ...strict, title: 'AnalyticsSettingsUpdate' },
)
export type AnalyticsSettingsUpdate = Static<typeof AnalyticsSettingsUpdate>
