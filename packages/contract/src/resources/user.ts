import { type Static, Type } from 'typebox'
import { languages } from '../languages.ts'
import { permissionNames } from '../permissions.ts'
import { Company } from './company.ts'
import {
  bodyOf,
  dateTime,
  filled,
  flag,
  id,
  lineText,
  listOf,
  named,
  nullable,
  object,
  oneOf,
  optionals,
  placePattern,
  text,
} from './formats.ts'

export const userStatuses = ['invited', 'active', 'disabled'] as const
export const themes = ['light', 'dark', 'system'] as const

const user = {
  id: id('Identifier of the user'),
  companyId: id('Company of the user'),
  email: text('Address and user name; only an identity provider (SCIM) gives another one', 'ada@example.com'),
  firstName: Type.String(),
  lastName: Type.String(),
  jobTitle: Type.String(),
  phone: Type.String(),
  language: nullable(oneOf(languages), 'Null follows the company'),
  status: oneOf(userStatuses, 'Only active users may sign in'),
  roleId: id('Role of the user'),
  resourceGroupIds: listOf(Type.String(), 'Teams that the user is a member of'),
  serviceAccount: flag('A program that signs in with a password'),
  provisioned: flag('Whether the identity provider manages this user'),
  lastSignInAt: nullable(dateTime('When the user signed in last')),
  createdAt: dateTime('When the account was made'),
  updatedAt: dateTime('When it was changed last'),
}

/** A user of the company, without credentials. */
export const User = named('User', user)
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
export const UserUpdate = bodyOf('UserUpdate', User, update)
export type UserUpdate = Static<typeof UserUpdate>

/** What every user of the company may know of another one. */
export const Colleague = named('Colleague', {
  id: user.id,
  name: nullable(
    text('First and last name', 'Ada Lovelace'),
    'Null where none was given: the address is for those with User: read',
  ),
})
export type Colleague = Static<typeof Colleague>

const { id: companyId, name, timezone, language, currency } = Company.properties

const preferences = {
  timezone: nullable(
    filled('IANA name of a time zone', 64, 'Europe/Paris'),
    'Time zone in which screens show times; null follows the company',
  ),
  favourites: Type.Array(
    Type.String({ maxLength: 500, pattern: placePattern, examples: ['/explore?range=30d'] }),
    { maxItems: 50, uniqueItems: true, description: 'Places of the web application, in their order' },
  ),
}

/** The caller's own account. */
export const Profile = named('Profile', {
  ...user,
  theme: oneOf(themes, 'Colours of the web application'),
  hasPassword: flag('Whether the user can sign in with a password'),
  company: object(
    { id: companyId, name, timezone, language, currency },
    'What every user may know of the company',
  ),
  preferences: object(preferences, 'How the web application looks for the user'),
  permissions: listOf(oneOf(permissionNames), 'What the role of the user allows'),
})
export type Profile = Static<typeof Profile>

const profileUpdate = {
  ...describingFields,
  theme: Type.Optional(Profile.properties.theme),
  preferences: Type.Optional(
    object(optionals(preferences), 'Partial too: a field that is absent stays as it is'),
  ),
}

/** Partial: a field that is absent stays as it is. */
export const ProfileUpdate = bodyOf('ProfileUpdate', Profile, profileUpdate)
export type ProfileUpdate = Static<typeof ProfileUpdate>

/** Room for the longest password that is accepted anywhere; the service explains what is wrong with a new one. */
const password = (description: string) =>
  Type.String({ minLength: 1, maxLength: 4096, writeOnly: true, description })

export const PasswordChange = named('PasswordChange', {
  currentPassword: password('The present password'),
  newPassword: password('The new password: at least 12 characters, and not a common one'),
})
export type PasswordChange = Static<typeof PasswordChange>
