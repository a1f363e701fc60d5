import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import { id, idParams, lineText, oneOf, searchIn, sorting } from '../resources/formats.ts'
import { Colleague, User, UserUpdate, userStatuses } from '../resources/user.ts'

const operationAccounts = operationsOf('Accounts')
const operationSingleSignOn = operationsOf('Single sign-on')

const userId = idParams('Identifier of the user')

export const listUsers = {
  ...operationAccounts('listUsers', 'GET', '/v2/entities/users', 'user:read'),
  summary: 'List users',
  description: 'The users of your company, the oldest first unless they are sorted, page by page.',
  ...lists('One page of users', User, {
    search: Type.Optional(lineText('Only users with this text in their name or address')),
    roleId: Type.Optional(id('Only users with this role')),
    resourceGroupId: Type.Optional(id('Only members of this team')),
    status: Type.Optional(oneOf(userStatuses, 'Only users in this state')),
    ...sorting(['name', 'email', 'lastSignInAt', 'createdAt'], '`createdAt`, ascending,'),
  }),
} as const satisfies Operation

export const listPeople = {
  ...operationAccounts('listPeople', 'GET', '/v2/entities/people'),
  access: 'Every user of the company',
  summary: 'List the names of users',
  description:
    'The users of your company by name, so that who made or saved a thing has a name. Addresses are not among it.',
  ...lists('One page of names', Colleague, {
    ...searchIn('name'),
    ids: Type.Optional(
      Type.Array(id('A user'), {
        minItems: 1,
        maxItems: 100,
        description: 'Only these users; repeat it for each',
      }),
    ),
  }),
} as const satisfies Operation

export const readUser = {
  ...operationAccounts('readUser', 'GET', '/v2/entities/users/:id', 'user:read'),
  summary: 'Read a user',
  errors: ['userIdNotFound'],
  ...answers('The user', User, { params: userId }),
} as const satisfies Operation

export const updateUser = {
  ...operationAccounts('updateUser', 'PATCH', '/v2/entities/users/:id', 'user:update'),
  access:
    'User: update, every permission of the user’s present role and of a new one, and new teams that you use yourself (any team with Team: update)',
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
    role: example('Another role', { roleId: '65f0c0ffee5ca1ab1e0ddba1' }),
    profile: example('A name', { firstName: 'Ada', lastName: 'Lovelace', language: 'en' }),
  },
  ...answers('The user as it is now', User, { params: userId, body: UserUpdate }),
} as const satisfies Operation

export const deactivateUser = {
  ...operationAccounts('deactivateUser', 'POST', '/v2/entities/users/:id/deactivate', 'user:update'),
  access: 'User: update, and every permission of the user’s role',
  summary: 'Deactivate a user',
  description:
    'Ends every session at once, revokes links in mails and deletes linked accounts. Role, teams and password stay. A user who is deactivated already stays so.',
  audit: { action: 'user-deactivate', target: 'user' },
  errors: ['userIdNotFound', 'userAboveOwn', 'lastAdministrator'],
  ...answers('The user as it is now', User, { params: userId }),
} as const satisfies Operation

export const reactivateUser = {
  ...operationAccounts('reactivateUser', 'POST', '/v2/entities/users/:id/reactivate', 'user:update'),
  access: 'User: update, and every permission of the user’s role',
  summary: 'Reactivate a user',
  description:
    'Role, teams and password are as they were; linked accounts do not come back. A user who is active stays so; one who had not accepted the invitation yet is invited again and needs a new link.',
  audit: { action: 'user-reactivate', target: 'user' },
  errors: ['userIdNotFound', 'userAboveOwn', 'userNotActive'],
  ...answers('The user as it is now', User, { params: userId }),
} as const satisfies Operation

export const unlinkUser = {
  ...operationSingleSignOn('unlinkUser', 'DELETE', '/v2/entities/users/:id/sso-link', 'user:update'),
  access: 'User: update, and every permission of the user’s role',
  summary: 'Unlink a user from the identity provider',
  description: `For a user whose name at the identity provider has changed: the next sign-in with a verified address that is the user’s links the account to the new name. Sessions that began through single sign-on end; those of a password stay.

The name that is taken away may lead to another account afterwards, but to none that may do more than you may.`,
  audit: { action: 'sso-unlink', target: 'user' },
  errors: ['userIdNotFound', 'userAboveOwn', 'singleSignOnLinkNotFound', 'lastAdministrator'],
  ...succeeds('The user is unlinked', { params: userId }),
} as const satisfies Operation

export const deleteUser = {
  ...operationAccounts('deleteUser', 'DELETE', '/v2/entities/users/:id', 'user:delete'),
  access: 'User: delete, and every permission of the user’s role',
  summary: 'Delete a user for good',
  description:
    'Ends every session at once and erases all personal data. What the user made stays with the company; the address is free again.',
  audit: { action: 'user-delete', target: 'user' },
  errors: ['userIdNotFound', 'userAboveOwn', 'lastAdministrator'],
  ...succeeds('The user is deleted', { params: userId }),
} as const satisfies Operation
