import { newId } from '../../src/platform/ids.ts'
import type { Call, PermissionWorld, Rights } from './permission-world.ts'

/** Whom an operation answers, and how. One row for each routed operation of the authenticated scope. */
export interface PermissionRow {
  /** A call that succeeds for the administrator of the first company; it makes the object that it is about. */
  readonly call: (world: PermissionWorld) => Call | Promise<Call>
  /** Status for the administrator; 200 unless the call cannot come further than its permission in a test. */
  readonly entitled?: number
  /** Status for somebody of another company with every permission: 404 wherever the address names an object. */
  readonly stranger: number
  /** Status for somebody of the same company with every permission, in another team; where teams matter. */
  readonly otherTeam?: number
  /** Where words say who may: rights, and the status that they lead to. Operations with a permission have none. */
  readonly access?: readonly (readonly [rights: Rights, status: number])[]
}

const only = (...permissions: readonly string[]): Rights => ({
  only: permissions.map((permission) => {
    const [resource, action] = permission.split(' ')
    return { resource, action } as never
  }),
})

const nothing = only()

const query = { measures: ['events.count'], dimensions: [], filters: [], timeDimensions: [] }

async function insertLinkedAccount({ relational, admin }: PermissionWorld): Promise<string> {
  const id = newId()
  await relational.pool.query(
    `insert into linked_accounts (id, company_id, user_id, provider, name, host, sealed_target)
     values ($1, $2, $3, 'webhook', 'n', 'h', '')`,
    [id, admin.companyId, admin.userId],
  )
  return id
}

export const permissionRows: Readonly<Record<string, PermissionRow>> = {
  runQuery: { call: () => ({ path: '/v2/statistics/query', body: query }), stranger: 200 },

  readStatisticsMeta: { call: () => ({ path: '/v2/statistics/meta' }), stranger: 200 },

  listDatasources: { call: () => ({ path: '/v2/datasources' }), stranger: 200, otherTeam: 200 },

  createDatasource: {
    call: async ({ relational, admin }) => {
      const { rows } = await relational.pool.query(
        'select id from teams where company_id = $1 and is_default',
        [admin.companyId],
      )
      return { path: '/v2/datasources', body: { name: 'Shop', resourceGroupIds: [rows[0].id] } }
    },
    // The team that the body names is unknown in another company, and foreign to another team.
    stranger: 400,
    otherTeam: 403,
  },

  listDatasourceLogs: {
    call: ({ service }) => ({ path: `/v2/datasources/${service.datasourceId}/logs` }),
    stranger: 404,
    otherTeam: 404,
  },

  readDatasourceCounters: {
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
