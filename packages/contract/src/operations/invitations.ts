import type { Operation } from '../operation.ts'
import { answers, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import { idParams } from '../resources/formats.ts'
import { Invitation, InvitationCreation, InvitationRenewal, Invited } from '../resources/invitation.ts'

const operation = operationsOf('Accounts')

const url = '/v2/entities/invitations'
const invitationId = idParams('Identifier of the invitation')

export const inviteUser = {
  ...operation('inviteUser', 'POST', url, 'invitation:create'),
  access:
    'Invitation: create, every permission of the role given, and teams that you use yourself (any team with Team: update)',
  summary: 'Invite a user',
  description:
    'Makes a user who accepts the invitation at `url`: a link to choose a password that works once within 7 days, or the sign-in address where single sign-on is required for the address. The link is mailed too unless `sendMail` is false. It works as long as the user who made it may give the role. Whether another company has a user with the address is not disclosed: where it signs in to an account of another company, or its domain is verified there, the invitation is answered like any other, the mail says so, and the link sets no password.',
  audit: { action: 'user-invite', target: 'user', named: 'email' },
  holdsSecret: true,
  errors: [
    'provisionedTeam',
    'unknownRole',
    'roleAboveOwn',
    'unknownTeam',
    'notInTeam',
    'emailTaken',
    'tooManyInvitations',
  ],
  examples: {
    mailed: example('By mail', {
      email: 'ada@example.com',
      roleId: '65f0c0ffee5ca1ab1e0ddba1',
      resourceGroupIds: ['65f0c0ffee5ca1ab1e0ddba2'],
      firstName: 'Ada',
    }),
    handed: example('To pass on the link yourself', {
      email: 'bob@example.com',
      roleId: '65f0c0ffee5ca1ab1e0ddba1',
      resourceGroupIds: ['65f0c0ffee5ca1ab1e0ddba2'],
      sendMail: false,
    }),
  },
  ...answers('The user, and where the user accepts the invitation', Invited, { body: InvitationCreation }),
} as const satisfies Operation

export const listInvitations = {
  ...operation('listInvitations', 'GET', url, 'invitation:read'),
  summary: 'List invitations',
  description: 'Users who have not accepted their invitation yet, the oldest first, page by page.',
  ...lists('One page of invitations', Invitation),
} as const satisfies Operation

export const renewInvitation = {
  ...operation('renewInvitation', 'POST', `${url}/:id/renew`, 'invitation:create'),
  access: 'Invitation: create, and every permission of the role of the user',
  summary: 'Renew an invitation',
  description: 'Makes a new link for 7 days; the former one is no longer valid.',
  audit: { action: 'invitation-renew', target: 'user' },
  holdsSecret: true,
  errors: ['invitationNotFound', 'userAboveOwn', 'tooManyInvitations'],
  examples: {
    mailed: example('By mail', {}),
    handed: example('To pass on the link yourself', { sendMail: false }),
  },
  ...answers('The user, and where the user accepts the invitation', Invited, {
    params: invitationId,
    body: InvitationRenewal,
  }),
} as const satisfies Operation

export const deleteInvitation = {
  ...operation('deleteInvitation', 'DELETE', `${url}/:id`, 'invitation:delete'),
  access: 'Invitation: delete, and every permission of the role of the user',
  summary: 'Revoke an invitation',
  description: 'The link is no longer valid, and the address is free again.',
  audit: { action: 'invitation-delete', target: 'user' },
  errors: ['invitationNotFound', 'userAboveOwn'],
  ...succeeds('The invitation is revoked', { params: invitationId }),
} as const satisfies Operation
