import { successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { ScimConfig, ScimConfigUpdate } from '../resources/scim-config.ts'

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
  tag: 'Provisioning',
  summary: 'Change the provisioning configuration',
  description: 'A partial update: a field that is absent stays as it is.',
  errors: ['unknownRole', 'roleAboveOwn'],
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
