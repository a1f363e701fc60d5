import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf, succeeds } from '../operation-builders.ts'
import { idParams } from '../resources/formats.ts'
import { ScimConfig, ScimConfigUpdate } from '../resources/scim-config.ts'
import { CreatedScimToken, ScimToken, ScimTokenCreation } from '../resources/scim-token.ts'

const operation = operationsOf('Provisioning')

const url = '/v2/entities/scim/config'

/** Operation 17. */
export const readScimConfig = {
  ...operation('readScimConfig', 'GET', url, 'company:read'),
  number: 17,
  summary: 'Read the provisioning configuration',
  description: 'Answers the defaults, with `enabled` false, where nothing was set yet.',
  ...answers('The configuration', ScimConfig),
} as const satisfies Operation

/** Operation 18. */
export const updateScimConfig = {
  ...operation('updateScimConfig', 'PATCH', url, 'company:update'),
  number: 18,
  access:
    'Company: update, and every permission of each role that is named or that a user loses or gets by the change, and of the whole mapping to turn `roleSource` on; to turn `enabled` or `groupSync` on, every permission of each role of the company’s users',
  summary: 'Change the provisioning configuration',
  description:
    'A partial update: a field that is absent stays as it is. A change of the rules for roles is applied at once to every user whom the identity provider manages.',
  audit: { action: 'scim-config-update', target: 'scim-config' },
  errors: ['unknownRole', 'roleAboveOwn', 'lastAdministrator'],
  examples: {
    groups: example('Roles by group', {
      enabled: true,
      groupSync: true,
      roleSource: 'groups',
      roleMapping: [{ group: 'Marketing', roleId: '65f0c0ffee5ca1ab1e0ddba1' }],
      defaultRoleId: '65f0c0ffee5ca1ab1e0ddba2',
      deprovisionMode: 'soft',
    }),
  },
  ...answers('The configuration as it is now', ScimConfig, { body: ScimConfigUpdate }),
} as const satisfies Operation

const tokensUrl = '/v2/entities/scim/tokens'

export const listScimTokens = {
  ...operation('listScimTokens', 'GET', tokensUrl, 'company:read'),
  summary: 'List the tokens of the identity provider',
  description: 'The active tokens of the company, at most two, the oldest first; never their secrets.',
  ...answers('The tokens', Type.Array(ScimToken)),
} as const satisfies Operation

export const createScimToken = {
  ...operation('createScimToken', 'POST', tokensUrl, 'company:update'),
  access: 'Company: update, and every permission of each role of the company’s users',
  summary: 'Create a token for the identity provider',
  description:
    'The secret is in this answer and can never be read again. Two tokens may be active, so that one can be exchanged for the other without a gap.',
  audit: { action: 'scim-token-create', target: 'scim-token', named: 'label' },
  holdsSecret: true,
  errors: ['roleAboveOwn', 'tooManyScimTokens'],
  examples: { okta: example('For one identity provider', { label: 'Okta' }) },
  ...answers('The token, with its secret', CreatedScimToken, { body: ScimTokenCreation }),
} as const satisfies Operation

export const deleteScimToken = {
  ...operation('deleteScimToken', 'DELETE', `${tokensUrl}/:id`, 'company:update'),
  summary: 'Revoke a token of the identity provider',
  description: 'Requests with it are refused from now on.',
  audit: { action: 'scim-token-revoke', target: 'scim-token' },
  errors: ['scimTokenNotFound'],
  ...succeeds('It is revoked', { params: idParams('Identifier of the token') }),
} as const satisfies Operation
