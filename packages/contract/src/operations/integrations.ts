import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf, succeeds } from '../operation-builders.ts'
import { id, idParams, object } from '../resources/formats.ts'
import {
  Integration,
  IntegrationCreation,
  IntegrationSnippet,
  IntegrationUpdate,
  integrationLimits,
} from '../resources/workflow-integration.ts'

const operation = operationsOf('Workflows')

const url = '/v2/workflows/:id/integrations'

const ofWorkflow = idParams('Identifier of the workflow')
const ofIntegration = object({
  id: id('Identifier of the workflow'),
  integrationId: id('Identifier of the integration'),
})
const absent = ['workflowNotFound', 'integrationNotFound'] as const

export const listIntegrations = {
  ...operation('listIntegrations', 'GET', url, 'workflow:read'),
  summary: 'List the integrations of a workflow',
  description: `All of them, the oldest first; a workflow has at most ${integrationLimits.perWorkflow}.`,
  errors: ['workflowNotFound'],
  ...answers('The integrations', Type.Array(Integration), { params: ofWorkflow }),
} as const satisfies Operation

export const readIntegration = {
  ...operation('readIntegration', 'GET', `${url}/:integrationId`, 'workflow:read'),
  summary: 'Read an integration of a workflow',
  errors: absent,
  ...answers('The integration', Integration, { params: ofIntegration }),
} as const satisfies Operation

export const createIntegration = {
  ...operation('createIntegration', 'POST', url, 'workflow:update'),
  summary: 'Create an integration of a workflow',
  description: [
    'Makes the addresses under which an entrypoint of the live version or of the draft is shown. They stay the same whatever is published later; until the workflow is published they show nothing.',
    'Fields for web pages are taken for the channel `web` alone. A placeholder of a sending tool in a parameter, as `{{contact.id}}`, `%%EMAIL%%` or `*|UNIQID|*`, stays as it is in the addresses; anything else is encoded.',
  ].join('\n\n'),
  audit: { action: 'integration-create', target: 'workflow' },
  errors: ['workflowNotFound', 'unknownEntrypoint', 'tooManyIntegrations'],
  examples: {
    page: example('In a page, for visitors from a campaign', {
      entrypointId: 'hero',
      name: 'Home page',
      domain: 'shop.example',
      selector: '#hero',
      emplacement: 'replace',
      filters: {
        type: 'and',
        conditions: [{ operator: 'eq', field: 'utm_source', values: ['newsletter'] }],
      },
    }),
    email: example('In an email', {
      entrypointId: 'banner',
      parameters: { 'trk-u': '{{contact.id}}', utm_campaign: 'welcome' },
    }),
  },
  ...answers('The integration with its addresses', Integration, {
    params: ofWorkflow,
    body: IntegrationCreation,
  }),
} as const satisfies Operation

export const updateIntegration = {
  ...operation('updateIntegration', 'PATCH', `${url}/:integrationId`, 'workflow:update'),
  summary: 'Change an integration of a workflow',
  description:
    'A partial update: a field that is absent stays as it is, lists and maps are replaced as a whole. `enabled` false stops it on every process within a second. The short id stays, so that addresses that are out there go on.',
  audit: { action: 'integration-update', target: 'integration', param: 'integrationId' },
  errors: [...absent, 'unknownEntrypoint'],
  examples: {
    off: example('Show nothing', { enabled: false }),
    everywhere: example('On every page', { filters: null }),
  },
  ...answers('The integration as it is now', Integration, { params: ofIntegration, body: IntegrationUpdate }),
} as const satisfies Operation

export const deleteIntegration = {
  ...operation('deleteIntegration', 'DELETE', `${url}/:integrationId`, 'workflow:update'),
  summary: 'Delete an integration of a workflow',
  description: 'Its addresses answer 404 from then on, for good. Statistics of the past keep its events.',
  audit: { action: 'integration-delete', target: 'integration', param: 'integrationId' },
  errors: absent,
  ...succeeds('Deleted', { params: ofIntegration }),
} as const satisfies Operation

export const readIntegrationSnippet = {
  ...operation('readIntegrationSnippet', 'GET', `${url}/:integrationId/snippet`, 'workflow:read'),
  summary: 'Read the HTML that shows an integration',
  description:
    'HTML to paste: a linked image for formats that are images; for HTML and JSON of web pages a script that fetches the content once the filters, events and selector of the integration allow it, and puts it in.',
  errors: absent,
  ...answers('The HTML', IntegrationSnippet, { params: ofIntegration }),
} as const satisfies Operation
