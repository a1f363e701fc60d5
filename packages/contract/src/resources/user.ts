import { type Static, Type } from 'typebox'
import { languages } from '../languages.ts'
import { permissionNames } from '../permissions.ts'
import { dateTime, id, lineText, nullable, oneOf, responseOnly, strict } from './formats.ts'

export const userStatuses = ['invited', 'active', 'disabled'] as const
export const themes = ['light', 'dark', 'system'] as const

const user = {
  id: id('Identifier of the user'),
  companyId: id('Company of the user'),
  email: Type.String({
    description: 'Address and user name; only an identity provider (SCIM) gives another one',
    examples: ['ada@example.com'],
  }),
  firstName: Type.String(),
  lastName: Type.String(),
  jobTitle: Type.String(),
  phone: Type.String(),
  language: nullable(oneOf([...languages]), { description: 'Null follows the company' }),
  status: oneOf([...userStatuses], { description: 'Only active users may sign in' }),
  roleId: id('Role of the user'),
  resourceGroupIds: Type.Array(Type.String(), { description: 'Teams that the user is a member of' }),
  serviceAccount: Type.Boolean({ description: 'A program that signs in with a password' }),
  provisioned: Type.Boolean({ description: 'Whether the identity provider manages this user' }),
  lastSignInAt: nullable(dateTime('When the user signed in last')),
  createdAt: dateTime('When the account was made'),
  updatedAt: dateTime('When it was changed last'),
}

/** A user of the company, without credentials. */
export const User = Type.Object(user, { ...strict, title: 'User' })
export type User = Static<typeof User>

/** Writable fields that describe a user. */
export const describingFields = {
  firstName: Type.Optional(lineText('First name', 100)),
  lastName: Type.Optional(lineText('Last name', 100)),
  jobTitle: Type.Optional(lineText('Job title', 100)),
  phone: Type.Optional(lineText('Telephone number, as it is dialled', 50)),
  language: Type.Optional(user.language),
}

/** Teams as a request gives them. */
export const teamIds = Type.Array(id('A team of the company'), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'Teams that the user is a member of, at least one',
})

const update = {
  ...describingFields,
  roleId: Type.Optional(id('Role of the user; it allows nothing that you may not do yourself')),
  resourceGroupIds: Type.Optional(teamIds),
}

/** Partial: a field that is absent stays as it is. */
export const UserUpdate = Type.Object(
  { ...update, ...responseOnly(User, update) },
  { ...strict, title: 'UserUpdate' },
)
export type UserUpdate = Static<typeof UserUpdate>

/** The caller's own account. */
export const Profile = Type.Object(
  {
    ...user,
    theme: oneOf([...themes], { description: 'Colours of the web application' }),
    hasPassword: Type.Boolean({ description: 'Whether the user can sign in with a password' }),
    permissions: Type.Array(oneOf(permissionNames), { description: 'What the role of the user allows' }),
  },
  { ...strict, title: 'Profile' },
)
export type Profile = Static<typeof Profile>

const profileUpdate = { ...describingFields, theme: Type.Optional(Profile.properties.theme) }

/** Partial: a field that is absent stays as it is. */
export const ProfileUpdate = Type.Object(
  { ...profileUpdate, ...responseOnly(Profile, profileUpdate) },
  { ...strict, title: 'ProfileUpdate' },
)
export type ProfileUpdate = Static<typeof ProfileUpdate>

/** Room for the longest password that is accepted anywhere; the service explains what is wrong with a new one. */
const password = (description: string) =>
  Type.String({ minLength: 1, maxLength: 4096, writeOnly: true, description })

export const PasswordChange = Type.Object(
  {
    currentPassword: password('The present password'),
    newPassword: password('The new password: at least 12 characters, and not a common one'),
  },
  { ...strict, title: 'PasswordChange' },
)
export type PasswordChange = Static<typeof PasswordChange>
