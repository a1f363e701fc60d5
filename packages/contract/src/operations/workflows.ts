import { Type } from 'typebox'
import { warningEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { answers, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import {
  flag,
  id,
  idParams,
  like,
  mapOf,
  named,
  nameText,
  object,
  oneOf,
  sorting,
} from '../resources/formats.ts'
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

const operation = operationsOf('Workflows')

const url = '/v2/workflows'
const params = idParams('Identifier of the workflow')

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
  ...operation('createWorkflow', 'POST', '/v2/workflows', 'workflow:create'),
  number: 10,
  access: 'Workflow: create, and membership of every team in `resourceGroupIds`',
  summary: 'Create a workflow',
  description: [
    `A new workflow has status \`draft\`, and so has its first version. A company has at most ${workflowLimits.perCompany.toLocaleString('en-US')} workflows that are not archived; names may repeat.`,
    'A request that may be sent twice has the header `Idempotency-Key`: for 24 hours the same user gets the workflow that the first one made, and 409 where the body is another one.',
  ].join('\n\n'),
  audit: { action: 'workflow-create', target: 'workflow', named: 'name' },
  errors: ['unknownTeam', 'notInTeam', 'tooManyWorkflows', 'conflict'],
  examples: {
    banner: example('A workflow in a folder', {
      name: 'Welcome banner',
      resourceGroupIds: ['65f0c0ffee5ca1ab1e0ddba1'],
      description: 'First visit of the shop',
      hierarchy: ['Shop', 'Banners'],
      hidden: false,
    }),
  },
  ...answers('The workflow', Workflow, { headers: IdempotencyHeaders, body: WorkflowCreation }),
} as const satisfies Operation

export const listWorkflows = {
  ...operation('listWorkflows', 'GET', url, 'workflow:read'),
  summary: 'List workflows',
  description:
    'Those that your teams see, without their integrations and versions. Archived and hidden ones are left out unless they are asked for.',
  ...lists('One page of workflows', WorkflowSummary, {
    name: Type.Optional(nameText('Only those whose name contains it, whatever its case')),
    status: Type.Optional(oneOf(workflowStatuses, 'Only those with this status; `inactive` is archived')),
    resourceGroupId: Type.Optional(id('Only those that this team sees')),
    hierarchy: folder('Only those in this folder, from the root; repeat it for each level'),
    subfolders: Type.Optional(flag('Whether those in folders below are listed too; they are when absent')),
    includeArchived: Type.Optional(flag('Whether archived ones are listed too; they are not when absent')),
    includeHidden: Type.Optional(flag('Whether hidden ones are listed too; they are not when absent')),
    ...sorting(['name', 'updatedAt', 'createdAt', 'status'], '`updatedAt`'),
  }),
} as const satisfies Operation

export const listWorkflowFolders = {
  ...operation('listWorkflowFolders', 'GET', `${url}/hierarchy/values`, 'workflow:read'),
  summary: 'List the folders of workflows',
  description: `Names of the folders directly below one, or below the root, of the workflows that your teams see: distinct and sorted, at most ${workflowLimits.listedFolders.toLocaleString('en-US')}. Folders that hold archived workflows alone are left out.`,
  ...answers('The names', Type.Array(like('Banners')), {
    querystring: object({ hierarchy: folder('The folder, from the root; repeat it for each level') }),
  }),
} as const satisfies Operation

export const readWorkflow = {
  ...operation('readWorkflow', 'GET', `${url}/:id`, 'workflow:read'),
  summary: 'Read a workflow',
  description:
    'With its integrations, and its versions as far as they fit: the draft and the live one always, older ones are read one by one.',
  errors: ['workflowNotFound'],
  ...answers('The workflow', Workflow, { params }),
} as const satisfies Operation

export const updateWorkflow = {
  ...operation('updateWorkflow', 'PATCH', `${url}/:id`, 'workflow:update'),
  access: 'Workflow: update, and membership of every team that is added to `resourceGroupIds`',
  summary: 'Change a workflow',
  description:
    'A partial update: a field that is absent stays as it is, a list is replaced as a whole. The content is saved with its versions. While the workflow is published, its teams have the datasources that the live version reads.',
  audit: { action: 'workflow-update', target: 'workflow' },
  errors: ['workflowNotFound', 'unknownTeam', 'notInTeam', 'datasourcesNotShared'],
  examples: {
    folder: example('Into another folder', { hierarchy: ['Shop'] }),
    root: example('Another name, in the root', { name: 'Spring banner', hierarchy: [] }),
  },
  ...answers('The workflow as it is now', Workflow, { params, body: WorkflowUpdate }),
} as const satisfies Operation

export const archiveWorkflow = {
  ...operation('archiveWorkflow', 'POST', `${url}/:id/archive`, 'workflow:update'),
  summary: 'Archive a workflow',
  description: 'Its status is `inactive`: it shows nothing, on every process within a second.',
  audit: { action: 'workflow-archive', target: 'workflow' },
  errors: ['workflowNotFound', 'workflowTransition'],
  ...answers('The workflow as it is now', Workflow, { params }),
} as const satisfies Operation

export const restoreWorkflow = {
  ...operation('restoreWorkflow', 'POST', `${url}/:id/restore`, 'workflow:update'),
  summary: 'Restore an archived workflow',
  description:
    'It is `published` again where it was published when it was archived and its live version still validates; else it is a `draft`.',
  audit: { action: 'workflow-restore', target: 'workflow' },
  errors: ['workflowNotFound', 'workflowTransition', 'tooManyWorkflows'],
  ...answers('The workflow as it is now', Workflow, { params }),
} as const satisfies Operation

export const duplicateWorkflow = {
  ...operation('duplicateWorkflow', 'POST', `${url}/:id/duplicate`, 'workflow:create'),
  summary: 'Duplicate a workflow',
  description:
    'The copy is a draft called "Copy of ...", in the same folder, with the content of the live version, else of the draft, and without integrations. Those of its teams see it that you are a member of.',
  audit: { action: 'workflow-duplicate', target: 'workflow' },
  errors: ['workflowNotFound', 'tooManyWorkflows'],
  ...answers('The copy', Workflow, { params }),
} as const satisfies Operation

export const deleteWorkflow = {
  ...operation('deleteWorkflow', 'DELETE', `${url}/:id`, 'workflow:delete'),
  summary: 'Delete a workflow',
  description:
    'With its versions and integrations, for good: one that was never published, or is archived. Statistics of the past keep its events.',
  audit: { action: 'workflow-delete', target: 'workflow' },
  errors: ['workflowNotFound', 'workflowTransition'],
  ...succeeds('Deleted', { params }),
} as const satisfies Operation

/** What is listed of the parameters of addresses. */
export const parameterUse = { days: 90, names: 1_000, values: 1_000 } as const

/** Operation 11. */
export const listJsonTemplates = {
  ...operation('listJsonTemplates', 'GET', '/v2/workflows/json-templates', 'workflowSettings:read'),
  number: 11,
  summary: 'List JSON templates',
  description: 'The JSON templates that your teams see, the oldest first, page by page.',
  errors: ['workflowNotFound'],
  ...lists('One page of templates', JsonTemplate, {
    workflowId: Type.Optional(id('Only templates that this workflow can use: those of its teams')),
  }),
} as const satisfies Operation

/** Operation 12. */
export const listParameterValues = {
  ...operation('listParameterValues', 'GET', '/v2/workflows/usage/parameter-values', 'workflow:read'),
  number: 12,
  summary: 'List values of workflow parameters',
  description: `The values with which parameters of addresses were used within the last ${parameterUse.days} days, by the name of the parameter: distinct and sorted by their bytes, at most ${parameterUse.values.toLocaleString('en-US')} of each. Only displays and clicks of workflows that your teams see count. A name that was never used gives an empty list.`,
  errors: ['tooComplex', 'tooManyRequests', 'timeout', 'unavailable'],
  replies: {
    200: {
      description: 'From name to values',
      examples: {
        campaigns: example('One name', { utm_campaign: ['spring', 'welcome'] }),
      },
    },
  },
  schema: {
    querystring: object({
      name: Type.Array(Type.String({ minLength: 1, maxLength: 256, examples: ['utm_campaign'] }), {
        minItems: 1,
        maxItems: 50,
        description: 'Name of a parameter; repeat it for several (`?name=a&name=b`)',
      }),
    }),
    response: { 200: warningEnvelope(mapOf(Type.Array(Type.String()))) },
  },
} as const satisfies Operation

export const listParameters = {
  ...operation('listParameters', 'GET', '/v2/workflows/parameters', 'workflow:read'),
  summary: 'List parameters of workflow addresses',
  description: `Names of the parameters with which addresses were used within the last ${parameterUse.days} days, of workflows that your teams see: those used most first, at most ${parameterUse.names.toLocaleString('en-US')}.`,
  errors: ['tooComplex', 'tooManyRequests', 'timeout', 'unavailable'],
  replies: { 200: { description: 'Names with their uses' } },
  schema: {
    response: {
      200: warningEnvelope(
        Type.Array(
          named('UsedParameter', {
            name: like('utm_campaign'),
            uses: Type.Integer({ minimum: 1, description: 'Displays and clicks that had it' }),
          }),
        ),
      ),
    },
  },
} as const satisfies Operation
