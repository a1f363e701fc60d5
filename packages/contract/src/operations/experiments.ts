import { successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { Experiment } from '../resources/experiment.ts'
import { idParams } from '../resources/formats.ts'

/** Operation 8. */
export const readExperiment = {
  id: 'readExperiment',
  number: 8,
  method: 'GET',
  url: '/v2/statistics/experiments/:id',
  scope: 'authenticated',
  permission: { resource: 'statistics', action: 'access' },
  tag: 'Statistics',
  summary: 'Read an experiment',
  errors: ['experimentNotFound'],
  replies: { 200: { description: 'The experiment' } },
  schema: {
    params: idParams('Identifier of the experiment'),
    response: { 200: successEnvelope(Experiment) },
  },
} as const satisfies Operation
