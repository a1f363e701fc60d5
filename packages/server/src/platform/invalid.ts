import type { Fault } from '@millrace/contract/failure-data.ts'
import { DomainError } from './errors.ts'

/** A value that is refused: where it stands, and in words what would be right ("must be ..."). */
export function invalid(path: string, message: string): DomainError<'validation'> {
  return new DomainError('validation', { errors: [{ path, message }] }, { message: `${path} ${message}` })
}

type FaultsError =
  | 'validation'
  | 'invalidDatasource'
  | 'invalidDatasourceQuery'
  | 'invalidFields'
  | 'invalidSchedule'

/** Values that are refused, of which there is one at least; the first is the message. */
export function invalidAll<Name extends FaultsError = 'validation'>(
  errors: readonly Fault[],
  name: Name | 'validation' = 'validation',
): DomainError<Name> {
  const message = errors[0] && `${errors[0].path} ${errors[0].message}`
  const options = message === undefined ? {} : { message }
  return new DomainError<FaultsError>(name, { errors: [...errors] }, options) as DomainError<Name>
}

/** @throws DomainError by this name where there are faults */
export function refuseFaults(errors: readonly Fault[], name: FaultsError = 'validation'): void {
  if (errors.length > 0) throw invalidAll(errors, name)
}

/** A failure of a part of a body, with the place of that part before the places that it names. */
export function placed(error: unknown, place: string): unknown {
  if (!(error instanceof DomainError)) return error
  const { errors } = error.data as { readonly errors?: readonly Fault[] }
  const message = errors ? `${place}.${error.message}` : `${place}: ${error.message}`
  const data = {
    ...(error.data as object),
    ...(errors && { errors: errors.map((each) => ({ ...each, path: `${place}.${each.path}` })) }),
  }
  return new DomainError(error.errorName, data as typeof error.data, { message, cause: error })
}
