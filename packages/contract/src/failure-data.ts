import { type Static, Type } from 'typebox'
import { like, nullable, object, oneOf } from './resources/formats.ts'

// Shapes of the fail envelope's `data` that several rows of the error table share.

export const Nothing = object({})

/** Where a request is wrong: `path` is dotted (`filters.0.values`), `message` says what would be right. */
export const Fault = object({
  path: like('limit'),
  message: like('must be a whole number, it is "10"'),
})
export type Fault = Static<typeof Fault>

export const Faults = object({ errors: Type.Array(Fault, { minItems: 1 }) })
/** A query that is well formed but cannot be answered; `members` are those that the faults are about. */
export const QueryFaults = object({
  errors: Type.Array(
    object({
      path: like('measures.0'),
      message: like('there is no member "events.cuont"; did you mean "events.count"?'),
    }),
    { minItems: 1 },
  ),
  members: Type.Array(like('events.cuont')),
})
export const anId = like('65f0c0ffee5ca1ab1e0ddba1')
export const ById = object({ id: anId })
/** What was saved since the caller has read it: by whom and when. */
export const SavedMeanwhile = object({
  id: anId,
  revision: Type.Integer({ examples: [8] }),
  updatedAt: like('2026-01-31T12:00:00.000Z'),
  lastSavedBy: nullable(anId, 'The user who saved it'),
})
export const MaybeId = object({ id: Type.Optional(anId) })
export const ByName = object({ name: like('Season') })
/** Why an address was not taken; `status` is what it answered with. */
export const ByReason = object({
  reason: like('hooks.slack.com answered with status 404'),
  status: Type.Optional(Type.Integer({ examples: [404] })),
})
export const ByEmail = object({ email: like('ada@example.com') })
export const ByDomain = object({ domain: like('example.com') })
export const ByRoles = object({ roleIds: Type.Array(anId, { minItems: 1 }) })
export const ByTeams = object({ teamIds: Type.Array(anId, { minItems: 1 }) })
export const ByUsers = object({ userIds: Type.Array(anId, { minItems: 1 }) })
export const BySource = object({
  url: like('https://shop.example/products.csv'),
  err: like('the server answered 404'),
})
/** The maximum, and the size sent where it is known. `unit` is `bytes`, `events` or the `fields` of a form. */
export const Limit = object({
  limit: Type.Number({ examples: [1_048_576] }),
  unit: oneOf(['bytes', 'events', 'fields', 'values']),
  actual: Type.Optional(Type.Number()),
})
/** `retryAfter` is in seconds and equals the header `Retry-After`. */
export const Retry = object({ retryAfter: Type.Optional(Type.Number({ examples: [5] })) })
