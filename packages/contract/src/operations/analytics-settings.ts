import type { Operation } from '../operation.ts'
import { answers, example, operationsOf } from '../operation-builders.ts'
import { AnalyticsSettings, AnalyticsSettingsUpdate } from '../resources/analytics-settings.ts'

const operation = operationsOf('Statistics')

const url = '/v2/statistics/analytics/settings'

export const readAnalyticsSettings = {
  ...operation('readAnalyticsSettings', 'GET', url, 'statistics:access'),
  summary: 'Read the settings of statistics',
  ...answers('The settings', AnalyticsSettings),
} as const satisfies Operation

export const updateAnalyticsSettings = {
  ...operation('updateAnalyticsSettings', 'PATCH', url, 'company:update'),
  summary: 'Change the settings of statistics',
  description:
    'A partial update: a field that is absent, at any depth, stays as it is. Queries follow at once, also for what was collected before; `countries` holds for events collected from then on.',
  audit: { action: 'statistics-settings-update', target: 'company', of: 'company' },
  examples: {
    attribution: example('Credit all interactions, clicks for a week', {
      attribution: { model: 'linear', windows: { clickHours: 168 } },
    }),
    countries: example('Look up no countries', { countries: false }),
  },
  ...answers('The settings as they are now', AnalyticsSettings, { body: AnalyticsSettingsUpdate }),
} as const satisfies Operation
