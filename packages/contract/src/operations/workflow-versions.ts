import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, answersRevision, example, lists, operationsOf } from '../operation-builders.ts'
import { id, object } from '../resources/formats.ts'
import { definitionLimits } from '../resources/workflow-definition.ts'
import { WorkflowVersion } from '../resources/workflow-version.ts'
import {
  WorkflowChanges,
  WorkflowValidation,
  WorkflowVersionSave,
  WorkflowVersionSummary,
} from '../resources/workflow-version-save.ts'
import { expectedRevision, ifMatch } from '../revision.ts'

const operation = operationsOf('Workflows')

const url = '/v2/workflows/:id/versions'
const params = object({ id: id('Identifier of the workflow'), versionId: id('Identifier of the version') })
const absent = ['workflowNotFound', 'workflowVersionNotFound'] as const

export const listWorkflowVersions = {
  ...operation('listWorkflowVersions', 'GET', url, 'workflow:read'),
  summary: 'List the versions of a workflow',
  description: 'All of them, the newest first, without their content.',
  errors: ['workflowNotFound'],
  ...lists(
    'One page of versions',
    WorkflowVersionSummary,
    {},
    { params: object({ id: id('Identifier of the workflow') }) },
  ),
} as const satisfies Operation

export const readWorkflowVersion = {
  ...operation('readWorkflowVersion', 'GET', `${url}/:versionId`, 'workflow:read'),
  summary: 'Read a version of a workflow',
  errors: absent,
  ...answersRevision('The version', WorkflowVersion, { params }),
} as const satisfies Operation

export const saveWorkflowVersion = {
  ...operation('saveWorkflowVersion', 'PUT', `${url}/:versionId`, 'workflow:update'),
  summary: 'Save a version of a workflow',
  description: [
    'A field that is absent stays as it is; the others are replaced as a whole. `If-Match` is required: it holds the `ETag` that the caller has read, and where the version was saved since then, nothing is saved (412, which names who saved it and when).',
    `Of a draft any graph is saved that is within the bounds (${definitionLimits.bytes.toLocaleString('en-US')} bytes), also one that is not complete; \`POST .../validate\` says what keeps it from being published. Of a version that was published \`metadata\`, \`analyzeOverrides\` and \`changeDescription\` are saved and its analysis follows; its definition stays as it is.`,
  ].join('\n\n'),
  audit: { action: 'workflow-version-save', target: 'workflow' },
  errors: [...absent, 'versionNotDraft', 'versionChanged', 'versionConditionRequired'],
  examples: {
    banner: example('One zone, always the same image', {
      definition: {
        entrypoints: { zone: { type: 'email', format: 'embed-image' } },
        nodes: { banner: { type: 'image', url: 'https://shop.example/banner.png' } },
        edges: { e1: { from: 'zone', to: 'banner' } },
      },
      changeDescription: 'First banner',
    }),
  },
  ...answersRevision('The version as it is now', WorkflowVersion, {
    params,
    headers: Type.Object(ifMatch('`ETag` of the version as it was read; required')),
    body: WorkflowVersionSave,
  }),
} as const satisfies Operation

export const validateWorkflowVersion = {
  ...operation('validateWorkflowVersion', 'POST', `${url}/:versionId/validate`, 'workflow:read'),
  summary: 'Validate a version of a workflow',
  description: 'Says what keeps it from being published, each fault with its node. It changes nothing.',
  idempotent: true,
  errors: absent,
  ...answers('Whether it can be published, and what is wrong with it', WorkflowValidation, { params }),
} as const satisfies Operation

export const publishWorkflowVersion = {
  ...operation('publishWorkflowVersion', 'POST', `${url}/:versionId/publish`, 'workflow:update'),
  summary: 'Publish the draft of a workflow',
  description:
    'Validates the draft and makes it the live version in one step: the former live version becomes inactive, and a copy of the new one becomes the draft. Every process shows it within a second. A draft with faults changes nothing (409 with all of them).',
  audit: { action: 'workflow-version-publish', target: 'workflow' },
  errors: [...absent, 'workflowTransition', 'workflowInvalid', 'versionNotDraft', 'versionChanged'],
  ...answersRevision('The version as it is now', WorkflowVersion, { params, headers: expectedRevision }),
} as const satisfies Operation

export const restoreWorkflowVersion = {
  ...operation('restoreWorkflowVersion', 'POST', `${url}/:versionId/restore`, 'workflow:update'),
  summary: 'Restore a version of a workflow',
  description:
    'Its content becomes that of the draft, which is answered; the version itself stays, and nothing is published.',
  audit: { action: 'workflow-version-restore', target: 'workflow' },
  errors: [...absent, 'versionChanged'],
  ...answersRevision('The draft', WorkflowVersion, { params, headers: expectedRevision }),
} as const satisfies Operation

export const readWorkflowChanges = {
  ...operation('readWorkflowChanges', 'GET', `${url}/:versionId/changes`, 'workflow:read'),
  summary: 'Compare two versions of a workflow',
  description: `What the version of the address has other than \`from\`, by entrypoint, node and edge; at most ${definitionLimits.listed} differences.`,
  errors: absent,
  ...answers('The differences', WorkflowChanges, {
    params,
    querystring: object({ from: id('Another version of the same workflow') }),
  }),
} as const satisfies Operation
