import type { Experiment } from '@millrace/contract/resources/experiment.ts'
import type { TagKey } from '@millrace/contract/resources/tag-key.ts'
import { newId } from '../../src/platform/ids.ts'
import { experimentBody } from './experiments.ts'
import { experimentsPath } from './permission-rows-experiments.ts'
import type { PermissionWorld, Person } from './permission-world.ts'
import { nobody, type RefusalRows, refused } from './refusal-row.ts'

const tags = '/v2/statistics/analytics/settings/tags'

/** An experiment of the founder, after these deeds. @returns its address */
async function add({ make }: PermissionWorld, { token }: Person, ...deeds: string[]): Promise<string> {
  const { _id } = await make<Experiment>('POST', experimentsPath, experimentBody(), token)
  const path = `${experimentsPath}/${_id}`
  for (const deed of deeds) await make('POST', `${path}/${deed}`, undefined, token)
  return path
}

/** What a state does not allow. */
const inState = (deeds: readonly string[], suffix: string, body?: object) => ({
  experimentTransition: refused(async (founder, world) => ({
    path: `${await add(world, founder, ...deeds)}${suffix}`,
    ...(body && { body }),
  })),
})

/** Experiments and their states. */
export const experimentRefusals: RefusalRows = {
  createExperiment: {
    tooManyExperiments: refused(async ({ companyId, userId }, { relational }) => {
      await relational.pool.query(
        `insert into experiments (id, company_id, name, created_by, type, unit, baseline_variant_id, metrics,
           conversion_window_hours, salt)
         select substr(md5(n::text || $1), 1, 24), $1, 'E', $2, 'ab', 'user', 'a', '[{}]', 1, 'salt'
         from generate_series(1, 1000) n`,
        [companyId, userId],
      )
      return { path: experimentsPath, body: experimentBody() }
    }),
    unknownTeam: refused(() => ({
      path: experimentsPath,
      body: { ...experimentBody(), resourceGroupIds: [nobody] },
    })),
    unknownWorkflow: refused(() => ({
      path: experimentsPath,
      body: { ...experimentBody(), attachments: [{ surface: 'workflow', resourceId: nobody }] },
    })),
  },
  updateExperiment: {
    experimentFixed: refused(async (founder, world) => ({
      path: await add(world, founder, 'start'),
      body: { cupedDays: 3 },
    })),
    tagKeyNameTaken: refused(async (founder, world) => {
      const path = await add(world, founder)
      const name = `Experiment ${path.split('/').at(-1)}: Other`
      await world.make<TagKey>('POST', tags, { definition: { name } }, founder.token)
      return { path, body: { name: 'Other' } }
    }),
    unknownTeam: refused(async (founder, world) => ({
      path: await add(world, founder),
      body: { resourceGroupIds: [newId()] },
    })),
    unknownWorkflow: refused(async (founder, world) => ({
      path: await add(world, founder),
      body: { attachments: [{ surface: 'workflow', resourceId: nobody }] },
    })),
  },
  scheduleExperiment: inState(['start'], '/schedule', { scheduledAt: null }),
  startExperiment: inState(['start'], '/start'),
  markExperimentRead: inState([], '/read'),
  endExperiment: inState([], '/end'),
  decideExperiment: {
    ...inState(['start'], '/decide', { routingVariantId: 'treatment' }),
    tooManyRequests: 'ext-experiments: is not made while results cannot be read: tooManyRequests',
    timeout: 'ext-experiments: is not made while results cannot be read: timeout',
  },
  archiveExperiment: inState(['start'], '/archive'),
}
