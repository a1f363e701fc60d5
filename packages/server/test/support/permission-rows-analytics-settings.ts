import type { PermissionRows } from './permission-row.ts'

const settings = '/v2/statistics/analytics/settings'

/** What lives below the settings of statistics. */
export const analyticsSettingsRows: PermissionRows = {
  readAnalyticsSettings: { needs: 'statistics access', call: () => ({ path: settings }), stranger: 200 },

  updateAnalyticsSettings: {
    needs: 'company update',
    call: () => ({ path: settings, body: { exactCounts: true } }),
    stranger: 200,
  },
}
