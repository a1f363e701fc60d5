import { Type } from 'typebox'
import { paginatedEnvelope, successEnvelope } from '../envelope.ts'
import { eventLimits } from '../events/limits.ts'
import type { Operation } from '../operation.ts'
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
import { idParams, oneOf, pagination, storablePattern, strict } from '../resources/formats.ts'

const url = '/v2/statistics/experiments'
const access = { resource: 'statistics', action: 'access' } as const
const change = { resource: 'workflowSettings', action: 'update' } as const
const params = idParams('Identifier of the experiment')
const reply = { 200: successEnvelope(Experiment) }
const replies = { 200: { description: 'The experiment as it is now' } }

const shared = {
  extension: true,
  method: 'POST',
  scope: 'authenticated',
  tag: 'Statistics',
  replies,
} as const

export const listExperiments = {
  id: 'listExperiments',
  extension: true,
  method: 'GET',
  url,
  scope: 'authenticated',
  permission: access,
  tag: 'Statistics',
  summary: 'List experiments',
  description:
    'Those of your company, the newest first. Archived ones are left out unless they are asked for.',
  errors: [],
  replies: { 200: { description: 'One page of experiments' } },
  schema: {
    querystring: Type.Object(
      {
        ...pagination,
        status: Type.Optional(oneOf(experimentStatuses, { description: 'Only those in this state' })),
        includeArchived: Type.Optional(
          Type.Boolean({ description: 'Whether archived ones are listed too; they are not when absent' }),
        ),
      },
      strict,
    ),
    response: { 200: paginatedEnvelope(Experiment) },
  },
} as const satisfies Operation

export const createExperiment = {
  ...shared,
  id: 'createExperiment',
  url,
  permission: { resource: 'workflowSettings', action: 'create' },
  summary: 'Create an experiment',
  description: [
    `It begins as a draft. A system tag key is made with it, whose values stand for the variants. A company has at most ${experimentLimits.perCompany.toLocaleString('en-US')} experiments that are not archived.`,
    'Allocations add up to 1. The first metric is the success metric, and `successMetric` names its kind: one of the two is given. All fields but `name`, `hypothesis`, `attachments` and `resourceGroupIds` are fixed once it is no longer a draft.',
  ].join('\n\n'),
  audit: { action: 'experiment-create', target: 'experiment', named: 'name' },
  errors: ['tooManyExperiments', 'unknownTeam', 'unknownWorkflow'],
  examples: {
    ab: {
      summary: 'Two variants',
      value: {
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
      },
    },
    holdout: {
      summary: 'A tenth of the users gets nothing',
      value: {
        name: 'Recommendations',
        type: 'holdout',
        successMetric: 'unique_conversion',
        variants: [
          { id: 'none', name: 'Nothing', allocation: 0.1 },
          { id: 'shown', name: 'Recommendations', allocation: 0.9 },
        ],
        baselineVariantId: 'none',
      },
    },
  },
  schema: { body: ExperimentCreation, response: reply },
} as const satisfies Operation

/** Operation 8. */
export const readExperiment = {
  id: 'readExperiment',
  number: 8,
  method: 'GET',
  url: `${url}/:id`,
  scope: 'authenticated',
  permission: access,
  tag: 'Statistics',
  summary: 'Read an experiment',
  errors: ['experimentNotFound'],
  replies: { 200: { description: 'The experiment' } },
  schema: { params, response: reply },
} as const satisfies Operation

export const updateExperiment = {
  ...shared,
  id: 'updateExperiment',
  method: 'PATCH',
  url: `${url}/:id`,
  permission: change,
  summary: 'Change an experiment',
  description:
    'A partial update: a field that is absent stays as it is, a list is replaced as a whole. A draft is changed in every field; later `name`, `hypothesis`, `attachments` and `resourceGroupIds` alone, and nothing of an archived one.',
  audit: { action: 'experiment-update', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentFixed', 'tagKeyNameTaken', 'unknownTeam', 'unknownWorkflow'],
  examples: {
    name: { summary: 'Another name', value: { name: 'New product page, second try' } },
    plan: { summary: 'Of a draft: another plan', value: { plannedSample: 40_000 } },
  },
  schema: { params, body: ExperimentUpdate, response: reply },
} as const satisfies Operation

export const scheduleExperiment = {
  ...shared,
  id: 'scheduleExperiment',
  url: `${url}/:id/schedule`,
  permission: change,
  summary: 'Schedule the start of an experiment',
  description:
    'From draft, or again while it is scheduled. It starts within two minutes after `scheduledAt`; null makes it a draft again.',
  audit: { action: 'experiment-schedule', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition'],
  examples: {
    later: { summary: 'A time', value: { scheduledAt: '2027-01-04T08:00:00.000Z' } },
    never: { summary: 'Clear the date', value: { scheduledAt: null } },
  },
  schema: { params, body: ExperimentSchedule, response: reply },
} as const satisfies Operation

export const startExperiment = {
  ...shared,
  id: 'startExperiment',
  url: `${url}/:id/start`,
  permission: change,
  summary: 'Start an experiment',
  description: 'From draft or scheduled, at once.',
  audit: { action: 'experiment-start', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition'],
  schema: { params, response: reply },
} as const satisfies Operation

export const markExperimentRead = {
  ...shared,
  id: 'markExperimentRead',
  url: `${url}/:id/read`,
  permission: access,
  summary: 'Note that the results of an experiment were read',
  description:
    'While it is running or once it has ended. The first time counts: a `readAt` before `endedAt` says that a user knew the results while it was running, which the fixed-horizon test does not allow for.',
  audit: { action: 'experiment-read', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition'],
  schema: { params, response: reply },
} as const satisfies Operation

export const endExperiment = {
  ...shared,
  id: 'endExperiment',
  url: `${url}/:id/end`,
  permission: change,
  summary: 'End an experiment',
  description:
    'No further unit gets a variant: the baseline is shown, except to persons who were exposed before. What happens within the windows of the metrics still counts.',
  audit: { action: 'experiment-end', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition'],
  schema: { params, response: reply },
} as const satisfies Operation

export const decideExperiment = {
  ...shared,
  id: 'decideExperiment',
  url: `${url}/:id/decide`,
  permission: change,
  summary: 'Decide an experiment that has ended',
  description:
    'One variant is shown to all from then on. `outcome` keeps the numbers of the success metric as they are at that moment.',
  audit: { action: 'experiment-decide', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition', 'tooComplex', 'timeout', 'tooManyRequests'],
  examples: { treatment: { summary: 'The new page', value: { routingVariantId: 'treatment' } } },
  schema: { params, body: ExperimentDecision, response: reply },
} as const satisfies Operation

export const archiveExperiment = {
  ...shared,
  id: 'archiveExperiment',
  url: `${url}/:id/archive`,
  permission: change,
  summary: 'Archive an experiment',
  description:
    'From every state but running, for good. One that never ran loses its system tag key; all others keep it, because statistics of the past name it.',
  audit: { action: 'experiment-archive', target: 'experiment' },
  errors: ['experimentNotFound', 'experimentTransition'],
  schema: { params, response: reply },
} as const satisfies Operation

export const readAssignment = {
  id: 'readAssignment',
  extension: true,
  method: 'GET',
  url: `${url}/:id/assignment`,
  scope: 'authenticated',
  permission: access,
  tag: 'Statistics',
  summary: 'Find the variant of a unit',
  description:
    'By a salted hash, the same in server, SDK and SQL (docs/experiments.md, Assignment). A person who was exposed before keeps that variant, also where the exposure came from a device that an `identify` has bound since.',
  errors: ['experimentNotFound'],
  replies: { 200: { description: 'The variant' } },
  schema: {
    params,
    querystring: Type.Object(
      {
        unit: Type.String({
          minLength: 1,
          maxLength: Math.max(eventLimits.clientId, eventLimits.tmpId),
          pattern: storablePattern,
          description:
            'For `user` a person: a `clientId`, or the `tmpId` of a device; for `device` a `tmpId`',
          examples: ['customer-17850'],
        }),
      },
      strict,
    ),
    response: { 200: successEnvelope(Assignment) },
  },
} as const satisfies Operation
