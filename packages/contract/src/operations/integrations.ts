import { Type } from 'typebox'
import { EmptyObject, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { id, idParams, strict } from '../resources/formats.ts'
import {
  Integration,
  IntegrationCreation,
  IntegrationSnippet,
  IntegrationUpdate,
  integrationLimits,
} from '../resources/workflow-integration.ts'

const url = '/v2/workflows/:id/integrations'
const read = { resource: 'workflow', action: 'read' } as const
const update = { resource: 'workflow', action: 'update' } as const

const ofWorkflow = idParams('Identifier of the workflow')
const ofIntegration = Type.Object(
  { id: id('Identifier of the workflow'), integrationId: id('Identifier of the integration') },
  strict,
)
const reply = { 200: successEnvelope(Integration) }
const absent = ['workflowNotFound', 'integrationNotFound'] as const
const shared = { extension: true, scope: 'authenticated', tag: 'Workflows' } as const

export const listIntegrations = {
  ...shared,
  id: 'listIntegrations',
  method: 'GET',
  url,
  permission: read,
  summary: 'List the integrations of a workflow',
  description: `All of them, the oldest first; a workflow has at most ${integrationLimits.perWorkflow}.`,
  errors: ['workflowNotFound'],
  replies: { 200: { description: 'The integrations' } },
  schema: { params: ofWorkflow, response: { 200: successEnvelope(Type.Array(Integration)) } },
} as const satisfies Operation

export const readIntegration = {
  ...shared,
  id: 'readIntegration',
  method: 'GET',
  url: `${url}/:integrationId`,
  permission: read,
  summary: 'Read an integration of a workflow',
  errors: absent,
  replies: { 200: { description: 'The integration' } },
  schema: { params: ofIntegration, response: reply },
} as const satisfies Operation

export const createIntegration = {
  ...shared,
  id: 'createIntegration',
  method: 'POST',
  url,
  permission: update,
  summary: 'Create an integration of a workflow',
  description: [
    'Makes the addresses under which an entrypoint of the live version or of the draft is shown. They stay the same whatever is published later; until the workflow is published they show nothing.',
    'Fields for web pages are taken for the channel `web` alone. A placeholder of a sending tool in a parameter, as `{{contact.id}}`, `%%EMAIL%%` or `*|UNIQID|*`, stays as it is in the addresses; anything else is encoded.',
  ].join('\n\n'),
  audit: { action: 'integration-create', target: 'workflow' },
  errors: ['workflowNotFound', 'unknownEntrypoint', 'tooManyIntegrations'],
  examples: {
    page: {
      summary: 'In a page, for visitors from a campaign',
      value: {
        entrypointId: 'hero',
        name: 'Home page',
        domain: 'shop.example',
        selector: '#hero',
        emplacement: 'replace',
        filters: {
          type: 'and',
          conditions: [{ operator: 'eq', field: 'utm_source', values: ['newsletter'] }],
        },
      },
    },
    email: {
      summary: 'In an email',
      value: { entrypointId: 'banner', parameters: { 'trk-u': '{{contact.id}}', utm_campaign: 'welcome' } },
    },
  },
  replies: { 200: { description: 'The integration with its addresses' } },
  schema: { params: ofWorkflow, body: IntegrationCreation, response: reply },
} as const satisfies Operation

export const updateIntegration = {
  ...shared,
  id: 'updateIntegration',
  method: 'PATCH',
  url: `${url}/:integrationId`,
  permission: update,
  summary: 'Change an integration of a workflow',
  description:
    'A partial update: a field that is absent stays as it is, lists and maps are replaced as a whole. `enabled` false stops it on every process within a second. The short id stays, so that addresses that are out there go on.',
  audit: { action: 'integration-update', target: 'integration', param: 'integrationId' },
  errors: [...absent, 'unknownEntrypoint'],
  examples: {
    off: { summary: 'Show nothing', value: { enabled: false } },
    everywhere: { summary: 'On every page', value: { filters: null } },
  },
  replies: { 200: { description: 'The integration as it is now' } },
  schema: { params: ofIntegration, body: IntegrationUpdate, response: reply },
} as const satisfies Operation

export const deleteIntegration = {
  ...shared,
  id: 'deleteIntegration',
  method: 'DELETE',
  url: `${url}/:integrationId`,
  permission: update,
  summary: 'Delete an integration of a workflow',
  description: 'Its addresses answer 404 from then on, for good. Statistics of the past keep its events.',
  audit: { action: 'integration-delete', target: 'integration', param: 'integrationId' },
  errors: absent,
  replies: { 200: { description: 'Deleted' } },
  schema: { params: ofIntegration, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation

export const readIntegrationSnippet = {
  ...shared,
  id: 'readIntegrationSnippet',
  method: 'GET',
  url: `${url}/:integrationId/snippet`,
  permission: read,
  summary: 'Read the HTML that shows an integration',
  description:
    'HTML to paste: a linked image for formats that are images; for HTML and JSON of web pages a script that fetches the content once the filters, events and selector of the integration allow it, and puts it in.',
  errors: absent,
  replies: { 200: { description: 'The HTML' } },
  schema: { params: ofIntegration, response: { 200: successEnvelope(IntegrationSnippet) } },
} as const satisfies Operation
