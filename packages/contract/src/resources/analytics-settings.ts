import { type Static, Type } from 'typebox'
import { attributionModel, windowHours } from './company.ts'
import { flag, named, object } from './formats.ts'

const windows = {
  clickHours: windowHours('How long after a click a purchase is credited to it'),
  displayHours: windowHours('How long after a display a purchase is credited to it'),
}

/** How statistics of the caller's company are computed. */
export const AnalyticsSettings = named('AnalyticsSettings', {
  attribution: object({ model: attributionModel, windows: object(windows) }),
  exactCounts: flag('Whether distinct counts are exact at any size'),
  countries: flag('Whether the country of a sender is looked up when an event is collected'),
  showsOtherTeams: flag(
    'Whether names, addresses and parameters of workflows are shown to users of other teams too',
  ),
})
export type AnalyticsSettings = Static<typeof AnalyticsSettings>

/** Partial: a field that is absent, at any depth, stays as it is. */
export const AnalyticsSettingsUpdate = named('AnalyticsSettingsUpdate', {
  attribution: Type.Optional(
    object({
      model: Type.Optional(attributionModel),
      windows: Type.Optional(
        object({
          clickHours: Type.Optional(windows.clickHours),
          displayHours: Type.Optional(windows.displayHours),
        }),
      ),
    }),
  ),
  exactCounts: Type.Optional(AnalyticsSettings.properties.exactCounts),
  countries: Type.Optional(AnalyticsSettings.properties.countries),
  showsOtherTeams: Type.Optional(AnalyticsSettings.properties.showsOtherTeams),
})
export type AnalyticsSettingsUpdate = Static<typeof AnalyticsSettingsUpdate>
