import { errorNames } from './contract-table.ts'
import type { ErrorData, ErrorName, Fault } from './contract-types.ts'
import { readRetryAfter } from './retry-after.ts'

export interface ErrorContext extends ErrorOptions {
  /** Id of the operation that was called. */
  readonly operation: string
  /** How often the request was sent. */
  readonly attempts: number
}

/** An answer that is a failure; `errorCode` and `data` are there where it has a fail envelope. */
export interface Failure {
  readonly status: number
  readonly headers: Headers
  readonly errorCode?: number
  readonly data?: unknown
}

/**
 * What every failed call throws, except that the abort of a caller throws its own reason. Where the service has
 * answered, `status`, `errorCode`, `errorName` and `data` are those of the fail envelope.
 */
export class MillraceError extends Error {
  override readonly name: string = 'MillraceError'
  readonly operation: string
  /** How often the request was sent: more than once where it was repeated. */
  readonly attempts: number
  /** HTTP status of the answer, if there was one. */
  readonly status: number | undefined
  /** `error_code` of the fail envelope. */
  readonly errorCode: number | undefined
  /** Name of the failure in the error table; undefined where this version of the client does not know it. */
  readonly errorName: ErrorName | undefined
  /** `data` of the fail envelope; `is` gives it its type. */
  readonly data: unknown
  /** Seconds after which the service can be asked again, where it says so. */
  readonly retryAfter: number | undefined

  constructor(message: string, context: ErrorContext, failure?: Failure) {
    super(message, context.cause === undefined ? {} : { cause: context.cause })
    this.operation = context.operation
    this.attempts = context.attempts
    this.status = failure?.status
    this.errorCode = failure?.errorCode
    this.errorName = errorNames[`${failure?.errorCode}/${failure?.status}`] as ErrorName | undefined
    this.data = failure?.data
    this.retryAfter = failure && secondsOf(failure.headers)
  }

  /** Whether the failure is this row of the error table, whose `data` it then has. */
  is<const N extends ErrorName>(
    name: N,
  ): this is this & { readonly errorName: N; readonly data: ErrorData<N> } {
    return this.errorName === name
  }
}

/** The request is wrong: `errors` says where, and what would be right. */
export class ValidationError extends MillraceError {
  override readonly name = 'ValidationError'
  readonly errors: readonly Fault[]

  constructor(message: string, context: ErrorContext, failure: Failure) {
    super(message, context, failure)
    this.errors = faultsOf(failure.data)
  }
}

/** There is no valid access token, and no way to get one. */
export class AuthenticationError extends MillraceError {
  override readonly name = 'AuthenticationError'
}

/** Too many requests or attempts (429). */
export class RateLimitError extends MillraceError {
  override readonly name = 'RateLimitError'
}

/** The service, or what stands before it, cannot answer at the moment (502, 503, 504). */
export class UnavailableError extends MillraceError {
  override readonly name = 'UnavailableError'
}

/** The service could not be reached, or the connection ended before its answer did. */
export class ConnectionError extends MillraceError {
  override readonly name = 'ConnectionError'
}

/** `timeoutMs` of the call has passed. */
export class TimeoutError extends MillraceError {
  override readonly name = 'TimeoutError'
}

/** The answer is not one of the service: the page of a proxy, a redirect, an address of something else. */
export class UnexpectedReplyError extends MillraceError {
  override readonly name = 'UnexpectedReplyError'
}

/** The class that stands for a failure. */
export function failureError(message: string, context: ErrorContext, failure: Failure): MillraceError {
  if (failure.status === 429) return new RateLimitError(message, context, failure)
  if (failure.status === 401) return new AuthenticationError(message, context, failure)
  if (failure.status >= 502) return new UnavailableError(message, context, failure)
  if (faultsOf(failure.data).length > 0) return new ValidationError(message, context, failure)
  return new MillraceError(message, context, failure)
}

function faultsOf(data: unknown): readonly Fault[] {
  const errors = typeof data === 'object' && data !== null && 'errors' in data ? data.errors : undefined
  return Array.isArray(errors) ? (errors as readonly Fault[]) : []
}

function secondsOf(headers: Headers): number | undefined {
  const ms = readRetryAfter(headers.get('retry-after'), Date.now())
  return ms === undefined ? undefined : ms / 1000
}
