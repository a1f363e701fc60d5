import { newId } from '../../src/platform/ids.ts'
import { cohortsPath, ruleCohort } from './permission-rows-cohorts.ts'
import type { PermissionWorld, Person } from './permission-world.ts'
import { type RefusalRows, refused, unusedName } from './refusal-row.ts'
import { publishWithCohort } from './workflows.ts'

async function add({ make }: PermissionWorld, { token }: Person, fields: object = {}) {
  return make<{ id: string; name: string }>('POST', cohortsPath, { ...ruleCohort(), ...fields }, token)
}

/** Saved groups of persons. */
export const cohortRefusals: RefusalRows = {
  createCohort: {
    cohortNameTaken: refused(async (founder, world) => {
      const { name } = await add(world, founder)
      return { path: cohortsPath, body: { ...ruleCohort(), name: ` ${name.toUpperCase()} ` } }
    }),
    tooManyCohorts: refused(async ({ companyId }, { relational }) => {
      for (let i = 0; i < 100; i++)
        await relational.pool.query(
          `insert into cohorts (id, company_id, name, rule) values ($1, $2, $3, '{"event": {}}')`,
          [newId(), companyId, `cohort ${i}`],
        )
      return { path: cohortsPath, body: ruleCohort() }
    }),
  },
  updateCohort: {
    savedMeanwhile: refused(async (founder, world) => {
      const { id } = await add(world, founder)
      return { path: `${cohortsPath}/${id}`, body: { description: 'x' }, ifMatch: '"0"' }
    }),
    cohortNameTaken: refused(async (founder, world) => {
      const { name } = await add(world, founder)
      const { id } = await add(world, founder)
      return { path: `${cohortsPath}/${id}`, body: { name } }
    }),
    cohortKind: refused(async (founder, world) => {
      const { id } = await add(world, founder, { rule: null, persons: ['ada'] })
      return { path: `${cohortsPath}/${id}`, body: { rule: ruleCohort().rule } }
    }),
  },
  deleteCohort: {
    savedMeanwhile: refused(async (founder, world) => {
      const { id } = await add(world, founder)
      return { path: `${cohortsPath}/${id}`, ifMatch: '"0"' }
    }),
    usedByWorkflows: refused(async (founder, world) => {
      const { id } = await add(world, founder)
      await publishWithCohort(world.relational, founder.companyId, id)
      return { path: `${cohortsPath}/${id}` }
    }),
  },
  replaceCohortMembers: {
    savedMeanwhile: refused(async (founder, world) => {
      const { id } = await add(world, founder, { rule: null, persons: [] })
      return { path: `${cohortsPath}/${id}/members`, body: { persons: ['ada'] }, ifMatch: '"0"' }
    }),
    cohortKind: refused(async (founder, world) => {
      const { id } = await add(world, founder, { name: unusedName() })
      return { path: `${cohortsPath}/${id}/members`, body: { persons: ['ada'] } }
    }),
  },
}
