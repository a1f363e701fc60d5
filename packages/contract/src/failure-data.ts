import { type Static, Type } from 'typebox'
import { nullable, oneOf, strict } from './resources/formats.ts'

// Shapes of the fail envelope's `data` that several rows of the error table share.

export const Nothing = Type.Object({}, strict)

/** Where a request is wrong: `path` is dotted (`filters.0.values`), `message` says what would be right. */
export const Fault = Type.Object(
  {
    path: Type.String({ examples: ['limit'] }),
    message: Type.String({ examples: ['must be a whole number, it is "10"'] }),
  },
  strict,
)
export type Fault = Static<typeof Fault>

export const Faults = Type.Object({ errors: Type.Array(Fault, { minItems: 1 }) }, strict)
/** A query that is well formed but cannot be answered; `members` are those that the faults are about. */
export const QueryFaults = Type.Object(
  {
    errors: Type.Array(
      Type.Object(
        {
          path: Type.String({ examples: ['measures.0'] }),
          message: Type.String({
            examples: ['there is no member "events.cuont"; did you mean "events.count"?'],
          }),
        },
        strict,
      ),
      { minItems: 1 },
    ),
    members: Type.Array(Type.String({ examples: ['events.cuont'] })),
  },
  strict,
)
export const anId = Type.String({ examples: ['65f0c0ffee5ca1ab1e0ddba1'] })
export const ById = Type.Object({ id: anId }, strict)
/** What was saved since the caller has read it: by whom and when. */
export const SavedMeanwhile = Type.Object(
  {
    id: anId,
    revision: Type.Integer({ examples: [8] }),
    updatedAt: Type.String({ examples: ['2026-01-31T12:00:00.000Z'] }),
    lastSavedBy: nullable(anId, { description: 'The user who saved it' }),
  },
  strict,
)
export const MaybeId = Type.Object({ id: Type.Optional(anId) }, strict)
export const ByName = Type.Object({ name: Type.String({ examples: ['Season'] }) }, strict)
/** Why an address was not taken; `status` is what it answered with. */
export const ByReason = Type.Object(
  {
    reason: Type.String({ examples: ['hooks.slack.com answered with status 404'] }),
    status: Type.Optional(Type.Integer({ examples: [404] })),
  },
  strict,
)
export const ByEmail = Type.Object({ email: Type.String({ examples: ['ada@example.com'] }) }, strict)
export const ByDomain = Type.Object({ domain: Type.String({ examples: ['example.com'] }) }, strict)
export const ByRoles = Type.Object({ roleIds: Type.Array(anId, { minItems: 1 }) }, strict)
export const ByTeams = Type.Object({ teamIds: Type.Array(anId, { minItems: 1 }) }, strict)
export const ByUsers = Type.Object({ userIds: Type.Array(anId, { minItems: 1 }) }, strict)
export const BySource = Type.Object(
  {
    url: Type.String({ examples: ['https://shop.example/products.csv'] }),
    err: Type.String({ examples: ['the server answered 404'] }),
  },
  strict,
)
/** The maximum, and the size sent where it is known. `unit` is `bytes`, `events` or the `fields` of a form. */
export const Limit = Type.Object(
  {
    limit: Type.Number({ examples: [1_048_576] }),
    unit: oneOf(['bytes', 'events', 'fields', 'values']),
    actual: Type.Optional(Type.Number()),
  },
  strict,
)
/** `retryAfter` is in seconds and equals the header `Retry-After`. */
export const Retry = Type.Object({ retryAfter: Type.Optional(Type.Number({ examples: [5] })) }, strict)
