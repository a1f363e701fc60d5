import type { MakeCall, PermissionRows } from './permission-row.ts'
import type { PermissionWorld } from './permission-world.ts'
import { unusedName } from './refusal-row.ts'

export const cohortsPath = '/v2/statistics/cohorts'

export const ruleCohort = () => ({ name: unusedName(), rule: { event: { events: ['purchase'] } } })

/** Of the first company. @returns its id */
async function makeCohort({ make }: PermissionWorld, fields: object): Promise<string> {
  const { id } = await make<{ id: string }>('POST', cohortsPath, { ...ruleCohort(), ...fields })
  return id
}

const ofCohort =
  (suffix: string, body?: () => unknown, fields: object = {}): MakeCall =>
  async (world) => ({
    path: `${cohortsPath}/${await makeCohort(world, fields)}${suffix}`,
    ...(body ? { body: body() } : {}),
  })

const needs = 'statistics access'

/** Saved groups of persons. */
export const cohortRows: PermissionRows = {
  listCohorts: { needs, call: () => ({ path: cohortsPath }), stranger: 200 },
  createCohort: { needs, call: () => ({ path: cohortsPath, body: ruleCohort() }), stranger: 200 },
  readCohort: { needs, call: ofCohort(''), stranger: 404 },
  updateCohort: { needs, call: ofCohort('', () => ({ name: unusedName() })), stranger: 404 },
  deleteCohort: { needs, call: ofCohort(''), stranger: 404 },
  readCohortSize: { needs, call: ofCohort('/size'), stranger: 404 },
  listCohortMembers: { needs: 'statistics export', call: ofCohort('/members'), stranger: 404 },
  replaceCohortMembers: {
    needs,
    call: ofCohort('/members', () => ({ persons: ['ada'] }), { rule: null, persons: [] }),
    stranger: 404,
  },
}
