import { Type } from 'typebox'
import { EmptyObject, paginatedEnvelope, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { idParams, pagination, strict } from '../resources/formats.ts'
import { Invitation, InvitationCreation, InvitationRenewal, Invited } from '../resources/invitation.ts'

const url = '/v2/entities/invitations'
const invitationId = idParams('Identifier of the invitation')

export const inviteUser = {
  id: 'inviteUser',
  holdsSecret: true,
  extension: true,
  method: 'POST',
  url,
  scope: 'authenticated',
  permission: { resource: 'invitation', action: 'create' },
  access:
    'Invitation: create, every permission of the role given, and teams that you use yourself (any team with Team: update)',
  tag: 'Accounts',
  summary: 'Invite a user',
  description:
    'Makes a user who accepts the invitation at `url`: a link to choose a password that works once within 7 days, or the sign-in address where single sign-on is required for the address. The link is mailed too unless `sendMail` is false. It works as long as the user who made it may give the role. Whether another company has a user with the address is not disclosed: where it signs in to an account of another company, or its domain is verified there, the invitation is answered like any other, the mail says so, and the link sets no password.',
  audit: { action: 'user-invite', target: 'user', named: 'email' },
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
    mailed: {
      summary: 'By mail',
      value: {
        email: 'ada@example.com',
        roleId: '65f0c0ffee5ca1ab1e0ddba1',
        resourceGroupIds: ['65f0c0ffee5ca1ab1e0ddba2'],
        firstName: 'Ada',
      },
    },
    handed: {
      summary: 'To pass on the link yourself',
      value: {
        email: 'bob@example.com',
        roleId: '65f0c0ffee5ca1ab1e0ddba1',
        resourceGroupIds: ['65f0c0ffee5ca1ab1e0ddba2'],
        sendMail: false,
      },
    },
  },
  replies: { 200: { description: 'The user, and where the user accepts the invitation' } },
  schema: { body: InvitationCreation, response: { 200: successEnvelope(Invited) } },
} as const satisfies Operation

export const listInvitations = {
  id: 'listInvitations',
  extension: true,
  method: 'GET',
  url,
  scope: 'authenticated',
  permission: { resource: 'invitation', action: 'read' },
  tag: 'Accounts',
  summary: 'List invitations',
  description: 'Users who have not accepted their invitation yet, the oldest first, page by page.',
  errors: [],
  replies: { 200: { description: 'One page of invitations' } },
  schema: {
    querystring: Type.Object({ ...pagination }, strict),
    response: { 200: paginatedEnvelope(Invitation) },
  },
} as const satisfies Operation

export const renewInvitation = {
  id: 'renewInvitation',
  holdsSecret: true,
  extension: true,
  method: 'POST',
  url: `${url}/:id/renew`,
  scope: 'authenticated',
  permission: { resource: 'invitation', action: 'create' },
  access: 'Invitation: create, and every permission of the role of the user',
  tag: 'Accounts',
  summary: 'Renew an invitation',
  description: 'Makes a new link for 7 days; the former one is no longer valid.',
  audit: { action: 'invitation-renew', target: 'user' },
  errors: ['invitationNotFound', 'userAboveOwn', 'tooManyInvitations'],
  examples: {
    mailed: { summary: 'By mail', value: {} },
    handed: { summary: 'To pass on the link yourself', value: { sendMail: false } },
  },
  replies: { 200: { description: 'The user, and where the user accepts the invitation' } },
  schema: {
    params: invitationId,
    body: InvitationRenewal,
    response: { 200: successEnvelope(Invited) },
  },
} as const satisfies Operation

export const deleteInvitation = {
  id: 'deleteInvitation',
  extension: true,
  method: 'DELETE',
  url: `${url}/:id`,
  scope: 'authenticated',
  permission: { resource: 'invitation', action: 'delete' },
  access: 'Invitation: delete, and every permission of the role of the user',
  tag: 'Accounts',
  summary: 'Revoke an invitation',
  description: 'The link is no longer valid, and the address is free again.',
  audit: { action: 'invitation-delete', target: 'user' },
  errors: ['invitationNotFound', 'userAboveOwn'],
  replies: { 200: { description: 'The invitation is revoked' } },
  schema: { params: invitationId, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation
