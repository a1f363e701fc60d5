import { type Static, type TSchema, Type } from 'typebox'
import { freeObject, strict } from './resources/formats.ts'

/** `program` of every envelope (docs/interface.md, Names). */
export const program = 'millrace'

const head = {
  program: Type.String({ description: 'Name of the program that answers', examples: [program] }),
  version: Type.String({ description: 'Released version of the server', examples: ['1.0.0'] }),
  datetime: Type.String({
    format: 'date-time',
    description: 'Time of the answer, ISO 8601 with milliseconds and Z',
    examples: ['2026-01-31T12:00:00.000Z'],
  }),
}

const success = {
  status: Type.Literal('success'),
  ...head,
  message: Type.String({ examples: ['ok'] }),
  code: Type.Integer({ description: 'HTTP status', examples: [200] }),
}

/** Schema of the success envelope around `data` (docs/interface.md, Envelope). */
export function successEnvelope<T extends TSchema>(data: T) {
  return Type.Object({ ...success, data }, strict)
}

const Warning = Type.Object(
  {
    path: Type.String({ description: 'Where in the request', examples: ['dimensions.0'] }),
    message: Type.String({
      description: 'What to know about the answer, in plain words',
      examples: [
        'none of your events has had the label "stroe": it is absent in all of them; did you mean "events.label.store"?',
      ],
    }),
  },
  strict,
)
export type Warning = Static<typeof Warning>

/** Schema of a success envelope that can say what its answer leaves out or may not mean. */
export function warningEnvelope<T extends TSchema>(data: T) {
  const warnings = Type.Optional(
    Type.Array(Warning, {
      minItems: 1,
      description: 'What to know about the answer; absent when there is nothing',
      'x-millrace-extension': true,
    }),
  )
  return Type.Object({ ...success, data, warnings }, strict)
}

/**
 * Schema of a list whose documented envelope has no pages: their fields are there where a page is asked for, and
 * `warnings` says what the list leaves out.
 */
export function listEnvelope<T extends TSchema>(item: T) {
  const { paginationCount, paginationPage, paginationLimit } = paginatedEnvelope(item).properties
  const extension = { 'x-millrace-extension': true }
  return Type.Object(
    {
      ...warningEnvelope(Type.Array(item)).properties,
      paginationCount: Type.Optional({ ...paginationCount, ...extension }),
      paginationPage: Type.Optional({ ...paginationPage, ...extension }),
      paginationLimit: Type.Optional({ ...paginationLimit, ...extension }),
    },
    strict,
  )
}

/** Schema of the success envelope of a paginated list; `paginationCount` is the number of all matches. */
export function paginatedEnvelope<T extends TSchema>(item: T) {
  return Type.Object(
    {
      ...success,
      data: Type.Array(item),
      paginationCount: Type.Integer({ minimum: 0, description: 'All matches, on every page' }),
      paginationPage: Type.Integer({ minimum: 1, description: 'The page given, from 1' }),
      paginationLimit: Type.Integer({ minimum: 1, description: 'The largest number of items of a page' }),
    },
    strict,
  )
}

/** Schema of the fail envelope around the `data` of one row of the error table. */
export function failEnvelope<T extends TSchema>(data: T) {
  return Type.Object(
    {
      status: Type.Literal('fail'),
      ...head,
      code: Type.Integer({ description: 'HTTP status' }),
      message: Type.String({ description: 'What is wrong, in plain words' }),
      data,
      error_code: Type.Integer({ description: 'Which failure it is, see the error table' }),
    },
    strict,
  )
}

export const FailEnvelope = failEnvelope(freeObject('Context of the failure'))
export type FailEnvelope = Static<typeof FailEnvelope>

/** `data` of operations that answer nothing but their success. */
export const EmptyObject = Type.Object({}, strict)
