import { Type } from 'typebox'
import { EmptyObject, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { emailAddress, strict } from '../resources/formats.ts'

/** Operation 15. */
export const resetPassword = {
  id: 'resetPassword',
  number: 15,
  method: 'POST',
  url: '/v2/entities/users/password-reset',
  scope: 'authenticated',
  access: 'Your own address, or User: update',
  tag: 'Accounts',
  summary: 'Mail a password reset link',
  description:
    'Mails a link to the user that lives for 30 minutes and works once; a newer link replaces it. The present password stays valid until it is used. At most 5 times an hour for one user, and for 50 users an hour.',
  audit: { action: 'password-reset-request', target: 'user', named: 'email' },
  errors: ['userNotFound', 'passwordNotUsed', 'userNotActive', 'tooManyPasswordResets'],
  examples: { user: { summary: 'One user', value: { email: 'ada@example.com' } } },
  replies: { 200: { description: 'The mail is on its way' } },
  schema: {
    body: Type.Object({ email: emailAddress('Address of a user of your company') }, strict),
    response: { 200: successEnvelope(EmptyObject) },
  },
} as const satisfies Operation
