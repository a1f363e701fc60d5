import { Type } from 'typebox'
import { filled } from './formats.ts'

/** Headers of a request that may be sent twice: for 24 hours the same user gets what the first one made. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    filled('Chosen by the client, for one creation', 255, '3f29ad1c-7c55-4f8e-9d50-5c8f9c1a6b1e'),
  ),
})
