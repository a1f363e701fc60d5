import type { Operation } from '../operation.ts'
import { answers, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import { idParams } from '../resources/formats.ts'
import { Role, RoleCreation, RoleUpdate } from '../resources/role.ts'

const operation = operationsOf('Accounts')

const url = '/v2/entities/roles'
const roleId = idParams('Identifier of the role')

export const listRoles = {
  ...operation('listRoles', 'GET', url, 'role:read'),
  summary: 'List roles',
  description: 'The roles of your company by name, page by page.',
  ...lists('One page of roles', Role),
} as const satisfies Operation

export const readRole = {
  ...operation('readRole', 'GET', `${url}/:id`, 'role:read'),
  summary: 'Read a role',
  errors: ['roleNotFound'],
  ...answers('The role', Role, { params: roleId }),
} as const satisfies Operation

export const createRole = {
  ...operation('createRole', 'POST', url, 'role:create'),
  access: 'Role: create, and every permission given',
  summary: 'Create a role',
  audit: { action: 'role-create', target: 'role', named: 'name' },
  errors: ['permissionAboveOwn', 'roleNameTaken'],
  examples: {
    analyst: example('Reads statistics', {
      name: 'Analyst',
      permissions: ['statistics:access', 'statistics:export', 'datasource:read'],
    }),
  },
  ...answers('The role', Role, { body: RoleCreation }),
} as const satisfies Operation

export const updateRole = {
  ...operation('updateRole', 'PATCH', `${url}/:id`, 'role:update'),
  access: 'Role: update, and every permission given or taken',
  summary: 'Change a role',
  description: 'A partial update. It applies at once to every user with the role.',
  audit: { action: 'role-update', target: 'role' },
  errors: ['roleNotFound', 'builtInRole', 'permissionAboveOwn', 'roleNameTaken', 'lastAdministrator'],
  examples: { name: example('Another name', { name: 'Senior analyst' }) },
  ...answers('The role as it is now', Role, { params: roleId, body: RoleUpdate }),
} as const satisfies Operation

export const deleteRole = {
  ...operation('deleteRole', 'DELETE', `${url}/:id`, 'role:delete'),
  access: 'Role: delete, and every permission of the role',
  summary: 'Delete a role',
  description: 'Only a role that no user has and that no setting names.',
  audit: { action: 'role-delete', target: 'role' },
  errors: ['roleNotFound', 'builtInRole', 'permissionAboveOwn', 'roleInUse'],
  ...succeeds('The role is deleted', { params: roleId }),
} as const satisfies Operation
