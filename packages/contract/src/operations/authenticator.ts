import { Type } from 'typebox'
import { EmptyObject, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { AuthenticatorOffer, AuthenticatorState, RecoveryCodes } from '../resources/authenticator.ts'
import { idParams, strict } from '../resources/formats.ts'

const url = '/v2/entities/users/me/authenticator'

const password = Type.String({
  minLength: 1,
  maxLength: 4_096,
  writeOnly: true,
  description: 'Your present password',
})
const WithPassword = Type.Object({ password }, strict)

const passwordExample = {
  password: { summary: 'With your password', value: { password: 'correct horse battery staple' } },
}

const common = { extension: true, scope: 'authenticated', tag: 'Accounts' } as const

export const readAuthenticator = {
  ...common,
  id: 'readAuthenticator',
  access: 'Yourself',
  method: 'GET',
  url,
  summary: 'Read whether you sign in with one-time codes',
  errors: [],
  replies: { 200: { description: 'Your state' } },
  schema: { response: { 200: successEnvelope(AuthenticatorState) } },
} as const satisfies Operation

export const offerAuthenticator = {
  ...common,
  id: 'offerAuthenticator',
  holdsSecret: true,
  access: 'Yourself',
  method: 'POST',
  url,
  summary: 'Begin to turn on one-time codes',
  description:
    'Gives a secret for an authenticator application. Nothing changes until its first code is confirmed; asking again gives another secret.',
  audit: { action: 'authenticator-enable' },
  errors: ['wrongPassword', 'tooManyAttempts', 'signInUnavailable', 'authenticatorInUse'],
  examples: passwordExample,
  replies: { 200: { description: 'The secret' } },
  schema: { body: WithPassword, response: { 200: successEnvelope(AuthenticatorOffer) } },
} as const satisfies Operation

export const confirmAuthenticator = {
  ...common,
  id: 'confirmAuthenticator',
  holdsSecret: true,
  access: 'Yourself',
  method: 'POST',
  url: `${url}/confirm`,
  summary: 'Turn on one-time codes',
  description: 'Takes the first code of the application; from now on signing in needs one.',
  audit: { action: 'authenticator-enable' },
  errors: ['wrongCode', 'authenticatorNotOffered', 'authenticatorInUse'],
  examples: { code: { summary: 'The code shown now', value: { code: '492039' } } },
  replies: { 200: { description: 'Codes for the day on which the device is lost' } },
  schema: {
    body: Type.Object(
      { code: Type.String({ minLength: 1, maxLength: 40, writeOnly: true, description: 'Six digits' }) },
      strict,
    ),
    response: { 200: successEnvelope(RecoveryCodes) },
  },
} as const satisfies Operation

export const renewRecoveryCodes = {
  ...common,
  id: 'renewRecoveryCodes',
  holdsSecret: true,
  access: 'Yourself',
  method: 'POST',
  url: `${url}/recovery-codes`,
  summary: 'Replace your recovery codes',
  description: 'The former codes are revoked.',
  audit: { action: 'authenticator-enable' },
  errors: ['wrongPassword', 'tooManyAttempts', 'signInUnavailable', 'authenticatorNotOffered'],
  examples: passwordExample,
  replies: { 200: { description: 'The new codes' } },
  schema: { body: WithPassword, response: { 200: successEnvelope(RecoveryCodes) } },
} as const satisfies Operation

export const disableAuthenticator = {
  ...common,
  id: 'disableAuthenticator',
  access: 'Yourself',
  method: 'POST',
  url: `${url}/disable`,
  summary: 'Turn off one-time codes',
  audit: { action: 'authenticator-disable' },
  errors: ['wrongPassword', 'tooManyAttempts', 'signInUnavailable', 'authenticatorNotOffered'],
  examples: passwordExample,
  replies: { 200: { description: 'Signing in needs a password alone' } },
  schema: { body: WithPassword, response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation

export const deleteAuthenticator = {
  ...common,
  id: 'deleteAuthenticator',
  method: 'DELETE',
  url: '/v2/entities/users/:id/authenticator',
  permission: { resource: 'user', action: 'update' },
  access: 'User: update, and every permission of the user’s role',
  summary: 'Turn off the one-time codes of a user who lost the device',
  description: 'The sessions of the user end.',
  audit: { action: 'authenticator-disable', target: 'user' },
  errors: ['userIdNotFound', 'userAboveOwn', 'authenticatorNotOffered'],
  replies: { 200: { description: 'Signing in needs a password alone' } },
  schema: {
    params: idParams('Identifier of the user'),
    response: { 200: successEnvelope(EmptyObject) },
  },
} as const satisfies Operation
