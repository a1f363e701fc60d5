import type { TSchema } from 'typebox'

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
