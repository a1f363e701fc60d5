import type { Experiment } from '@millrace/contract/resources/experiment.ts'
import { experimentBody } from './experiments.ts'
import type { MakeCall, PermissionRows } from './permission-row.ts'

export const experimentsPath = '/v2/statistics/experiments'

/** Of the first company, after these deeds. */
const ofExperiment =
  (suffix: string, body?: () => unknown, deeds: readonly string[] = []): MakeCall =>
  async ({ make }) => {
    const { _id } = await make<Experiment>('POST', experimentsPath, experimentBody())
    for (const deed of deeds) await make('POST', `${experimentsPath}/${_id}/${deed}`, undefined)
    return { path: `${experimentsPath}/${_id}${suffix}`, ...(body ? { body: body() } : {}) }
  }

const needs = 'statistics access'
const update = 'workflowSettings update'
const tomorrow = () => ({ scheduledAt: new Date(Date.now() + 86_400_000).toISOString() })

/** Experiments and their states. */
export const experimentRows: PermissionRows = {
  listExperiments: { needs, call: () => ({ path: experimentsPath }), stranger: 200 },
  createExperiment: {
    needs: 'workflowSettings create',
    call: () => ({ path: experimentsPath, body: experimentBody() }),
    stranger: 200,
  },
  readExperiment: { needs, call: ofExperiment(''), stranger: 404 },
  updateExperiment: { needs: update, call: ofExperiment('', () => ({ name: 'Other' })), stranger: 404 },
  scheduleExperiment: { needs: update, call: ofExperiment('/schedule', tomorrow), stranger: 404 },
  startExperiment: { needs: update, call: ofExperiment('/start'), stranger: 404 },
  markExperimentRead: { needs, call: ofExperiment('/read', undefined, ['start']), stranger: 404 },
  endExperiment: { needs: update, call: ofExperiment('/end', undefined, ['start']), stranger: 404 },
  decideExperiment: {
    needs: update,
    call: ofExperiment('/decide', () => ({ routingVariantId: 'treatment' }), ['start', 'end']),
    stranger: 404,
  },
  archiveExperiment: { needs: update, call: ofExperiment('/archive'), stranger: 404 },
  readExperimentResults: {
    needs,
    call: ofExperiment('/results', undefined, ['start']),
    stranger: 404,
  },
  planExperiment: {
    needs,
    call: () => ({ path: `${experimentsPath}/plan`, body: { baseline: { rate: 0.05 }, effect: 0.1 } }),
    stranger: 200,
  },
  readAssignment: { needs, call: ofExperiment('/assignment?unit=ada'), stranger: 404 },
}
