import { type ErrorData, type ErrorName, errorTable } from '@millrace/contract/errors.ts'

export interface DomainErrorOptions {
  /** Replaces the table's message where a case can say more exactly what is wrong and what would be right. */
  readonly message?: string
  readonly cause?: unknown
  /** Becomes the `Retry-After` header, in whole seconds. */
  readonly retryAfterSeconds?: number
}

/**
 * A failure that the caller is told about. Services throw it by its name in the error table;
 * `platform/http` turns it into the fail envelope.
 */
export class DomainError<N extends ErrorName = ErrorName> extends Error {
  readonly errorName: N
  readonly data: ErrorData<N>
  readonly retryAfterSeconds: number | undefined

  constructor(errorName: N, data: ErrorData<N> = {} as ErrorData<N>, options: DomainErrorOptions = {}) {
    super(options.message ?? errorTable[errorName].message, { cause: options.cause })
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
