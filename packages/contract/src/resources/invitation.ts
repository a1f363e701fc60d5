import { type Static, Type } from 'typebox'
import { dateTime, emailAddress, id, lineText, named, nullable, text } from './formats.ts'
import { teamIds, User } from './user.ts'

/** An invited user who has not signed in yet; `id` is the user's. */
export const Invitation = named('Invitation', {
  id: id('Identifier of the invitation, and of the user'),
  email: User.properties.email,
  firstName: Type.String(),
  lastName: Type.String(),
  roleId: User.properties.roleId,
  resourceGroupIds: User.properties.resourceGroupIds,
  createdAt: dateTime('When the user was invited first'),
  expiresAt: nullable(
    dateTime('When the link ends'),
    'When the link ends; null where the user signs in through single sign-on',
  ),
})
export type Invitation = Static<typeof Invitation>

/** What the inviting user gets: the user, and the address to pass on. */
export const Invited = named('Invited', {
  user: User,
  url: text(
    'Where the user accepts the invitation: a link to choose a password, which works once, or the sign-in address where single sign-on is required. It is shown only now',
    'https://millrace.example.com/v2/oauth/set-password?token=q3J9v5kYxw0n6dG1cS8zF2tB7mR4hL_aEoUiPyKsVxM',
  ),
  expiresAt: Invitation.properties.expiresAt,
})
export type Invited = Static<typeof Invited>

const sendMail = Type.Optional(
  Type.Boolean({ default: true, description: 'Whether the service mails the address itself' }),
)

export const InvitationCreation = named('InvitationCreation', {
  email: emailAddress('Address of the new user, who signs in with it'),
  roleId: id('Role of the user; it allows nothing that you may not do yourself'),
  resourceGroupIds: teamIds,
  firstName: Type.Optional(lineText('First name', 100)),
  lastName: Type.Optional(lineText('Last name', 100)),
  sendMail,
})
export type InvitationCreation = Static<typeof InvitationCreation>

export const InvitationRenewal = named('InvitationRenewal', { sendMail })
export type InvitationRenewal = Static<typeof InvitationRenewal>
