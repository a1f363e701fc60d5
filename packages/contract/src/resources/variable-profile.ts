import { type Static, Type } from 'typebox'
import { bodyOf, filled, id, listOf, named, nameText, storablePattern, text, times } from './formats.ts'
import { integrationLimits } from './workflow-integration.ts'

/** Variable profiles of a company. */
export const maxVariableProfiles = 200

const parameter = named('ProfileParameter', {
  name: filled('Name of the parameter of the address', integrationLimits.parameterName, 'trk-u'),
  default: Type.Optional(
    text(
      'Value where the integration gives none; without it the integration alone decides',
      '{{contact.id}}',
      { maxLength: integrationLimits.parameterValue, pattern: storablePattern },
    ),
  ),
})

/** Parameters that addresses of workflows are to have, named once for all (docs/workflows.md, Variable profiles). */
export const VariableProfile = named('VariableProfile', {
  _id: id('Identifier of the profile'),
  id: id('The same identifier'),
  type: text('Kind of setting', 'WorkflowVariableProfiles'),
  companyId: id('Company that owns it'),
  ...times,
  name: Type.String(),
  parameters: listOf(parameter, 'In the order of the address'),
})
export type VariableProfile = Static<typeof VariableProfile>

const input = {
  name: nameText('Name of the profile', 200, { examples: ['Newsletter tool'] }),
  parameters: Type.Array(parameter, { maxItems: integrationLimits.parameters }),
}

/** Of a new profile, and of one that is replaced. */
export const VariableProfileInput = bodyOf('VariableProfileInput', VariableProfile, input)
export type VariableProfileInput = Static<typeof VariableProfileInput>
