import { Type } from 'typebox'

/** Headers of a request that may be sent twice: for 24 hours the same user gets what the first one made. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Chosen by the client, for one creation',
      examples: ['3f29ad1c-7c55-4f8e-9d50-5c8f9c1a6b1e'],
    }),
  ),
})
