import { Type } from 'typebox'
import { EmptyObject, successEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { opaqueIdPattern, strict } from '../resources/formats.ts'

/** Operation 14. */
export const deleteLinkedAccount = {
  id: 'deleteLinkedAccount',
  number: 14,
  method: 'DELETE',
  url: '/v2/linked-accounts/:id',
  scope: 'authenticated',
  access: 'Your own linked account, or User: update',
  tag: 'Accounts',
  summary: 'Delete a linked account',
  description: 'Takes the link to an account of another service away, with its credentials.',
  errors: ['linkedAccountNotFound'],
  replies: { 200: { description: 'It is deleted' } },
  schema: {
    params: Type.Object(
      {
        id: Type.String({
          pattern: opaqueIdPattern,
          description: 'Identifier of the linked account',
          examples: ['65f0c0ffee5ca1ab1e0ddba1'],
        }),
      },
      strict,
    ),
    response: { 200: successEnvelope(EmptyObject) },
  },
} as const satisfies Operation
