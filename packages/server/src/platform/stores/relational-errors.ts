import pg from 'pg'
import { DomainError } from '../errors.ts'

/** The store cannot be reached, or every connection is taken: 503 with `Retry-After` for a caller. */
export class RelationalUnavailable extends DomainError<'unavailable'> {
  constructor(cause: unknown) {
    super('unavailable', {}, { cause, retryAfterSeconds: 2 })
    this.name = 'RelationalUnavailable'
  }
}

/** A statement ran longer than it may, or waited too long for a lock: 503 for a caller, who may try again. */
export class RelationalTimeout extends DomainError<'unavailable'> {
  constructor(cause: unknown) {
    super('unavailable', {}, { cause, retryAfterSeconds: 5 })
    this.name = 'RelationalTimeout'
  }
}

/** SQLSTATE classes and codes by which a server says that it is not there for us (PostgreSQL, Appendix A). */
const unavailableState = /^(08...|53300|57P0[1-5])$/
const systemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'EACCES',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNABORTED',
])
/** What `pg` says without a code when a connection ends or cannot be had. */
const clientMessage =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after)/

/**
 * The error that callers see for one of `pg`: typed where the cause is known. What a server says about a
 * row ("Key (email)=(...) already exists") stays readable in code and is kept out of logs.
 */
export function relationalError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) {
    const state = error.code ?? ''
    if (unavailableState.test(state)) return new RelationalUnavailable(error)
    if (state === '57014' || state === '55P03') return new RelationalTimeout(error)
    for (const name of ['detail', 'where', 'hint', 'internalQuery'] as const) {
      Object.defineProperty(error, name, { value: error[name], enumerable: false, configurable: true })
    }
    return error
  }
  if (error instanceof AggregateError && error.errors.length > 0) return relationalError(error.errors[0])
  if (!(error instanceof Error) || error instanceof DomainError) return error
  const code = (error as NodeJS.ErrnoException).code
  if ((code !== undefined && systemCodes.has(code)) || clientMessage.test(error.message)) {
    return new RelationalUnavailable(error)
  }
  return error
}

/** Whether the server gave up on a transaction that would succeed when run again: serialisation failure, deadlock. */
export function isRetryable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01')
}

/**
 * The name of the constraint that an insert or update violates, as the migration names it: unique, foreign key,
 * check, not null (then the column's name) or exclusion.
 */
export function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError) || !error.code?.startsWith('23')) return undefined
  return error.constraint ?? error.column
}

/**
 * Runs the work. A violated constraint becomes the error that `wording` has for its name; without one, and for every
 * other failure, what happened is thrown as it is.
 */
export async function mapConstraintViolation<T>(
  work: () => Promise<T>,
  wording: (constraint: string, cause: unknown) => Error | undefined,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const constraint = violatedConstraint(error)
    throw (constraint === undefined ? undefined : wording(constraint, error)) ?? error
  }
}
