import { type ErrorData, type ErrorName, errorTable } from '@millrace/contract/errors.ts'
import type { LocalizedText } from './i18n/language.ts'

export interface DomainErrorOptions {
  /** Replaces the table's message where a case can be more precise. */
  readonly message?: string | LocalizedText
  readonly cause?: unknown
  /** Becomes the `Retry-After` header, in whole seconds. */
  readonly retryAfterSeconds?: number
}

/**
 * A failure that is answered to the caller. Services throw it by its name in the error table;
 * `platform/http` turns it into the fail envelope.
 */
export class DomainError<N extends ErrorName = ErrorName> extends Error {
  readonly errorName: N
  readonly data: ErrorData<N>
  readonly retryAfterSeconds: number | undefined
  /** The message for pages, where it is more precise than the table's. */
  readonly localizedMessage: LocalizedText | undefined

  constructor(errorName: N, data: ErrorData<N> = {} as ErrorData<N>, options: DomainErrorOptions = {}) {
    const { message = errorTable[errorName].message } = options
    super(typeof message === 'string' ? message : message.en, { cause: options.cause })
    this.localizedMessage = typeof message === 'string' ? undefined : message
    this.name = 'DomainError'
    this.errorName = errorName
    this.data = data
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  /** HTTP status of the row. */
  get status(): number {
    return errorTable[this.errorName].status
  }

  /** `error_code` of the row. */
  get errorCode(): number {
    return errorTable[this.errorName].errorCode
  }
}
