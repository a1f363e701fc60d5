import { type Static, Type } from 'typebox'
import { freeObject, oneOf, strict } from './formats.ts'

const IntegrationCondition = Type.Object(
  {
    operator: oneOf(['contains', 'notcontains', 'empty', 'nempty', 'eq', 'ne']),
    field: Type.String({ description: 'Parameter of the page’s address, `url`, or the user identifier' }),
    values: Type.Array(Type.String()),
  },
  { ...strict, title: 'IntegrationCondition' },
)

/** How a workflow reaches one place: its addresses, and on a web page where and when it is put in. */
export const Integration = Type.Object(
  {
    id: Type.String(),
    workflowId: Type.String(),
    shortId: Type.String(),
    type: Type.String({ description: 'Channel', examples: ['web'] }),
    format: Type.String({ examples: ['embed-image'] }),
    outputTypes: Type.Array(Type.String({ examples: ['json'] })),
    parameters: freeObject('Parameters of the address, by name'),
    display: Type.String({ description: 'Address that gives the content' }),
    click: Type.String({ description: 'Address behind the content' }),
    domain: Type.Optional(Type.String()),
    code: Type.Optional(Type.String({ description: 'Script that runs after the content was put in' })),
    selector: Type.Optional(Type.String({ description: 'CSS selector of the place' })),
    enabled: Type.Boolean(),
    includeContext: Type.Optional(
      Type.Boolean({ description: 'Whether the parameters of the page’s address are passed on' }),
    ),
    includeDatalayerPath: Type.Optional(Type.Array(Type.String())),
    waitForEvents: Type.Optional(Type.Array(Type.String())),
    filters: Type.Optional(
      Type.Object({ type: oneOf(['and', 'or']), conditions: Type.Array(IntegrationCondition) }, strict),
    ),
    emplacement: Type.Optional(oneOf(['replace', 'before', 'after'])),
  },
  { ...strict, title: 'Integration' },
)
export type Integration = Static<typeof Integration>
