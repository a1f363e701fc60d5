import { Type } from 'typebox'
import { EmptyObject, paginatedEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { id, idParams, lineText, oneOf, pagination, strict } from '../resources/formats.ts'
import { User, UserUpdate, userStatuses } from '../resources/user.ts'

const userId = idParams('Identifier of the user')

export const listUsers = {
  id: 'listUsers',
  extension: true,
  method: 'GET',
  url: '/v2/entities/users',
  scope: 'authenticated',
  permission: { resource: 'user', action: 'read' },
  tag: 'Accounts',
  summary: 'List users',
  description: 'The users of your company, the oldest first, page by page.',
  errors: [],
  replies: { 200: { description: 'One page of users' } },
  schema: {
    querystring: Type.Object(
      {
        ...pagination,
        search: Type.Optional(lineText('Only users with this text in their name or address')),
        roleId: Type.Optional(id('Only users with this role')),
        resourceGroupId: Type.Optional(id('Only members of this team')),
        status: Type.Optional(oneOf([...userStatuses], { description: 'Only users in this state' })),
      },
      strict,
    ),
    response: { 200: paginatedEnvelope(User) },
  },
} as const satisfies Operation

export const readUser = {
  id: 'readUser',
  extension: true,
  method: 'GET',
  url: '/v2/entities/users/:id',
  scope: 'authenticated',
  permission: { resource: 'user', action: 'read' },
  tag: 'Accounts',
  summary: 'Read a user',
  errors: ['userIdNotFound'],
  replies: { 200: { description: 'The user' } },
  schema: { params: userId, response: { 200: successEnvelope(User) } },
} as const satisfies Operation

export const updateUser = {
  id: 'updateUser',
  extension: true,
  method: 'PATCH',
  url: '/v2/entities/users/:id',
  scope: 'authenticated',
  permission: { resource: 'user', action: 'update' },
  access:
    'User: update, every permission of the user’s present role and of a new one, and new teams that you use yourself (any team with Team: update)',
  tag: 'Accounts',
  summary: 'Change a user',
  description:
    'A partial update: a field that is absent stays as it is. An address never changes. The change of a role or of teams works at once.',
  audit: { action: 'user-update', target: 'user' },
  errors: [
    'provisionedTeam',
    'userIdNotFound',
    'userAboveOwn',
    'unknownRole',
    'roleAboveOwn',
    'unknownTeam',
    'notInTeam',
    'lastAdministrator',
  ],
  examples: {
    role: { summary: 'Another role', value: { roleId: '65f0c0ffee5ca1ab1e0ddba1' } },
    profile: { summary: 'A name', value: { firstName: 'Ada', lastName: 'Lovelace', language: 'en' } },
  },
  replies: { 200: { description: 'The user as it is now' } },
  schema: { params: userId, body: UserUpdate, response: { 200: successEnvelope(User) } },
} as const satisfies Operation

export const deactivateUser = {
  id: 'deactivateUser',
  extension: true,
  method: 'POST',
  url: '/v2/entities/users/:id/deactivate',
  scope: 'authenticated',
  permission: { resource: 'user', action: 'update' },
  access: 'User: update, and every permission of the user’s role',
  tag: 'Accounts',
  summary: 'Deactivate a user',
  description:
    'Ends every session at once, revokes links in mails and deletes linked accounts. Role, teams and password stay. A user who is deactivated already stays so.',
  audit: { action: 'user-deactivate', target: 'user' },
  errors: ['userIdNotFound', 'userAboveOwn', 'lastAdministrator'],
  replies: { 200: { description: 'The user as it is now' } },
  schema: { params: userId, response: { 200: successEnvelope(User) } },
} as const satisfies Operation

export const reactivateUser = {
  id: 'reactivateUser',
  extension: true,
  method: 'POST',
  url: '/v2/entities/users/:id/reactivate',
  scope: 'authenticated',
  permission: { resource: 'user', action: 'update' },
  access: 'User: update, and every permission of the user’s role',
  tag: 'Accounts',
  summary: 'Reactivate a user',
  description:
    'Role, teams and password are as they were; linked accounts do not come back. A user who is active stays so; one who had not accepted the invitation yet is invited again and needs a new link.',
  audit: { action: 'user-reactivate', target: 'user' },
  errors: ['userIdNotFound', 'userAboveOwn', 'userNotActive'],
  replies: { 200: { description: 'The user as it is now' } },
  schema: { params: userId, response: { 200: successEnvelope(User) } },
} as const satisfies Operation

export const unlinkUser = {
  id: 'unlinkUser',
  extension: true,
  method: 'DELETE',
  url: '/v2/entities/users/:id/sso-link',
  scope: 'authenticated',
  permission: { resource: 'user', action: 'update' },
  access: 'User: update, and every permission of the user’s role',
  tag: 'Single sign-on',
  summary: 'Unlink a user from the identity provider',
  description: `For a user whose name at the identity provider has changed: the next sign-in with a verified address that is the user’s links the account to the new name. Sessions that began through single sign-on end; those of a password stay.

The name that is taken away may lead to another account afterwards, but to none that may do more than you may.`,
  audit: { action: 'sso-unlink', target: 'user' },
  errors: ['userIdNotFound', 'userAboveOwn', 'singleSignOnLinkNotFound', 'lastAdministrator'],
  replies: { 200: { description: 'The user is unlinked' } },
  schema: { params: userId, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation

export const deleteUser = {
  id: 'deleteUser',
  extension: true,
  method: 'DELETE',
  url: '/v2/entities/users/:id',
  scope: 'authenticated',
  permission: { resource: 'user', action: 'delete' },
  access: 'User: delete, and every permission of the user’s role',
  tag: 'Accounts',
  summary: 'Delete a user for good',
  description:
    'Ends every session at once and erases all personal data. What the user made stays with the company; the address is free again.',
  audit: { action: 'user-delete', target: 'user' },
  errors: ['userIdNotFound', 'userAboveOwn', 'lastAdministrator'],
  replies: { 200: { description: 'The user is deleted' } },
  schema: { params: userId, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation
