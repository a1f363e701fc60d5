import { type Static, Type } from 'typebox'
import { revisionFields } from '../revision.ts'
import {
  dateTime,
  freeObject,
  id,
  longText,
  mapOf,
  nameText,
  oneOf,
  responseOnly,
  strict,
} from './formats.ts'

/** Bounds of JSON templates (docs/workflows.md, JSON templates). */
export const templateLimits = {
  perCompany: 1_000,
  teams: 100,
  variables: 100,
  /** Row that a `fixed` variable names. */
  index: 19,
  depth: 10,
  leaves: 1_000,
  /** Of the definition as JSON. */
  bytes: 100_000,
} as const

const TemplateVariable = Type.Object(
  {
    name: Type.String({ description: 'As in the leaves of the definition, case included' }),
    type: oneOf(['scalar', 'array', 'fixed'], {
      description: '`array`: the values of all rows; `scalar`: one value; `fixed`: the value of one row',
    }),
    description: Type.Optional(Type.String()),
    index: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: templateLimits.index,
        description: 'For `fixed`: the row, from 0',
        'x-millrace-extension': true,
      }),
    ),
  },
  { ...strict, title: 'TemplateVariable' },
)

/** docs/interface.md, JSON template. `_id` and `id` are the same identifier. */
export const JsonTemplate = Type.Object(
  {
    _id: id('Identifier of the template'),
    id: id('The same identifier'),
    type: Type.String({ description: 'Kind of setting', examples: ['WorkflowJsonTemplates'] }),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
    companyId: id('Company that owns it'),
    resourceGroupIds: Type.Array(Type.String(), { description: 'Teams that see it' }),
    name: Type.String(),
    definition: freeObject('The JSON that is answered, with static and variable leaves'),
    variables: Type.Array(TemplateVariable),
    redirectVariable: Type.Optional(Type.String()),
    ...revisionFields,
  },
  { ...strict, title: 'JsonTemplate' },
)
export type JsonTemplate = Static<typeof JsonTemplate>

const input = {
  name: nameText('Name of the template', 200, { examples: ['Product card'] }),
  resourceGroupIds: Type.Array(id('A team that you are a member of'), {
    minItems: 1,
    maxItems: templateLimits.teams,
    uniqueItems: true,
    description: 'Teams that see the template; workflows of these teams can use it',
  }),
  definition: mapOf(Type.Unknown(), {
    maxProperties: templateLimits.leaves,
    description:
      'Objects and lists whose leaves are `{"type": "static", "value": …}` or `{"type": "dependency", "variable": …}`',
  }),
  variables: Type.Optional(
    Type.Array(
      Type.Object(
        {
          ...TemplateVariable.properties,
          name: nameText('As in the leaves of the definition, case included', 100),
          description: Type.Optional(longText('What it stands for', 500)),
        },
        { ...strict, title: 'TemplateVariableInput' },
      ),
      { maxItems: templateLimits.variables, description: 'What the leaves name; none when absent' },
    ),
  ),
  redirectVariable: Type.Optional(
    nameText('Variable, `scalar` or `fixed`, whose value is the destination of a click', 100),
  ),
}

/** Of a new template, and of one that is replaced: a field that is absent is not kept. */
export const JsonTemplateInput = Type.Object(
  { ...input, ...responseOnly(JsonTemplate, input) },
  { ...strict, title: 'JsonTemplateInput' },
)
export type JsonTemplateInput = Static<typeof JsonTemplateInput>
