import { type TSchema, Type } from 'typebox'
import { ById, Limit, Nothing, Retry } from './failure-data.ts'
import { object } from './resources/formats.ts'

/** One failure of the interface: `errorCode` is `error_code` of the fail envelope (docs/interface.md, Errors). */
export interface ErrorRow {
  readonly errorCode: number
  /** HTTP status, and `code` of the fail envelope. */
  readonly status: number
  /** Default message; a case that can say more exactly what is wrong replaces it. */
  readonly message: string
  /** Shape of the fail envelope's `data`. */
  readonly data: TSchema
  /** RFC 6749's `error` where the token service answers with this row. */
  readonly oauth?: string
}

/** Makes rows of one status; `data` has the shape that most rows of the status have, unless another one is given. */
const rowsOf =
  <D extends TSchema>(status: number, typical: D) =>
  <S extends TSchema = D>(errorCode: number, message: string, data: S = typical as TSchema as S) => ({
    errorCode,
    status,
    message,
    data,
  })

export const invalid = rowsOf(400, Nothing)
export const unauthenticated = rowsOf(401, Nothing)
export const forbidden = rowsOf(403, ById)
export const notFound = rowsOf(404, ById)
export const conflict = rowsOf(409, ById)
export const tooLarge = rowsOf(413, Limit)
export const tooMany = rowsOf(429, Retry)
export const unavailable = rowsOf(503, Retry)
/** Of a status that few failures have. */
export const row = (status: number) => rowsOf(status, Nothing)

/** `data` of a failure that tells how many there may be. */
export const limitOf = (example: number) => object({ limit: Type.Integer({ examples: [example] }) })

/** A company has as many of something as it may have. */
export const full = (errorCode: number, limit: number, what: string, remedy = 'delete') =>
  conflict(
    errorCode,
    `Your company has the most ${what} that are possible: ${remedy} one first`,
    limitOf(limit),
  )
