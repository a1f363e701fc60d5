import { Type } from 'typebox'
import { EmptyObject, paginatedEnvelope, successEnvelope, warningEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { id, idParams, mapOf, nameText, oneOf, pagination, strict } from '../resources/formats.ts'
import { IdempotencyHeaders } from '../resources/idempotency-key.ts'
import { JsonTemplate } from '../resources/json-template.ts'
import {
  Workflow,
  WorkflowCreation,
  WorkflowSummary,
  WorkflowUpdate,
  workflowLimits,
  workflowStatuses,
} from '../resources/workflow.ts'

const url = '/v2/workflows'
const read = { resource: 'workflow', action: 'read' } as const
const update = { resource: 'workflow', action: 'update' } as const
const params = idParams('Identifier of the workflow')
const reply = { 200: successEnvelope(Workflow) }
const replies = { 200: { description: 'The workflow as it is now' } }

const shared = { extension: true, scope: 'authenticated', tag: 'Workflows' } as const

const folder = (description: string) =>
  Type.Optional(
    Type.Array(nameText('Name of a folder', 100), {
      minItems: 1,
      maxItems: workflowLimits.folders,
      description,
    }),
  )

/** Operation 10. */
export const createWorkflow = {
  id: 'createWorkflow',
  number: 10,
  method: 'POST',
  url: '/v2/workflows',
  scope: 'authenticated',
  permission: { resource: 'workflow', action: 'create' },
  access: 'Workflow: create, and membership of every team in `resourceGroupIds`',
  tag: 'Workflows',
  summary: 'Create a workflow',
  description: [
    `A new workflow has status \`draft\`, and so has its first version. A company has at most ${workflowLimits.perCompany.toLocaleString('en-US')} workflows that are not archived; names may repeat.`,
    'A request that may be sent twice has the header `Idempotency-Key`: for 24 hours the same user gets the workflow that the first one made, and 409 where the body is another one.',
  ].join('\n\n'),
  audit: { action: 'workflow-create', target: 'workflow', named: 'name' },
  errors: ['unknownTeam', 'notInTeam', 'tooManyWorkflows', 'conflict'],
  examples: {
    banner: {
      summary: 'A workflow in a folder',
      value: {
        name: 'Welcome banner',
        resourceGroupIds: ['65f0c0ffee5ca1ab1e0ddba1'],
        description: 'First visit of the shop',
        hierarchy: ['Shop', 'Banners'],
        hidden: false,
      },
    },
  },
  replies: { 200: { description: 'The workflow' } },
  schema: {
    headers: IdempotencyHeaders,
    body: WorkflowCreation,
    response: reply,
  },
} as const satisfies Operation

export const listWorkflows = {
  ...shared,
  id: 'listWorkflows',
  method: 'GET',
  url,
  permission: read,
  summary: 'List workflows',
  description:
    'Those that your teams see, without their integrations and versions. Archived and hidden ones are left out unless they are asked for.',
  errors: [],
  replies: { 200: { description: 'One page of workflows' } },
  schema: {
    querystring: Type.Object(
      {
        ...pagination,
        name: Type.Optional(nameText('Only those whose name contains it, whatever its case')),
        status: Type.Optional(
          oneOf(workflowStatuses, { description: 'Only those with this status; `inactive` is archived' }),
        ),
        resourceGroupId: Type.Optional(id('Only those that this team sees')),
        hierarchy: folder('Only those in this folder, from the root; repeat it for each level'),
        subfolders: Type.Optional(
          Type.Boolean({
            description: 'Whether those in folders below are listed too; they are when absent',
          }),
        ),
        includeArchived: Type.Optional(
          Type.Boolean({ description: 'Whether archived ones are listed too; they are not when absent' }),
        ),
        includeHidden: Type.Optional(
          Type.Boolean({ description: 'Whether hidden ones are listed too; they are not when absent' }),
        ),
        sortBy: Type.Optional(
          oneOf(['name', 'updatedAt', 'createdAt', 'status'], { description: '`updatedAt` when absent' }),
        ),
        sortOrder: Type.Optional(
          oneOf(['asc', 'desc'], {
            description: 'When absent, names and statuses ascend and times descend',
          }),
        ),
      },
      strict,
    ),
    response: { 200: paginatedEnvelope(WorkflowSummary) },
  },
} as const satisfies Operation

export const listWorkflowFolders = {
  ...shared,
  id: 'listWorkflowFolders',
  method: 'GET',
  url: `${url}/hierarchy/values`,
  permission: read,
  summary: 'List the folders of workflows',
  description: `Names of the folders directly below one, or below the root, of the workflows that your teams see: distinct and sorted, at most ${workflowLimits.listedFolders.toLocaleString('en-US')}. Folders that hold archived workflows alone are left out.`,
  errors: [],
  replies: { 200: { description: 'The names' } },
  schema: {
    querystring: Type.Object(
      { hierarchy: folder('The folder, from the root; repeat it for each level') },
      strict,
    ),
    response: { 200: successEnvelope(Type.Array(Type.String({ examples: ['Banners'] }))) },
  },
} as const satisfies Operation

export const readWorkflow = {
  ...shared,
  id: 'readWorkflow',
  method: 'GET',
  url: `${url}/:id`,
  permission: read,
  summary: 'Read a workflow',
  description:
    'With its integrations, and its versions as far as they fit: the draft and the live one always, older ones are read one by one.',
  errors: ['workflowNotFound'],
  replies: { 200: { description: 'The workflow' } },
  schema: { params, response: reply },
} as const satisfies Operation

export const updateWorkflow = {
  ...shared,
  id: 'updateWorkflow',
  method: 'PATCH',
  url: `${url}/:id`,
  permission: update,
  access: 'Workflow: update, and membership of every team that is added to `resourceGroupIds`',
  summary: 'Change a workflow',
  description:
    'A partial update: a field that is absent stays as it is, a list is replaced as a whole. The content is saved with its versions. While the workflow is published, its teams have the datasources that the live version reads.',
  audit: { action: 'workflow-update', target: 'workflow' },
  errors: ['workflowNotFound', 'unknownTeam', 'notInTeam', 'datasourcesNotShared'],
  examples: {
    folder: { summary: 'Into another folder', value: { hierarchy: ['Shop'] } },
    root: { summary: 'Another name, in the root', value: { name: 'Spring banner', hierarchy: [] } },
  },
  replies,
  schema: { params, body: WorkflowUpdate, response: reply },
} as const satisfies Operation

export const archiveWorkflow = {
  ...shared,
  id: 'archiveWorkflow',
  method: 'POST',
  url: `${url}/:id/archive`,
  permission: update,
  summary: 'Archive a workflow',
  description: 'Its status is `inactive`: it shows nothing, on every process within a second.',
  audit: { action: 'workflow-archive', target: 'workflow' },
  errors: ['workflowNotFound', 'workflowTransition'],
  replies,
  schema: { params, response: reply },
} as const satisfies Operation

export const restoreWorkflow = {
  ...shared,
  id: 'restoreWorkflow',
  method: 'POST',
  url: `${url}/:id/restore`,
  permission: update,
  summary: 'Restore an archived workflow',
  description:
    'It is `published` again where it was published when it was archived and its live version still validates; else it is a `draft`.',
  audit: { action: 'workflow-restore', target: 'workflow' },
  errors: ['workflowNotFound', 'workflowTransition', 'tooManyWorkflows'],
  replies,
  schema: { params, response: reply },
} as const satisfies Operation

export const duplicateWorkflow = {
  ...shared,
  id: 'duplicateWorkflow',
  method: 'POST',
  url: `${url}/:id/duplicate`,
  permission: { resource: 'workflow', action: 'create' },
  summary: 'Duplicate a workflow',
  description:
    'The copy is a draft called "Copy of ...", in the same folder, with the content of the live version, else of the draft, and without integrations. Those of its teams see it that you are a member of.',
  audit: { action: 'workflow-duplicate', target: 'workflow' },
  errors: ['workflowNotFound', 'tooManyWorkflows'],
  replies: { 200: { description: 'The copy' } },
  schema: { params, response: reply },
} as const satisfies Operation

export const deleteWorkflow = {
  ...shared,
  id: 'deleteWorkflow',
  method: 'DELETE',
  url: `${url}/:id`,
  permission: { resource: 'workflow', action: 'delete' },
  summary: 'Delete a workflow',
  description:
    'With its versions and integrations, for good: one that was never published, or is archived. Statistics of the past keep its events.',
  audit: { action: 'workflow-delete', target: 'workflow' },
  errors: ['workflowNotFound', 'workflowTransition'],
  replies: { 200: { description: 'Deleted' } },
  schema: { params, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation

/** What is listed of the parameters of addresses. */
export const parameterUse = { days: 90, names: 1_000, values: 1_000 } as const

/** Operation 11. */
export const listJsonTemplates = {
  id: 'listJsonTemplates',
  number: 11,
  method: 'GET',
  url: '/v2/workflows/json-templates',
  scope: 'authenticated',
  permission: { resource: 'workflowSettings', action: 'read' },
  tag: 'Workflows',
  summary: 'List JSON templates',
  description: 'The JSON templates that your teams see, the oldest first, page by page.',
  errors: ['workflowNotFound'],
  replies: { 200: { description: 'One page of templates' } },
  schema: {
    querystring: Type.Object(
      {
        ...pagination,
        workflowId: Type.Optional(id('Only templates that this workflow can use: those of its teams')),
      },
      strict,
    ),
    response: { 200: paginatedEnvelope(JsonTemplate) },
  },
} as const satisfies Operation

/** Operation 12. */
export const listParameterValues = {
  id: 'listParameterValues',
  number: 12,
  method: 'GET',
  url: '/v2/workflows/usage/parameter-values',
  scope: 'authenticated',
  permission: { resource: 'workflow', action: 'read' },
  tag: 'Workflows',
  summary: 'List values of workflow parameters',
  description: `The values with which parameters of addresses were used within the last ${parameterUse.days} days, by the name of the parameter: distinct and sorted by their bytes, at most ${parameterUse.values.toLocaleString('en-US')} of each. Only displays and clicks of workflows that your teams see count. A name that was never used gives an empty list.`,
  errors: ['tooComplex', 'tooManyRequests', 'timeout', 'unavailable'],
  replies: {
    200: {
      description: 'From name to values',
      examples: {
        campaigns: { summary: 'One name', value: { utm_campaign: ['spring', 'welcome'] } },
      },
    },
  },
  schema: {
    querystring: Type.Object(
      {
        name: Type.Array(Type.String({ minLength: 1, maxLength: 256, examples: ['utm_campaign'] }), {
          minItems: 1,
          maxItems: 50,
          description: 'Name of a parameter; repeat it for several (`?name=a&name=b`)',
        }),
      },
      strict,
    ),
    response: { 200: warningEnvelope(mapOf(Type.Array(Type.String()))) },
  },
} as const satisfies Operation

export const listParameters = {
  ...shared,
  id: 'listParameters',
  method: 'GET',
  url: '/v2/workflows/parameters',
  permission: read,
  summary: 'List parameters of workflow addresses',
  description: `Names of the parameters with which addresses were used within the last ${parameterUse.days} days, of workflows that your teams see: those used most first, at most ${parameterUse.names.toLocaleString('en-US')}.`,
  errors: ['tooComplex', 'tooManyRequests', 'timeout', 'unavailable'],
  replies: { 200: { description: 'Names with their uses' } },
  schema: {
    response: {
      200: warningEnvelope(
        Type.Array(
          Type.Object(
            {
              name: Type.String({ examples: ['utm_campaign'] }),
              uses: Type.Integer({ minimum: 1, description: 'Displays and clicks that had it' }),
            },
            { ...strict, title: 'UsedParameter' },
          ),
        ),
      ),
    },
  },
} as const satisfies Operation
