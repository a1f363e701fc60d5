import { type MakeCall, ofOthers, type PermissionRow, type PermissionRows } from './permission-row.ts'
import type { PermissionWorld, Person } from './permission-world.ts'
import { unusedName } from './refusal-row.ts'

export const cohortsPath = '/v2/statistics/cohorts'

export const ruleCohort = () => ({ name: unusedName(), rule: { event: { events: ['purchase'] } } })

const needs = 'statistics access'

/** Of the administrator, or of another user of the first company. @returns its address */
const makeCohort =
  (fields: object = {}) =>
  async ({ make, admin }: PermissionWorld, by: Person = admin): Promise<string> => {
    const { id } = await make<{ id: string }>('POST', cohortsPath, { ...ruleCohort(), ...fields }, by.token)
    return `${cohortsPath}/${id}`
  }

const ofCohort =
  (suffix: string): MakeCall =>
  async (world) => ({ path: `${await makeCohort()(world)}${suffix}` })

/** Of operations that change a cohort. */
function changing(suffix: string, body?: () => unknown, fields: object = {}): PermissionRow {
  const call = (path: string) => ({ path: `${path}${suffix}`, ...(body && { body: body() }) })
  const save = makeCohort(fields)
  return {
    needs,
    call: async (world) => call(await save(world)),
    alone: 403,
    stranger: 404,
    further: ofOthers(call, save),
  }
}

/** Saved groups of persons. */
export const cohortRows: PermissionRows = {
  listCohorts: { needs, call: () => ({ path: cohortsPath }), stranger: 200 },
  createCohort: { needs, call: () => ({ path: cohortsPath, body: ruleCohort() }), stranger: 200 },
  readCohort: { needs, call: ofCohort(''), stranger: 404 },
  updateCohort: changing('', () => ({ name: unusedName() })),
  deleteCohort: changing(''),
  readCohortSize: { needs, call: ofCohort('/size'), stranger: 404 },
  countCohortRule: {
    needs,
    call: () => ({ path: `${cohortsPath}/size`, body: { rule: ruleCohort().rule } }),
    stranger: 200,
  },
  listCohortMembers: { needs: 'statistics export', call: ofCohort('/members'), stranger: 404 },
  replaceCohortMembers: changing('/members', () => ({ persons: ['ada'] }), { rule: null, persons: [] }),
}
