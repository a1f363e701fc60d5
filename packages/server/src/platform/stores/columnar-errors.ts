import { DomainError } from '../errors.ts'

/** Exceptions that may pass by themselves: the same statement can succeed later, or with smaller input. */
const passing = new Set([
  159, // TIMEOUT_EXCEEDED
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  252, // TOO_MANY_PARTS
  319, // UNKNOWN_STATUS_OF_INSERT
  394, // QUERY_WAS_CANCELLED
  439, // CANNOT_SCHEDULE_TASK
  999, // KEEPER_EXCEPTION
])

/** The engine answered with an exception. */
export class ColumnarError extends Error {
  override readonly name: string = 'ColumnarError'
  /** ClickHouse's number of the error, as 60. */
  readonly code: number
  /** ClickHouse's name of the error, as UNKNOWN_TABLE. */
  readonly type: string

  constructor(code: number, type: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.type = type
  }

  /** Whether the state of the engine is the reason, and not the statement or its rows. */
  get passing(): boolean {
    return passing.has(this.code)
  }
}

/** The statement reached its `max_execution_time`. */
export class ColumnarTimeout extends ColumnarError {
  override readonly name = 'ColumnarTimeout'
}

/** The engine cannot be reached, went away before it answered, or is not up to date: 503 with `Retry-After` for a caller. */
export class ColumnarUnavailable extends DomainError<'unavailable'> {
  constructor(cause: unknown, message?: string) {
    super('unavailable', {}, { cause, retryAfterSeconds: 2, ...(message !== undefined && { message }) })
    this.name = 'ColumnarUnavailable'
  }
}

const timeoutExceeded = 159
const aborted = 236

/** What the network or the body's source threw, as one of the port's errors. */
export function columnarErrorFrom(error: unknown): Error {
  return error instanceof ColumnarError || error instanceof ColumnarUnavailable
    ? error
    : new ColumnarUnavailable(error)
}

/**
 * The error that a server wrote, as `Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE) (version 26.7)`; where one
 * server passes on that of another, the innermost.
 */
export function readException(text: string): Error {
  const code = Number(/\bCode: (\d+)/.exec(text)?.[1])
  const [, message, type] =
    /^(.*?)\(([A-Z0-9_]*[A-Z]{3}[A-Z0-9_]*)\)/s.exec(
      text.slice(text.lastIndexOf(opening) + opening.length),
    ) ?? []
  if (Number.isNaN(code) || message === undefined || type === undefined)
    return new ColumnarUnavailable(new Error(text))
  if (code === timeoutExceeded) return new ColumnarTimeout(code, type, message.trim())
  if (code === aborted) return new ColumnarUnavailable(new Error(message.trim()))
  return new ColumnarError(code, type, message.trim())
}

const opening = 'Exception: '
