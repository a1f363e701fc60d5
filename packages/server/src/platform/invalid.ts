import { DomainError } from './errors.ts'

/** A value that is refused: where it stands, and in words what would be right ("must be ..."). */
export function invalid(path: string, message: string): DomainError<'validation'> {
  return new DomainError('validation', { errors: [{ path, message }] }, { message: `${path} ${message}` })
}
