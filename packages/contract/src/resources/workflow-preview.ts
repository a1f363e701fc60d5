import { type Static, Type } from 'typebox'
import {
  dateTime,
  flag,
  id,
  keyPattern,
  like,
  lineText,
  listOf,
  mapOf,
  named,
  nullable,
  object,
  oneOf,
  optionals,
  storablePattern,
  text,
} from './formats.ts'
import { outputKinds } from './workflow-entrypoint.ts'

/** Codes that a run ends with; empty where it ran to its end (docs/workflows.md, Return codes). */
export const returnCodes = ['', '3501', '3502', '3503'] as const
export type ReturnCode = (typeof returnCodes)[number]

const parameter = Type.String({ maxLength: 2_000, pattern: storablePattern })

export const WorkflowPreviewRequest = object({
  versionId: Type.Optional(id('Version; the draft when absent')),
  entrypointId: Type.String({ pattern: keyPattern, description: 'Entrypoint of that version' }),
  ...optionals({
    parameters: mapOf(parameter, {
      maxProperties: 100,
      description: 'Parameters of the address by name, `trk-l` and the like too',
    }),
    person: object(
      {
        client: Type.Optional(lineText('As `trk-u`', 512)),
        device: Type.Optional(lineText('As `trk-t`', 512)),
      },
      'An unknown person when absent',
    ),
    userAgent: lineText('What would show the content', 512),
    now: dateTime('When it runs; now when absent'),
  }),
})
export type WorkflowPreviewRequest = Static<typeof WorkflowPreviewRequest>

const PreviewStep = named('WorkflowPreviewStep', {
  node: text('Node of the definition'),
  type: like('conditions'),
  name: Type.Optional(Type.String()),
  skipped: Type.Optional(flag('True for a data node on the way whose value nothing used')),
  input: Type.Unknown({ description: 'What the node was given' }),
  output: Type.Unknown({ description: 'Its value, or the output that it took' }),
  milliseconds: Type.Number(),
  fault: Type.Optional(text('Why it has no value')),
})

export const WorkflowPreview = named('WorkflowPreview', {
  workflowId: id('Workflow'),
  versionId: id('Version that ran'),
  entrypointId: Type.String(),
  steps: listOf(PreviewStep, 'In the order in which they ended'),
  branchId: nullable(text('Branch that was taken')),
  individualized: Type.Boolean(),
  output: object({
    kind: nullable(oneOf(outputKinds)),
    status: Type.Integer({ description: 'Status of the reply', examples: [200] }),
    contentType: Type.Optional(Type.String()),
    body: Type.Optional(text('As it would be answered')),
    location: Type.Optional(text('Where the reply redirects to')),
    click: Type.Optional(text('Where `mode=click` redirects to')),
  }),
  returnCode: oneOf(returnCodes),
  milliseconds: Type.Number({ description: 'Of the whole run' }),
})
export type WorkflowPreview = Static<typeof WorkflowPreview>
export type PreviewStep = Static<typeof PreviewStep>
