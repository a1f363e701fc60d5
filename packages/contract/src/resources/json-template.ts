import { type Static, Type } from 'typebox'
import { revisionFields } from '../revision.ts'
import {
  bodyOf,
  extension,
  freeObject,
  id,
  integer,
  listOf,
  longText,
  mapOf,
  named,
  nameText,
  oneOf,
  text,
  times,
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

const TemplateVariable = named('TemplateVariable', {
  name: text('As in the leaves of the definition, case included'),
  type: oneOf(
    ['scalar', 'array', 'fixed'],
    '`array`: the values of all rows; `scalar`: one value; `fixed`: the value of one row',
  ),
  description: Type.Optional(Type.String()),
  index: Type.Optional(extension(integer(0, templateLimits.index, 'For `fixed`: the row, from 0'))),
})

/** docs/interface.md, JSON template. `_id` and `id` are the same identifier. */
export const JsonTemplate = named('JsonTemplate', {
  _id: id('Identifier of the template'),
  id: id('The same identifier'),
  type: text('Kind of setting', 'WorkflowJsonTemplates'),
  ...times,
  companyId: id('Company that owns it'),
  resourceGroupIds: listOf(Type.String(), 'Teams that see it'),
  name: Type.String(),
  definition: freeObject('The JSON that is answered, with static and variable leaves'),
  variables: Type.Array(TemplateVariable),
  redirectVariable: Type.Optional(Type.String()),
  ...revisionFields,
})
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
      named('TemplateVariableInput', {
        ...TemplateVariable.properties,
        name: nameText('As in the leaves of the definition, case included', 100),
        description: Type.Optional(longText('What it stands for', 500)),
      }),
      { maxItems: templateLimits.variables, description: 'What the leaves name; none when absent' },
    ),
  ),
  redirectVariable: Type.Optional(
    nameText('Variable, `scalar` or `fixed`, whose value is the destination of a click', 100),
  ),
}

/** Of a new template, and of one that is replaced: a field that is absent is not kept. */
export const JsonTemplateInput = bodyOf('JsonTemplateInput', JsonTemplate, input)
export type JsonTemplateInput = Static<typeof JsonTemplateInput>
