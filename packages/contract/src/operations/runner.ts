import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf } from '../operation-builders.ts'
import { idParams, object, text } from '../resources/formats.ts'
import { WorkflowPreview, WorkflowPreviewRequest } from '../resources/workflow-preview.ts'

const collectorOperation = operationsOf('Workflows', 'collector')
const operation = operationsOf('Workflows')

/**
 * Neither the address nor its parameters are validated by schema: the runner answers whatever it is sent, and never
 * with a page of errors (docs/workflows.md, Runner).
 */
export const runWorkflow = {
  ...collectorOperation('runWorkflow', 'GET', '/r/:shortId'),
  summary: 'Show the content of a workflow, or follow the link behind it',
  description: `The address of an integration, which is put into mails and pages. It runs the live version of the workflow and answers its content; with \`mode=click\` it redirects to the destination of the same content. There is no token and no cookie.

The person is \`trk-u\`, the device \`trk-t\`, the locale \`trk-l\` (\`fr_FR\`), the message \`trk-m\`, the page \`trk-referer\`; every other parameter is available to the workflow by its name and is kept with the event.

Each display and each click is on disk as an event before it is answered. \`HEAD\` answers the same without a body and without an event.`,
  described: {
    params: object({
      shortId: text('Short identifier of the integration', 'k3v9X1pQ0z'),
    }),
  },
  replies: {
    200: {
      description:
        'The content: JSON as the workflow defines it, HTML, or a transparent image where an image has none to show',
      headers: { 'X-Millrace-Run-Id': 'Identifier of this run, which the event has too' },
      alternatives: {
        'text/html': { description: 'Content of an HTML output', example: '<p>Welcome back, Ada</p>' },
        'image/png': { description: 'Transparent, 600 by 1 pixels', example: '' },
      },
    },
    204: { description: 'Nothing applies' },
    302: { description: 'To the image, to the page, or with `mode=click` to the destination' },
    404: { description: 'No integration has this address, or a click has no destination; the body is empty' },
  },
  schema: {
    response: {
      200: Type.Unknown({ examples: [{ title: 'Welcome back' }] }),
      204: Type.Null(),
      302: Type.Null(),
      404: Type.Null(),
    },
  },
} as const satisfies Operation

export const previewWorkflow = {
  ...operation('previewWorkflow', 'POST', '/v2/workflows/:id/preview', 'workflow:read'),
  summary: 'Preview a version of a workflow',
  description:
    'Runs a version, the draft unless another is named, as the runner would for the given person and parameters, and answers every step with its input, output and time. Nothing of it is counted.',
  idempotent: true,
  errors: ['workflowNotFound', 'workflowVersionNotFound', 'unknownEntrypoint', 'versionNotRunnable'],
  examples: {
    draft: example('The draft for a known person', {
      entrypointId: 'hero',
      parameters: { 'trk-l': 'fr_FR', city: 'Lyon' },
      person: { client: 'customer-42' },
    }),
  },
  ...answers('What the run did', WorkflowPreview, {
    params: idParams('Identifier of the workflow'),
    body: WorkflowPreviewRequest,
  }),
} as const satisfies Operation
