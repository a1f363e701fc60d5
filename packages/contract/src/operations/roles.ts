import { Type } from 'typebox'
import { EmptyObject, paginatedEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { idParams, pagination, strict } from '../resources/formats.ts'
import { Role, RoleCreation, RoleUpdate } from '../resources/role.ts'

const url = '/v2/entities/roles'
const roleId = idParams('Identifier of the role')

export const listRoles = {
  id: 'listRoles',
  extension: true,
  method: 'GET',
  url,
  scope: 'authenticated',
  permission: { resource: 'role', action: 'read' },
  tag: 'Accounts',
  summary: 'List roles',
  description: 'The roles of your company by name, page by page.',
  errors: [],
  replies: { 200: { description: 'One page of roles' } },
  schema: {
    querystring: Type.Object({ ...pagination }, strict),
    response: { 200: paginatedEnvelope(Role) },
  },
} as const satisfies Operation

export const readRole = {
  id: 'readRole',
  extension: true,
  method: 'GET',
  url: `${url}/:id`,
  scope: 'authenticated',
  permission: { resource: 'role', action: 'read' },
  tag: 'Accounts',
  summary: 'Read a role',
  errors: ['roleNotFound'],
  replies: { 200: { description: 'The role' } },
  schema: { params: roleId, response: { 200: successEnvelope(Role) } },
} as const satisfies Operation

export const createRole = {
  id: 'createRole',
  extension: true,
  method: 'POST',
  url,
  scope: 'authenticated',
  permission: { resource: 'role', action: 'create' },
  access: 'Role: create, and every permission given',
  tag: 'Accounts',
  summary: 'Create a role',
  audit: { action: 'role-create', target: 'role', named: 'name' },
  errors: ['permissionAboveOwn', 'roleNameTaken'],
  examples: {
    analyst: {
      summary: 'Reads statistics',
      value: { name: 'Analyst', permissions: ['statistics:access', 'statistics:export', 'datasource:read'] },
    },
  },
  replies: { 200: { description: 'The role' } },
  schema: { body: RoleCreation, response: { 200: successEnvelope(Role) } },
} as const satisfies Operation

export const updateRole = {
  id: 'updateRole',
  extension: true,
  method: 'PATCH',
  url: `${url}/:id`,
  scope: 'authenticated',
  permission: { resource: 'role', action: 'update' },
  access: 'Role: update, and every permission given or taken',
  tag: 'Accounts',
  summary: 'Change a role',
  description: 'A partial update. It applies at once to every user with the role.',
  audit: { action: 'role-update', target: 'role' },
  errors: ['roleNotFound', 'builtInRole', 'permissionAboveOwn', 'roleNameTaken', 'lastAdministrator'],
  examples: { name: { summary: 'Another name', value: { name: 'Senior analyst' } } },
  replies: { 200: { description: 'The role as it is now' } },
  schema: { params: roleId, body: RoleUpdate, response: { 200: successEnvelope(Role) } },
} as const satisfies Operation

export const deleteRole = {
  id: 'deleteRole',
  extension: true,
  method: 'DELETE',
  url: `${url}/:id`,
  scope: 'authenticated',
  permission: { resource: 'role', action: 'delete' },
  access: 'Role: delete, and every permission of the role',
  tag: 'Accounts',
  summary: 'Delete a role',
  description: 'Only a role that no user has and that no setting names.',
  audit: { action: 'role-delete', target: 'role' },
  errors: ['roleNotFound', 'builtInRole', 'permissionAboveOwn', 'roleInUse'],
  replies: { 200: { description: 'The role is deleted' } },
  schema: { params: roleId, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation
