import type { Operation } from '../operation.ts'
import { example, operationsOf, succeeds } from '../operation-builders.ts'
import { emailAddress, object } from '../resources/formats.ts'

const operation = operationsOf('Accounts')

/** Operation 15. */
export const resetPassword = {
  ...operation('resetPassword', 'POST', '/v2/entities/users/password-reset'),
  number: 15,
  access: 'Your own address, or User: update',
  summary: 'Mail a password reset link',
  description:
    'Mails a link to the user that lives for 30 minutes and works once; a newer link replaces it. The present password stays valid until it is used. At most 5 times an hour for one user, and for 50 users an hour.',
  audit: { action: 'password-reset-request', target: 'user', named: 'email' },
  errors: ['userNotFound', 'passwordNotUsed', 'userNotActive', 'tooManyPasswordResets'],
  examples: { user: example('One user', { email: 'ada@example.com' }) },
  ...succeeds('The mail is on its way', {
    body: object({ email: emailAddress('Address of a user of your company') }),
  }),
} as const satisfies Operation
