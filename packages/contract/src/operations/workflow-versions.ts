import { Type } from 'typebox'
import { paginatedEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { id, pagination, strict } from '../resources/formats.ts'
import { definitionLimits } from '../resources/workflow-definition.ts'
import { WorkflowVersion } from '../resources/workflow-version.ts'
import {
  WorkflowChanges,
  WorkflowValidation,
  WorkflowVersionSave,
  WorkflowVersionSummary,
} from '../resources/workflow-version-save.ts'
import { etag, expectedRevision, ifMatch } from '../revision.ts'

const url = '/v2/workflows/:id/versions'
const read = { resource: 'workflow', action: 'read' } as const
const update = { resource: 'workflow', action: 'update' } as const
const params = Type.Object(
  { id: id('Identifier of the workflow'), versionId: id('Identifier of the version') },
  strict,
)
const reply = { 200: successEnvelope(WorkflowVersion) }
const replies = { 200: { description: 'The version as it is now', headers: etag } }
const absent = ['workflowNotFound', 'workflowVersionNotFound'] as const

const shared = {
  extension: true,
  scope: 'authenticated',
  tag: 'Workflows',
} as const

export const listWorkflowVersions = {
  ...shared,
  id: 'listWorkflowVersions',
  method: 'GET',
  url,
  permission: read,
  summary: 'List the versions of a workflow',
  description: 'All of them, the newest first, without their content.',
  errors: ['workflowNotFound'],
  replies: { 200: { description: 'One page of versions' } },
  schema: {
    params: Type.Object({ id: id('Identifier of the workflow') }, strict),
    querystring: Type.Object({ ...pagination }, strict),
    response: { 200: paginatedEnvelope(WorkflowVersionSummary) },
  },
} as const satisfies Operation

export const readWorkflowVersion = {
  ...shared,
  id: 'readWorkflowVersion',
  method: 'GET',
  url: `${url}/:versionId`,
  permission: read,
  summary: 'Read a version of a workflow',
  errors: absent,
  replies: { 200: { description: 'The version', headers: etag } },
  schema: { params, response: reply },
} as const satisfies Operation

export const saveWorkflowVersion = {
  ...shared,
  id: 'saveWorkflowVersion',
  method: 'PUT',
  url: `${url}/:versionId`,
  permission: update,
  summary: 'Save a version of a workflow',
  description: [
    'A field that is absent stays as it is; the others are replaced as a whole. `If-Match` is required: it holds the `ETag` that the caller has read, and where the version was saved since then, nothing is saved (412, which names who saved it and when).',
    `Of a draft any graph is saved that is within the bounds (${definitionLimits.bytes.toLocaleString('en-US')} bytes), also one that is not complete; \`POST .../validate\` says what keeps it from being published. Of a version that was published \`metadata\`, \`analyzeOverrides\` and \`changeDescription\` are saved and its analysis follows; its definition stays as it is.`,
  ].join('\n\n'),
  audit: { action: 'workflow-version-save', target: 'workflow' },
  errors: [...absent, 'versionNotDraft', 'versionChanged', 'versionConditionRequired'],
  examples: {
    banner: {
      summary: 'One zone, always the same image',
      value: {
        definition: {
          entrypoints: { zone: { type: 'email', format: 'embed-image' } },
          nodes: { banner: { type: 'image', url: 'https://shop.example/banner.png' } },
          edges: { e1: { from: 'zone', to: 'banner' } },
        },
        changeDescription: 'First banner',
      },
    },
  },
  replies,
  schema: {
    params,
    headers: Type.Object(ifMatch('`ETag` of the version as it was read; required')),
    body: WorkflowVersionSave,
    response: reply,
  },
} as const satisfies Operation

export const validateWorkflowVersion = {
  ...shared,
  id: 'validateWorkflowVersion',
  method: 'POST',
  url: `${url}/:versionId/validate`,
  permission: read,
  summary: 'Validate a version of a workflow',
  description: 'Says what keeps it from being published, each fault with its node. It changes nothing.',
  idempotent: true,
  errors: absent,
  replies: { 200: { description: 'Whether it can be published, and what is wrong with it' } },
  schema: { params, response: { 200: successEnvelope(WorkflowValidation) } },
} as const satisfies Operation

export const publishWorkflowVersion = {
  ...shared,
  id: 'publishWorkflowVersion',
  method: 'POST',
  url: `${url}/:versionId/publish`,
  permission: update,
  summary: 'Publish the draft of a workflow',
  description:
    'Validates the draft and makes it the live version in one step: the former live version becomes inactive, and a copy of the new one becomes the draft. Every process shows it within a second. A draft with faults changes nothing (409 with all of them).',
  audit: { action: 'workflow-version-publish', target: 'workflow' },
  errors: [...absent, 'workflowTransition', 'workflowInvalid', 'versionNotDraft', 'versionChanged'],
  replies,
  schema: { params, headers: expectedRevision, response: reply },
} as const satisfies Operation

export const restoreWorkflowVersion = {
  ...shared,
  id: 'restoreWorkflowVersion',
  method: 'POST',
  url: `${url}/:versionId/restore`,
  permission: update,
  summary: 'Restore a version of a workflow',
  description:
    'Its content becomes that of the draft, which is answered; the version itself stays, and nothing is published.',
  audit: { action: 'workflow-version-restore', target: 'workflow' },
  errors: [...absent, 'versionChanged'],
  replies: { 200: { description: 'The draft', headers: etag } },
  schema: { params, headers: expectedRevision, response: reply },
} as const satisfies Operation

export const readWorkflowChanges = {
  ...shared,
  id: 'readWorkflowChanges',
  method: 'GET',
  url: `${url}/:versionId/changes`,
  permission: read,
  summary: 'Compare two versions of a workflow',
  description: `What the version of the address has other than \`from\`, by entrypoint, node and edge; at most ${definitionLimits.listed} differences.`,
  errors: absent,
  replies: { 200: { description: 'The differences' } },
  schema: {
    params,
    querystring: Type.Object({ from: id('Another version of the same workflow') }, strict),
    response: { 200: successEnvelope(WorkflowChanges) },
  },
} as const satisfies Operation
