import { Type } from 'typebox'
import { extension, ifMatchPattern, text } from './resources/formats.ts'

/** Fields of what several users save, each on top of what the others saved. */
export const revisionFields = {
  revision: extension(
    Type.Integer({ minimum: 1, description: 'Grows with each save; in quotes it is the `ETag`' }),
  ),
  lastSavedBy: Type.Optional(
    extension(text('User who saved it last; absent where no user did since it is known')),
  ),
}

/** Headers of a reply that holds such a thing: the route sets them. */
export const etag = { ETag: 'The revision in quotes, for `If-Match`' } as const

/** The request header `If-Match`. */
export const ifMatch = (description: string) => ({
  'if-match': Type.Optional(text(description, '"7"', { maxLength: 1_000, pattern: ifMatchPattern })),
})

/**
 * Headers of a request that changes or deletes such a thing. Headers are never strict: every request has others.
 */
export const expectedRevision = Type.Object(
  ifMatch(
    '`ETag` that the caller has read: where it was saved since then, nothing changes (412, which names who saved it and when). Without it, or with `*`, whatever it holds now',
  ),
)
