import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { answers, example, operationsOf, succeeds } from '../operation-builders.ts'
import { AuthenticatorOffer, AuthenticatorState, RecoveryCodes } from '../resources/authenticator.ts'
import { idParams, object } from '../resources/formats.ts'

const operation = operationsOf('Accounts')

const url = '/v2/entities/users/me/authenticator'

const password = Type.String({
  minLength: 1,
  maxLength: 4_096,
  writeOnly: true,
  description: 'Your present password',
})
const WithPassword = object({ password })

const passwordExample = {
  password: example('With your password', { password: 'correct horse battery staple' }),
}

export const readAuthenticator = {
  ...operation('readAuthenticator', 'GET', url),
  access: 'Yourself',
  summary: 'Read whether you sign in with one-time codes',
  ...answers('Your state', AuthenticatorState),
} as const satisfies Operation

export const offerAuthenticator = {
  ...operation('offerAuthenticator', 'POST', url),
  access: 'Yourself',
  summary: 'Begin to turn on one-time codes',
  description:
    'Gives a secret for an authenticator application. Nothing changes until its first code is confirmed; asking again gives another secret.',
  audit: { action: 'authenticator-enable' },
  holdsSecret: true,
  errors: ['wrongPassword', 'tooManyAttempts', 'signInUnavailable', 'authenticatorInUse'],
  examples: passwordExample,
  ...answers('The secret', AuthenticatorOffer, { body: WithPassword }),
} as const satisfies Operation

export const confirmAuthenticator = {
  ...operation('confirmAuthenticator', 'POST', `${url}/confirm`),
  access: 'Yourself',
  summary: 'Turn on one-time codes',
  description: 'Takes the first code of the application; from now on signing in needs one.',
  audit: { action: 'authenticator-enable' },
  holdsSecret: true,
  errors: ['wrongCode', 'authenticatorNotOffered', 'authenticatorInUse'],
  examples: { code: example('The code shown now', { code: '492039' }) },
  ...answers('Codes for the day on which the device is lost', RecoveryCodes, {
    body: object({
      code: Type.String({ minLength: 1, maxLength: 40, writeOnly: true, description: 'Six digits' }),
    }),
  }),
} as const satisfies Operation

export const renewRecoveryCodes = {
  ...operation('renewRecoveryCodes', 'POST', `${url}/recovery-codes`),
  access: 'Yourself',
  summary: 'Replace your recovery codes',
  description: 'The former codes are revoked.',
  audit: { action: 'authenticator-enable' },
  holdsSecret: true,
  errors: ['wrongPassword', 'tooManyAttempts', 'signInUnavailable', 'authenticatorNotOffered'],
  examples: passwordExample,
  ...answers('The new codes', RecoveryCodes, { body: WithPassword }),
} as const satisfies Operation

export const disableAuthenticator = {
  ...operation('disableAuthenticator', 'POST', `${url}/disable`),
  access: 'Yourself',
  summary: 'Turn off one-time codes',
  audit: { action: 'authenticator-disable' },
  errors: ['wrongPassword', 'tooManyAttempts', 'signInUnavailable', 'authenticatorNotOffered'],
  examples: passwordExample,
  ...succeeds('Signing in needs a password alone', { body: WithPassword }),
} as const satisfies Operation

export const deleteAuthenticator = {
  ...operation('deleteAuthenticator', 'DELETE', '/v2/entities/users/:id/authenticator', 'user:update'),
  access: 'User: update, and every permission of the user’s role',
  summary: 'Turn off the one-time codes of a user who lost the device',
  description: 'The sessions of the user end.',
  audit: { action: 'authenticator-disable', target: 'user' },
  errors: ['userIdNotFound', 'userAboveOwn', 'authenticatorNotOffered'],
  ...succeeds('Signing in needs a password alone', { params: idParams('Identifier of the user') }),
} as const satisfies Operation
