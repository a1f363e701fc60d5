import { Type } from 'typebox'
import { paginatedEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { id, mapOf, pagination, strict } from '../resources/formats.ts'
import { JsonTemplate } from '../resources/json-template.ts'
import { Workflow, WorkflowCreation } from '../resources/workflow.ts'

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
  description: 'A new workflow has status `draft`, and so has its first version.',
  errors: ['unknownTeam', 'notInTeam'],
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
  schema: { body: WorkflowCreation, response: { 200: successEnvelope(Workflow) } },
} as const satisfies Operation

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
  description: 'The JSON templates that your teams see, page by page.',
  errors: [],
  replies: { 200: { description: 'One page of templates' } },
  schema: {
    querystring: Type.Object(
      {
        ...pagination,
        workflowId: Type.Optional(id('Only templates that this workflow uses')),
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
  description:
    'The values with which parameters were used, by the name of the parameter: distinct and sorted. A name that was never used gives an empty list.',
  errors: ['unavailable'],
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
    response: { 200: successEnvelope(mapOf(Type.Array(Type.String()))) },
  },
} as const satisfies Operation
