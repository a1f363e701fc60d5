import { type Static, Type } from 'typebox'
import { dateTime, id, nameText, responseOnly, storablePattern, strict } from './formats.ts'
import { integrationLimits } from './workflow-integration.ts'

/** Variable profiles of a company. */
export const maxVariableProfiles = 200

const parameter = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: integrationLimits.parameterName,
      description: 'Name of the parameter of the address',
      examples: ['trk-u'],
    }),
    default: Type.Optional(
      Type.String({
        maxLength: integrationLimits.parameterValue,
        pattern: storablePattern,
        description: 'Value where the integration gives none; without it the integration alone decides',
        examples: ['{{contact.id}}'],
      }),
    ),
  },
  { ...strict, title: 'ProfileParameter' },
)

/** Parameters that addresses of workflows are to have, named once for all (docs/workflows.md, Variable profiles). */
export const VariableProfile = Type.Object(
  {
    _id: id('Identifier of the profile'),
    id: id('The same identifier'),
    type: Type.String({ description: 'Kind of setting', examples: ['WorkflowVariableProfiles'] }),
    companyId: id('Company that owns it'),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
    name: Type.String(),
    parameters: Type.Array(parameter, { description: 'In the order of the address' }),
  },
  { ...strict, title: 'VariableProfile' },
)
export type VariableProfile = Static<typeof VariableProfile>

const input = {
  name: nameText('Name of the profile', 200, { examples: ['Newsletter tool'] }),
  parameters: Type.Array(parameter, { maxItems: integrationLimits.parameters }),
}

/** Of a new profile, and of one that is replaced. */
export const VariableProfileInput = Type.Object(
  { ...input, ...responseOnly(VariableProfile, input) },
  { ...strict, title: 'VariableProfileInput' },
)
export type VariableProfileInput = Static<typeof VariableProfileInput>
