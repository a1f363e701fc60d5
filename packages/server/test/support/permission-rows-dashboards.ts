import { ofOthers, only, type PermissionRow, type PermissionRows } from './permission-row.ts'
import type { Call, PermissionWorld, Person } from './permission-world.ts'
import { unusedName } from './refusal-row.ts'

export const dashboardsPath = '/v2/statistics/dashboards'

export const dashboardBody = (fields: object = {}) => ({ name: unusedName(), tiles: [], ...fields })

const needs = 'statistics access'

/** Of the administrator, or of another user of the first company. @returns its address */
const makeDashboard = async ({ make, admin }: PermissionWorld, by: Person = admin): Promise<string> => {
  const { id } = await make<{ id: string }>('POST', dashboardsPath, dashboardBody(), by.token)
  return `${dashboardsPath}/${id}`
}

/** A team that the caller, who is in the default one alone, is no member of. */
const foreignTeam = (call: (world: PermissionWorld, caller: Person) => Promise<Call> | Call) => ({
  says: 'names no team that the caller is not a member of',
  rights: only(needs),
  call: async (world: PermissionWorld, caller: Person) => ({
    ...(await call(world, caller)),
    body: dashboardBody({ resourceGroupIds: [world.teams.other] }),
  }),
  refusal: 'notInTeam' as const,
})

function changing(body?: () => unknown): PermissionRow {
  const call = (path: string) => ({ path, ...(body && { body: body() }) })
  return {
    needs,
    call: async (world) => call(await makeDashboard(world)),
    alone: 403,
    stranger: 404,
    further: [
      ...ofOthers(call, makeDashboard),
      ...(body ? [foreignTeam(async (world, caller) => ({ path: await makeDashboard(world, caller) }))] : []),
    ],
  }
}

export const dashboardRows: PermissionRows = {
  listDashboards: { needs, call: () => ({ path: dashboardsPath }), stranger: 200 },
  createDashboard: {
    needs,
    call: () => ({ path: dashboardsPath, body: dashboardBody() }),
    stranger: 200,
    further: [foreignTeam(() => ({ path: dashboardsPath }))],
  },
  readDashboard: { needs, call: async (world) => ({ path: await makeDashboard(world) }), stranger: 404 },
  replaceDashboard: changing(() => dashboardBody()),
  deleteDashboard: changing(),
  duplicateDashboard: {
    needs,
    call: async (world) => ({ path: `${await makeDashboard(world)}/duplicate` }),
    stranger: 404,
  },
}

export const explorationsPath = '/v2/statistics/explorations'

export const explorationBody = (fields: object = {}) => ({
  name: unusedName(),
  exploration: 'funnel',
  definition: { steps: [{ events: ['view'] }, { events: ['purchase'] }], dateRange: 'today' },
  ...fields,
})

const makeExploration = async ({ make, admin }: PermissionWorld, by: Person = admin): Promise<string> => {
  const { id } = await make<{ id: string }>('POST', explorationsPath, explorationBody(), by.token)
  return `${explorationsPath}/${id}`
}

function changingExploration(body?: () => unknown): PermissionRow {
  const call = (path: string) => ({ path, ...(body && { body: body() }) })
  return {
    needs,
    call: async (world) => call(await makeExploration(world)),
    alone: 403,
    stranger: 404,
    further: ofOthers(call, makeExploration),
  }
}

export const savedExplorationRows: PermissionRows = {
  listSavedExplorations: { needs, call: () => ({ path: explorationsPath }), stranger: 200 },
  saveExploration: {
    needs,
    call: () => ({ path: explorationsPath, body: explorationBody() }),
    stranger: 200,
  },
  readSavedExploration: {
    needs,
    call: async (world) => ({ path: await makeExploration(world) }),
    stranger: 404,
  },
  updateSavedExploration: changingExploration(() => ({ name: unusedName() })),
  deleteSavedExploration: changingExploration(),
  runSavedExploration: {
    needs,
    call: async (world) => ({ path: `${await makeExploration(world)}/run` }),
    stranger: 404,
  },
}
