import { type Static, Type } from 'typebox'
import { dateTime, freeObject, id, oneOf, strict } from './formats.ts'

const TemplateVariable = Type.Object(
  {
    name: Type.String({ description: 'As in the leaves of the definition, case included' }),
    type: oneOf(['scalar', 'array', 'fixed'], {
      description: '`array`: the values of all rows; `scalar`: one value; `fixed`: the value of one row',
    }),
    description: Type.Optional(Type.String()),
  },
  { ...strict, title: 'TemplateVariable' },
)

/** docs/interface.md, JSON template. `_id` and `id` are the same identifier. */
export const JsonTemplate = Type.Object(
  {
    _id: id('Identifier of the template'),
    id: id('The same identifier'),
    type: Type.String({ examples: ['WorkflowBranchCategories'] }),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
    companyId: id('Company that owns it'),
    resourceGroupIds: Type.Array(Type.String(), { description: 'Teams that see it' }),
    name: Type.String(),
    definition: freeObject('The JSON that is answered, with static and variable leaves'),
    variables: Type.Array(TemplateVariable),
    redirectVariable: Type.Optional(Type.String()),
  },
  { ...strict, title: 'JsonTemplate' },
)
export type JsonTemplate = Static<typeof JsonTemplate>
