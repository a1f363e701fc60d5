import { Type } from 'typebox'
import { EmptyObject, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { idParams } from '../resources/formats.ts'
import { ScimConfig, ScimConfigUpdate } from '../resources/scim-config.ts'
import { CreatedScimToken, ScimToken, ScimTokenCreation } from '../resources/scim-token.ts'

const url = '/v2/entities/scim/config'

/** Operation 17. */
export const readScimConfig = {
  id: 'readScimConfig',
  number: 17,
  method: 'GET',
  url,
  scope: 'authenticated',
  permission: { resource: 'company', action: 'read' },
  tag: 'Provisioning',
  summary: 'Read the provisioning configuration',
  description: 'Answers the defaults, with `enabled` false, where nothing was set yet.',
  errors: [],
  replies: { 200: { description: 'The configuration' } },
  schema: { response: { 200: successEnvelope(ScimConfig) } },
} as const satisfies Operation

/** Operation 18. */
export const updateScimConfig = {
  id: 'updateScimConfig',
  number: 18,
  method: 'PATCH',
  url,
  scope: 'authenticated',
  permission: { resource: 'company', action: 'update' },
  access:
    'Company: update, and every permission of each role that is named or that a user loses or gets by the change, and of the whole mapping to turn `roleSource` on; to turn `enabled` or `groupSync` on, every permission of each role of the company’s users',
  tag: 'Provisioning',
  summary: 'Change the provisioning configuration',
  description:
    'A partial update: a field that is absent stays as it is. A change of the rules for roles is applied at once to every user whom the identity provider manages.',
  audit: { action: 'scim-config-update', target: 'scim-config' },
  errors: ['unknownRole', 'roleAboveOwn', 'lastAdministrator'],
  examples: {
    groups: {
      summary: 'Roles by group',
      value: {
        enabled: true,
        groupSync: true,
        roleSource: 'groups',
        roleMapping: [{ group: 'Marketing', roleId: '65f0c0ffee5ca1ab1e0ddba1' }],
        defaultRoleId: '65f0c0ffee5ca1ab1e0ddba2',
        deprovisionMode: 'soft',
      },
    },
  },
  replies: { 200: { description: 'The configuration as it is now' } },
  schema: { body: ScimConfigUpdate, response: { 200: successEnvelope(ScimConfig) } },
} as const satisfies Operation

const tokensUrl = '/v2/entities/scim/tokens'

export const listScimTokens = {
  id: 'listScimTokens',
  extension: true,
  method: 'GET',
  url: tokensUrl,
  scope: 'authenticated',
  permission: { resource: 'company', action: 'read' },
  tag: 'Provisioning',
  summary: 'List the tokens of the identity provider',
  description: 'The active tokens of the company, at most two, the oldest first; never their secrets.',
  errors: [],
  replies: { 200: { description: 'The tokens' } },
  schema: { response: { 200: successEnvelope(Type.Array(ScimToken)) } },
} as const satisfies Operation

export const createScimToken = {
  id: 'createScimToken',
  holdsSecret: true,
  extension: true,
  method: 'POST',
  url: tokensUrl,
  scope: 'authenticated',
  permission: { resource: 'company', action: 'update' },
  access: 'Company: update, and every permission of each role of the company’s users',
  tag: 'Provisioning',
  summary: 'Create a token for the identity provider',
  description:
    'The secret is in this answer and can never be read again. Two tokens may be active, so that one can be exchanged for the other without a gap.',
  audit: { action: 'scim-token-create', target: 'scim-token', named: 'label' },
  errors: ['roleAboveOwn', 'tooManyScimTokens'],
  examples: { okta: { summary: 'For one identity provider', value: { label: 'Okta' } } },
  replies: { 200: { description: 'The token, with its secret' } },
  schema: { body: ScimTokenCreation, response: { 200: successEnvelope(CreatedScimToken) } },
} as const satisfies Operation

export const deleteScimToken = {
  id: 'deleteScimToken',
  extension: true,
  method: 'DELETE',
  url: `${tokensUrl}/:id`,
  scope: 'authenticated',
  permission: { resource: 'company', action: 'update' },
  tag: 'Provisioning',
  summary: 'Revoke a token of the identity provider',
  description: 'Requests with it are refused from now on.',
  audit: { action: 'scim-token-revoke', target: 'scim-token' },
  errors: ['scimTokenNotFound'],
  replies: { 200: { description: 'It is revoked' } },
  schema: {
    params: idParams('Identifier of the token'),
    response: { 200: successEnvelope(EmptyObject) },
  },
} as const satisfies Operation
