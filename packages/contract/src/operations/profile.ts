import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf, succeeds } from '../operation-builders.ts'
import { count, idParams, object } from '../resources/formats.ts'
import { OwnSession } from '../resources/own-session.ts'
import { PasswordChange, Profile, ProfileUpdate } from '../resources/user.ts'

const operation = operationsOf('Accounts')

const url = '/v2/entities/users/me'
const access = 'Your own account'

export const readProfile = {
  ...operation('readProfile', 'GET', url),
  access,
  summary: 'Read your own account',
  ...answers('Your account, with what your role allows', Profile),
} as const satisfies Operation

export const updateProfile = {
  ...operation('updateProfile', 'PATCH', url),
  access,
  summary: 'Change your own account',
  description:
    'A partial update: a field that is absent stays as it is. Role and teams are not yours to change.',
  audit: { action: 'user-update', target: 'user', of: 'caller' },
  examples: { theme: example('Dark, in French', { theme: 'dark', language: 'fr' }) },
  ...answers('Your account as it is now', Profile, { body: ProfileUpdate }),
} as const satisfies Operation

export const changePassword = {
  ...operation('changePassword', 'POST', `${url}/password`),
  access,
  summary: 'Change your own password',
  description:
    'Ends all your other sessions and voids links to set a password. A notice is mailed to you. After 10 wrong present passwords you wait.',
  audit: { action: 'password-change', target: 'user', of: 'caller' },
  errors: ['wrongPassword', 'passwordNotUsed', 'tooManyAttempts'],
  examples: {
    change: example('A new password', {
      currentPassword: 'the old field of poppies',
      newPassword: 'a new field of 7 poppies',
    }),
  },
  ...answers(
    'The password is changed',
    object({ endedSessions: count('How many other sessions there were') }),
    { body: PasswordChange },
    { ended: example('Two other sessions', { endedSessions: 2 }) },
  ),
} as const satisfies Operation

export const listOwnSessions = {
  ...operation('listOwnSessions', 'GET', `${url}/sessions`),
  access,
  summary: 'List your sessions',
  description:
    'Where you are signed in, what was used last first. No token is among it. What a session says of its browser is what the program that asked for its tokens said of itself.',
  ...answers('All of them', Type.Array(OwnSession)),
} as const satisfies Operation

export const endOwnSession = {
  ...operation('endOwnSession', 'DELETE', `${url}/sessions/:id`),
  access,
  summary: 'End one of your sessions',
  description:
    'Ends the session with its refresh token and access tokens, in every process of the service. It may be the one of this call.',
  audit: { action: 'sign-out', target: 'user', of: 'caller' },
  errors: ['sessionNotFound'],
  ...succeeds('It has ended', { params: idParams('The session') }),
} as const satisfies Operation

export const endOwnSessions = {
  ...operation('endOwnSessions', 'DELETE', `${url}/sessions`),
  access,
  summary: 'Sign out everywhere',
  description: 'Ends all your sessions, this one too: the token of this call is revoked with them.',
  audit: { action: 'sign-out', target: 'user', of: 'caller' },
  ...succeeds('You are signed out'),
} as const satisfies Operation
