import { EmptyObject, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'

/** Operation 16. */
export const deleteSingleSignOn = {
  id: 'deleteSingleSignOn',
  number: 16,
  method: 'DELETE',
  url: '/v2/entities/sso/config',
  scope: 'authenticated',
  permission: { resource: 'company', action: 'update' },
  tag: 'Single sign-on',
  summary: 'Delete the single sign-on configuration',
  description:
    'Users of the company go back to logging in with a password; those who have none get a reset mail.',
  errors: ['singleSignOnNotFound'],
  replies: { 200: { description: 'It is deleted' } },
  schema: { response: { 200: successEnvelope(EmptyObject) } },
} as const satisfies Operation
