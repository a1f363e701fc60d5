import { Type } from 'typebox'
import { eventLimits } from '../events/limits.ts'
import type { Operation } from '../operation.ts'
import { answers, example, lists, operationsOf } from '../operation-builders.ts'
import {
  Assignment,
  Experiment,
  ExperimentCreation,
  ExperimentDecision,
  ExperimentSchedule,
  ExperimentUpdate,
  experimentLimits,
  experimentStatuses,
} from '../resources/experiment.ts'
import {
  flag,
  idParams,
  object,
  oneOf,
  searchIn,
  sorting,
  storablePattern,
  text,
} from '../resources/formats.ts'

const operation = operationsOf('Statistics')

const url = '/v2/statistics/experiments'
const params = idParams('Identifier of the experiment')

export const listExperiments = {
  ...operation('listExperiments', 'GET', url, 'statistics:access'),
  summary: 'List experiments',
  description:
    'Those of your company, the newest first unless they are sorted. Archived ones are left out unless they are asked for.',
  ...lists('One page of experiments', Experiment, {
    ...searchIn('name'),
    status: Type.Optional(oneOf(experimentStatuses, 'Only those in this state')),
    includeArchived: Type.Optional(flag('Whether archived ones are listed too; they are not when absent')),
    ...sorting(['name', 'updatedAt', 'createdAt', 'status'], '`createdAt`'),
  }),
} as const satisfies Operation

export const createExperiment = {
  ...operation('createExperiment', 'POST', url, 'workflowSettings:create'),
  summary: 'Create an experiment',
  description: [
    `It begins as a draft. A system tag key is made with it, whose values stand for the variants. A company has at most ${experimentLimits.perCompany.toLocaleString('en-US')} experiments that are not archived.`,
    'Allocations add up to 1. The first metric is the success metric, and `successMetric` names its kind: one of the two is given. All fields but `name`, `hypothesis`, `attachments` and `resourceGroupIds` are fixed once it is no longer a draft.',
  ].join('\n\n'),
  audit: { action: 'experiment-create', target: 'experiment', named: 'name' },
  errors: ['tooManyExperiments', 'unknownTeam', 'unknownWorkflow'],
  examples: {
    ab: example('Two variants', {
      name: 'New product page',
      hypothesis: 'Larger pictures make more visitors buy',
      type: 'ab',
      unit: 'user',
      variants: [
        { id: 'control', name: 'Present page', allocation: 0.5 },
        { id: 'treatment', name: 'New page', allocation: 0.5 },
      ],
      baselineVariantId: 'control',
      metrics: [
        { id: 'orders', kind: 'unique_conversion', source: { purchases: true } },
        { id: 'revenue', kind: 'revenue_per_user', source: { purchases: true } },
      ],
      plannedSample: 20_000,
    }),
    holdout: example('A tenth of the users gets nothing', {
      name: 'Recommendations',
      type: 'holdout',
      successMetric: 'unique_conversion',
      variants: [
        { id: 'none', name: 'Nothing', allocation: 0.1 },
        { id: 'shown', name: 'Recommendations', allocation: 0.9 },
      ],
      baselineVariantId: 'none',
    }),
  },
  ...answers('The experiment as it is now', Experiment, { body: ExperimentCreation }),
} as const satisfies Operation

/** Operation 8. */
export const readExperiment = {
  ...operation('readExperiment', 'GET', `${url}/:id`, 'statistics:access'),
  number: 8,
  summary: 'Read an experiment',
  errors: ['experimentNotFound'],
  ...answers('The experiment', Experiment, { params }),
} as const satisfies Operation

export const updateExperiment = {
  ...operation('updateExperiment', 'PATCH', `${url}/:id`, 'workflowSettings:update'),
  summary: 'Change an experiment',
  description:
    'A partial update: a field that is absent stays as it is, a list is replaced as a whole. A draft is changed in every field; later `name`, `hypothesis`, `attachments` and `resourceGroupIds` alone, and nothing of an archived one.',
  audit: { action: 'experiment-update', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentFixed', 'tagKeyNameTaken', 'unknownTeam', 'unknownWorkflow'],
  examples: {
    name: example('Another name', { name: 'New product page, second try' }),
    plan: example('Of a draft: another plan', { plannedSample: 40_000 }),
  },
  ...answers('The experiment as it is now', Experiment, { params, body: ExperimentUpdate }),
} as const satisfies Operation

export const scheduleExperiment = {
  ...operation('scheduleExperiment', 'POST', `${url}/:id/schedule`, 'workflowSettings:update'),
  summary: 'Schedule the start of an experiment',
  description:
    'From draft, or again while it is scheduled. It starts within two minutes after `scheduledAt`; null makes it a draft again.',
  audit: { action: 'experiment-schedule', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition'],
  examples: {
    later: example('A time', { scheduledAt: '2027-01-04T08:00:00.000Z' }),
    never: example('Clear the date', { scheduledAt: null }),
  },
  ...answers('The experiment as it is now', Experiment, { params, body: ExperimentSchedule }),
} as const satisfies Operation

export const startExperiment = {
  ...operation('startExperiment', 'POST', `${url}/:id/start`, 'workflowSettings:update'),
  summary: 'Start an experiment',
  description: 'From draft or scheduled, at once.',
  audit: { action: 'experiment-start', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition'],
  ...answers('The experiment as it is now', Experiment, { params }),
} as const satisfies Operation

export const markExperimentRead = {
  ...operation('markExperimentRead', 'POST', `${url}/:id/read`, 'statistics:access'),
  summary: 'Note that the results of an experiment were read',
  description:
    'While it is running or once it has ended. The first time counts: a `readAt` before `endedAt` says that a user knew the results while it was running, which the fixed-horizon test does not allow for.',
  audit: { action: 'experiment-read', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition'],
  ...answers('The experiment as it is now', Experiment, { params }),
} as const satisfies Operation

export const endExperiment = {
  ...operation('endExperiment', 'POST', `${url}/:id/end`, 'workflowSettings:update'),
  summary: 'End an experiment',
  description:
    'No further unit gets a variant: the baseline is shown, except to persons who were exposed before. What happens within the windows of the metrics still counts.',
  audit: { action: 'experiment-end', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition'],
  ...answers('The experiment as it is now', Experiment, { params }),
} as const satisfies Operation

export const decideExperiment = {
  ...operation('decideExperiment', 'POST', `${url}/:id/decide`, 'workflowSettings:update'),
  summary: 'Decide an experiment that has ended',
  description:
    'One variant is shown to all from then on. `outcome` keeps the numbers of the success metric as they are at that moment.',
  audit: { action: 'experiment-decide', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition', 'tooComplex', 'timeout', 'tooManyRequests'],
  examples: { treatment: example('The new page', { routingVariantId: 'treatment' }) },
  ...answers('The experiment as it is now', Experiment, { params, body: ExperimentDecision }),
} as const satisfies Operation

export const archiveExperiment = {
  ...operation('archiveExperiment', 'POST', `${url}/:id/archive`, 'workflowSettings:update'),
  summary: 'Archive an experiment',
  description:
    'From every state but running, for good. One that never ran loses its system tag key; all others keep it, because statistics of the past name it.',
  audit: { action: 'experiment-archive', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition'],
  ...answers('The experiment as it is now', Experiment, { params }),
} as const satisfies Operation

export const readAssignment = {
  ...operation('readAssignment', 'GET', `${url}/:id/assignment`, 'statistics:access'),
  summary: 'Find the variant of a unit',
  description:
    'By a salted hash, the same in server, SDK and SQL (docs/experiments.md, Assignment). A person who was exposed before keeps that variant, also where the exposure came from a device that an `identify` has bound since.',
  errors: ['experimentNotFound'],
  ...answers('The variant', Assignment, {
    params,
    querystring: object({
      unit: text(
        'For `user` a person: a `clientId`, or the `tmpId` of a device; for `device` a `tmpId`',
        'customer-17850',
        {
          minLength: 1,
          maxLength: Math.max(eventLimits.clientId, eventLimits.tmpId),
          pattern: storablePattern,
        },
      ),
    }),
  }),
} as const satisfies Operation
