import { Type } from 'typebox'
import { EmptyObject, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { idParams, strict } from '../resources/formats.ts'
import { OwnSession } from '../resources/own-session.ts'
import { PasswordChange, Profile, ProfileUpdate } from '../resources/user.ts'

const url = '/v2/entities/users/me'
const access = 'Your own account'

export const readProfile = {
  id: 'readProfile',
  extension: true,
  method: 'GET',
  url,
  scope: 'authenticated',
  access,
  tag: 'Accounts',
  summary: 'Read your own account',
  errors: [],
  replies: { 200: { description: 'Your account, with what your role allows' } },
  schema: { response: { 200: successEnvelope(Profile) } },
} as const satisfies Operation

export const updateProfile = {
  id: 'updateProfile',
  extension: true,
  method: 'PATCH',
  url,
  scope: 'authenticated',
  access,
  tag: 'Accounts',
  summary: 'Change your own account',
  description:
    'A partial update: a field that is absent stays as it is. Role and teams are not yours to change.',
  audit: { action: 'user-update', target: 'user', of: 'caller' },
  errors: [],
  examples: { theme: { summary: 'Dark, in French', value: { theme: 'dark', language: 'fr' } } },
  replies: { 200: { description: 'Your account as it is now' } },
  schema: { body: ProfileUpdate, response: { 200: successEnvelope(Profile) } },
} as const satisfies Operation

export const changePassword = {
  id: 'changePassword',
  extension: true,
  method: 'POST',
  url: `${url}/password`,
  scope: 'authenticated',
  access,
  tag: 'Accounts',
  summary: 'Change your own password',
  description:
    'Ends all your other sessions and voids links to set a password. A notice is mailed to you. After 10 wrong present passwords you wait.',
  audit: { action: 'password-change', target: 'user', of: 'caller' },
  errors: ['wrongPassword', 'passwordNotUsed', 'tooManyAttempts'],
  examples: {
    change: {
      summary: 'A new password',
      value: { currentPassword: 'the old field of poppies', newPassword: 'a new field of 7 poppies' },
    },
  },
  replies: {
    200: {
      description: 'The password is changed',
      examples: { ended: { summary: 'Two other sessions', value: { endedSessions: 2 } } },
    },
  },
  schema: {
    body: PasswordChange,
    response: {
      200: successEnvelope(
        Type.Object(
          { endedSessions: Type.Integer({ minimum: 0, description: 'How many other sessions there were' }) },
          strict,
        ),
      ),
    },
  },
} as const satisfies Operation

export const listOwnSessions = {
  id: 'listOwnSessions',
  extension: true,
  method: 'GET',
  url: `${url}/sessions`,
  scope: 'authenticated',
  access,
  tag: 'Accounts',
  summary: 'List your sessions',
  description:
    'Where you are signed in, what was used last first. No token is among it. What a session says of its browser is what the program that asked for its tokens said of itself.',
  errors: [],
  replies: { 200: { description: 'All of them' } },
  schema: { response: { 200: successEnvelope(Type.Array(OwnSession)) } },
} as const satisfies Operation

export const endOwnSession = {
  id: 'endOwnSession',
  extension: true,
  method: 'DELETE',
  url: `${url}/sessions/:id`,
  scope: 'authenticated',
  access,
  tag: 'Accounts',
  summary: 'End one of your sessions',
  description:
    'Ends the session with its refresh token and access tokens, in every process of the service. It may be the one of this call.',
  audit: { action: 'sign-out', target: 'user', of: 'caller' },
  errors: ['sessionNotFound'],
  replies: { 200: { description: 'It has ended' } },
  schema: {
    params: idParams('The session'),
    response: { 200: successEnvelope(EmptyObject) },
  },
} as const satisfies Operation

export const endOwnSessions = {
  id: 'endOwnSessions',
  extension: true,
  method: 'DELETE',
  url: `${url}/sessions`,
  scope: 'authenticated',
  access,
  tag: 'Accounts',
  summary: 'Sign out everywhere',
  description: 'Ends all your sessions, this one too: the token of this call is revoked with them.',
  audit: { action: 'sign-out', target: 'user', of: 'caller' },
  errors: [],
  replies: { 200: { description: 'You are signed out' } },
  schema: { response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation
