import { type Static, Type } from 'typebox'
import {
  dateTime,
  id,
  keyPattern,
  lineText,
  mapOf,
  nullable,
  oneOf,
  storablePattern,
  strict,
} from './formats.ts'
import { outputKinds } from './workflow-definition.ts'

/** Codes that a run ends with; empty where it ran to its end (docs/workflows.md, Return codes). */
export const returnCodes = ['', '3501', '3502', '3503'] as const
export type ReturnCode = (typeof returnCodes)[number]

const parameter = Type.String({ maxLength: 2_000, pattern: storablePattern })

export const WorkflowPreviewRequest = Type.Object(
  {
    versionId: Type.Optional(id('Version; the draft when absent')),
    entrypointId: Type.String({ pattern: keyPattern, description: 'Entrypoint of that version' }),
    parameters: Type.Optional(
      mapOf(parameter, {
        maxProperties: 100,
        description: 'Parameters of the address by name, `trk-l` and the like too',
      }),
    ),
    person: Type.Optional(
      Type.Object(
        {
          client: Type.Optional(lineText('As `trk-u`', 512)),
          device: Type.Optional(lineText('As `trk-t`', 512)),
        },
        { ...strict, description: 'An unknown person when absent' },
      ),
    ),
    userAgent: Type.Optional(lineText('What would show the content', 512)),
    now: Type.Optional(dateTime('When it runs; now when absent')),
  },
  strict,
)
export type WorkflowPreviewRequest = Static<typeof WorkflowPreviewRequest>

const PreviewStep = Type.Object(
  {
    node: Type.String({ description: 'Node of the definition' }),
    type: Type.String({ examples: ['conditions'] }),
    name: Type.Optional(Type.String()),
    skipped: Type.Optional(
      Type.Boolean({ description: 'True for a data node on the way whose value nothing used' }),
    ),
    input: Type.Unknown({ description: 'What the node was given' }),
    output: Type.Unknown({ description: 'Its value, or the output that it took' }),
    milliseconds: Type.Number(),
    fault: Type.Optional(Type.String({ description: 'Why it has no value' })),
  },
  { ...strict, title: 'WorkflowPreviewStep' },
)

export const WorkflowPreview = Type.Object(
  {
    workflowId: id('Workflow'),
    versionId: id('Version that ran'),
    entrypointId: Type.String(),
    steps: Type.Array(PreviewStep, { description: 'In the order in which they ended' }),
    branchId: nullable(Type.String({ description: 'Branch that was taken' })),
    individualized: Type.Boolean(),
    output: Type.Object(
      {
        kind: nullable(oneOf(outputKinds)),
        status: Type.Integer({ description: 'Status of the reply', examples: [200] }),
        contentType: Type.Optional(Type.String()),
        body: Type.Optional(Type.String({ description: 'As it would be answered' })),
        location: Type.Optional(Type.String({ description: 'Where the reply redirects to' })),
        click: Type.Optional(Type.String({ description: 'Where `mode=click` redirects to' })),
      },
      strict,
    ),
    returnCode: oneOf(returnCodes),
    milliseconds: Type.Number({ description: 'Of the whole run' }),
  },
  { ...strict, title: 'WorkflowPreview' },
)
export type WorkflowPreview = Static<typeof WorkflowPreview>
export type PreviewStep = Static<typeof PreviewStep>
