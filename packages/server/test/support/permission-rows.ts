import { newId } from '../../src/platform/ids.ts'
import { nothing, only, type PermissionRows } from './permission-row.ts'
import { accountRows } from './permission-rows-accounts.ts'
import { analyticsSettingsRows } from './permission-rows-analytics-settings.ts'
import { cohortRows } from './permission-rows-cohorts.ts'
import { companyRows } from './permission-rows-company.ts'
import { dashboardRows, savedExplorationRows } from './permission-rows-dashboards.ts'
import { datasourceRows } from './permission-rows-datasources.ts'
import { experimentRows } from './permission-rows-experiments.ts'
import { exportRows } from './permission-rows-exports.ts'
import { ownAccountRows } from './permission-rows-own-account.ts'
import { reportRows } from './permission-rows-reports.ts'
import { runnerRows } from './permission-rows-runner.ts'
import { savedQueryRows } from './permission-rows-saved-queries.ts'
import { signOnRows } from './permission-rows-sign-on.ts'
import { workflowSettingRows } from './permission-rows-workflow-settings.ts'
import { workflowRows } from './permission-rows-workflows.ts'
import type { PermissionWorld } from './permission-world.ts'

const query = { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }

const funnel = { steps: [{ events: ['page_view'] }, { events: ['purchase'] }], dateRange: 'last 30 days' }
const retention = { firstEvent: {}, returnEvent: {}, granularity: 'week', dateRange: 'last 8 weeks' }
const paths = { by: 'path', dateRange: 'last 7 days' }

/** An account that the administrator has linked. @returns its identifier */
export async function insertLinkedAccount({
  relational,
  admin,
}: Pick<PermissionWorld, 'relational' | 'admin'>): Promise<string> {
  const id = newId()
  await relational.pool.query(
    `insert into linked_accounts (id, company_id, user_id, provider, name, host, sealed_target)
     values ($1, $2, $3, 'webhook', 'n', 'h', '')`,
    [id, admin.companyId, admin.userId],
  )
  return id
}

/** Every routed operation of the authenticated scope by its id. */
export const permissionRows: PermissionRows = {
  ...accountRows,
  ...companyRows,
  ...ownAccountRows,
  ...signOnRows,
  ...cohortRows,
  ...dashboardRows,
  ...savedExplorationRows,
  ...datasourceRows,
  ...experimentRows,
  ...exportRows,
  ...analyticsSettingsRows,
  ...savedQueryRows,
  ...reportRows,
  ...workflowRows,
  ...runnerRows,
  ...workflowSettingRows,

  runQuery: {
    needs: 'statistics access',
    call: () => ({ path: '/v2/statistics/query', body: query }),
    stranger: 200,
  },

  explainQuery: {
    needs: 'statistics access',
    call: () => ({ path: '/v2/statistics/query/explain', body: query }),
    stranger: 200,
  },

  exploreFunnel: {
    needs: 'statistics access',
    call: () => ({ path: '/v2/statistics/funnels', body: funnel }),
    stranger: 200,
  },

  listStatisticsValues: {
    needs: 'statistics access',
    call: () => ({ path: '/v2/statistics/values?member=events.name' }),
    stranger: 200,
  },

  exploreRetention: {
    needs: 'statistics access',
    call: () => ({ path: '/v2/statistics/retention', body: retention }),
    stranger: 200,
  },

  explorePaths: {
    needs: 'statistics access',
    call: () => ({ path: '/v2/statistics/paths', body: paths }),
    stranger: 200,
  },

  readStatisticsMeta: {
    needs: 'statistics access',
    call: () => ({ path: '/v2/statistics/meta' }),
    stranger: 200,
  },

  listDatasources: {
    needs: 'datasource read',
    call: () => ({ path: '/v2/datasources' }),
    stranger: 200,
    otherTeam: 200,
  },

  createDatasource: {
    needs: 'datasource create',
    call: ({ teams }) => ({
      path: '/v2/datasources',
      body: { name: 'Shop', resourceGroupIds: [teams.default] },
    }),
    // The team that the body names is unknown in another company, and foreign to another team.
    stranger: 400,
    otherTeam: 403,
    further: [
      {
        says: 'refuses a team that the caller is not in, beside one of their own',
        rights: only('datasource create'),
        call: ({ teams }) => ({
          path: '/v2/datasources',
          body: { name: 'Shop', resourceGroupIds: [teams.default, teams.other] },
        }),
        refusal: 'notInTeam',
      },
    ],
  },

  listDatasourceLogs: {
    needs: 'datasource read',
    call: ({ service }) => ({ path: `/v2/datasources/${service.datasourceId}/logs` }),
    stranger: 404,
    otherTeam: 404,
  },

  readDatasourceCounters: {
    needs: 'datasource read',
    call: ({ service }) => ({ path: `/v2/datasources/${service.datasourceId}/counters` }),
    stranger: 404,
    otherTeam: 404,
  },

  listLinkedAccounts: {
    call: ({ admin }) => ({ path: `/v2/linked-accounts?userId=${admin.userId}` }),
    stranger: 404,
    access: [
      [nothing, 403],
      [{ without: { resource: 'user', action: 'read' } }, 403],
      [only('user read'), 200],
    ],
  },

  createLinkedAccount: {
    // No address that a test could give is public: everybody comes as far as that.
    call: () => ({
      path: '/v2/linked-accounts',
      body: { provider: 'webhook', name: 'n', url: 'https://10.0.0.1/' },
    }),
    entitled: 400,
    stranger: 400,
    access: [[nothing, 400]],
  },

  deleteLinkedAccount: {
    call: async (world) => ({ path: `/v2/linked-accounts/${await insertLinkedAccount(world)}` }),
    stranger: 404,
    access: [
      [nothing, 404],
      [{ without: { resource: 'user', action: 'update' } }, 404],
      [only('user update'), 200],
    ],
  },

  listAuditEntries: {
    call: () => ({ path: '/v2/entities/audit-log' }),
    stranger: 200,
    access: [
      [nothing, 403],
      [only('user read', 'role read', 'team read', 'company update'), 403],
      [only('user update'), 200],
      [only('role update'), 200],
      [only('team update'), 200],
    ],
  },
}
