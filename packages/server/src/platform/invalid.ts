import type { Fault } from '@millrace/contract/failure-data.ts'
import { DomainError } from './errors.ts'

/** A value that is refused: where it stands, and in words what would be right ("must be ..."). */
export function invalid(path: string, message: string): DomainError<'validation'> {
  return new DomainError('validation', { errors: [{ path, message }] }, { message: `${path} ${message}` })
}

/** Values that are refused, of which there is one at least; the first is the message. */
export function invalidAll(errors: readonly Fault[]): DomainError<'validation'> {
  const message = errors[0] && `${errors[0].path} ${errors[0].message}`
  return new DomainError('validation', { errors: [...errors] }, message === undefined ? {} : { message })
}
