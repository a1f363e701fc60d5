import type { AuditAction } from '@millrace/contract/resources/audit-entry.ts'
import type { Experiment } from '@millrace/contract/resources/experiment.ts'
import { type AuditWorld, type Deed, fresh } from './audit-world.ts'
import { experimentBody } from './experiments.ts'

const experiments = '/statistics/experiments'
const nextYear = () => new Date(Date.now() + 200 * 86_400_000).toISOString()

/** The deed of an administrator to an experiment to which these deeds were done before. */
const ofExperiment =
  (before: readonly string[], act: (world: AuditWorld, path: string) => Promise<unknown>): Deed =>
  async (world) => {
    const { people, ask, begin } = world
    const { _id: id } = await ask<Experiment>(people, 'POST', experiments, experimentBody())
    const path = `${experiments}/${id}`
    for (const deed of before) await ask(people, 'POST', `${path}/${deed}`)
    await begin(people)
    await act(world, path)
    return { actor: ['user', people.admin.id], target: ['experiment', id] }
  }

const post = (deed: string, body?: Record<string, unknown>) => (world: AuditWorld, path: string) =>
  world.ask(world.people, 'POST', `${path}/${deed}`, body)

/** What is done to experiments. */
export const experimentDeeds = {
  'experiment-create': async ({ people, ask, begin }) => {
    await begin(people)
    const { _id: id } = await ask<Experiment>(people, 'POST', experiments, experimentBody())
    return { actor: ['user', people.admin.id], target: ['experiment', id] }
  },
  'experiment-update': ofExperiment([], ({ people, ask }, path) =>
    ask(people, 'PATCH', path, { name: fresh('Page ') }),
  ),
  'experiment-schedule': ofExperiment([], (world, path) =>
    post('schedule', { scheduledAt: nextYear() })(world, path),
  ),
  'experiment-start': ofExperiment([], post('start')),
  'experiment-read': ofExperiment(['start'], post('read')),
  'experiment-end': ofExperiment(['start'], post('end')),
  'experiment-decide': ofExperiment(['start', 'end'], post('decide', { routingVariantId: 'treatment' })),
  'experiment-archive': ofExperiment([], post('archive')),
} satisfies Partial<Record<AuditAction, Deed>>
