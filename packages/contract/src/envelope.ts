import { type Static, type TSchema, Type } from 'typebox'
import { count, extension, freeObject, like, object, text } from './resources/formats.ts'

/** `program` of every envelope (docs/interface.md, Names). */
export const program = 'millrace'

const head = {
  program: text('Name of the program that answers', program),
  version: text('Released version of the server', '1.0.0'),
  datetime: text('Time of the answer, ISO 8601 with milliseconds and Z', '2026-01-31T12:00:00.000Z', {
    format: 'date-time',
  }),
}

const success = {
  status: Type.Literal('success'),
  ...head,
  message: like('ok'),
  code: Type.Integer({ description: 'HTTP status', examples: [200] }),
}

/** Schema of the success envelope around `data` (docs/interface.md, Envelope). */
export function successEnvelope<T extends TSchema>(data: T) {
  return object({ ...success, data })
}

const Warning = object({
  path: text('Where in the request', 'dimensions.0'),
  message: text(
    'What to know about the answer, in plain words',
    'none of your events has had the label "stroe": it is absent in all of them; did you mean "events.label.store"?',
  ),
})
export type Warning = Static<typeof Warning>

/** Schema of a success envelope that can say what its answer leaves out or may not mean. */
export function warningEnvelope<T extends TSchema>(data: T) {
  const warnings = Type.Optional(
    extension(
      Type.Array(Warning, {
        minItems: 1,
        description: 'What to know about the answer; absent when there is nothing',
      }),
    ),
  )
  return object({ ...success, data, warnings })
}

/**
 * Schema of a list whose documented envelope has no pages: their fields are there where a page is asked for, and
 * `warnings` says what the list leaves out.
 */
export function listEnvelope<T extends TSchema>(item: T) {
  const { paginationCount, paginationPage, paginationLimit } = paginatedEnvelope(item).properties
  return object({
    ...warningEnvelope(Type.Array(item)).properties,
    paginationCount: Type.Optional(extension(paginationCount)),
    paginationPage: Type.Optional(extension(paginationPage)),
    paginationLimit: Type.Optional(extension(paginationLimit)),
  })
}

/** Schema of the success envelope of a paginated list; `paginationCount` is the number of all matches. */
export function paginatedEnvelope<T extends TSchema>(item: T) {
  return object({
    ...success,
    data: Type.Array(item),
    paginationCount: count('All matches, on every page'),
    paginationPage: Type.Integer({ minimum: 1, description: 'The page given, from 1' }),
    paginationLimit: Type.Integer({ minimum: 1, description: 'The largest number of items of a page' }),
  })
}

/** Schema of the fail envelope around the `data` of one row of the error table. */
export function failEnvelope<T extends TSchema>(data: T) {
  return object({
    status: Type.Literal('fail'),
    ...head,
    code: Type.Integer({ description: 'HTTP status' }),
    message: text('What is wrong, in plain words'),
    data,
    error_code: Type.Integer({ description: 'Which failure it is, see the error table' }),
  })
}

export const FailEnvelope = failEnvelope(freeObject('Context of the failure'))
export type FailEnvelope = Static<typeof FailEnvelope>

/** `data` of operations that answer nothing but their success. */
export const EmptyObject = object({})
