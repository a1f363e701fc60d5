import { successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { AnalyticsSettings, AnalyticsSettingsUpdate } from '../resources/analytics-settings.ts'

const url = '/v2/statistics/analytics/settings'

export const readAnalyticsSettings = {
  id: 'readAnalyticsSettings',
  extension: true,
  method: 'GET',
  url,
  scope: 'authenticated',
  permission: { resource: 'statistics', action: 'access' },
  tag: 'Statistics',
  summary: 'Read the settings of statistics',
  errors: [],
  replies: { 200: { description: 'The settings' } },
  schema: { response: { 200: successEnvelope(AnalyticsSettings) } },
} as const satisfies Operation

export const updateAnalyticsSettings = {
  id: 'updateAnalyticsSettings',
  extension: true,
  method: 'PATCH',
  url,
  scope: 'authenticated',
  permission: { resource: 'company', action: 'update' },
  tag: 'Statistics',
  summary: 'Change the settings of statistics',
  description:
    'A partial update: a field that is absent, at any depth, stays as it is. Queries follow at once, also for what was collected before; `countries` holds for events collected from then on.',
  audit: { action: 'statistics-settings-update', target: 'company', of: 'company' },
  errors: [],
  examples: {
    attribution: {
      summary: 'Credit all interactions, clicks for a week',
      value: { attribution: { model: 'linear', windows: { clickHours: 168 } } },
    },
    countries: { summary: 'Look up no countries', value: { countries: false } },
  },
  replies: { 200: { description: 'The settings as they are now' } },
  schema: { body: AnalyticsSettingsUpdate, response: { 200: successEnvelope(AnalyticsSettings) } },
} as const satisfies Operation
