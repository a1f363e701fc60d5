import type { Warning } from '@millrace/contract/envelope.ts'
import type { Fault } from '@millrace/contract/failure-data.ts'
import type { DomainError } from '../errors.ts'
import { frenchFailures } from '../i18n/french-failures.ts'
import { frenchFault } from '../i18n/french-faults.ts'
import { fallbackLanguage, type Language } from '../i18n/language.ts'
import type { Listed, Page } from '../paging.ts'
import { program, version } from '../version.ts'

/** Success envelope; `code` is 200 for every operation with a body (docs/interface.md, Envelope). */
export function success<T>(data: T) {
  return {
    status: 'success' as const,
    program,
    version,
    datetime: new Date().toISOString(),
    message: 'ok',
    code: 200,
    data,
  }
}

/** Success envelope that says what to know about its answer, where there is something. */
export function warned<T>(data: T, warnings: readonly Warning[]) {
  return { ...success(data), ...(warnings.length > 0 && { warnings: [...warnings] }) }
}

/** Success envelope of a list with pages. */
export function paginated<T>({ rows, count, page, perPage }: Listed<T> & Page) {
  return { ...success(rows), paginationCount: count, paginationPage: page, paginationLimit: perPage }
}

/**
 * Fail envelope of docs/interface.md. In French the sentence is the error's own where it has one, else that of its row
 * with the first fault; codes, paths and names stay.
 */
export function failure(error: DomainError, language: Language = fallbackLanguage) {
  const { message, data } = language === 'fr' ? inFrench(error) : error
  return {
    program,
    version,
    datetime: new Date().toISOString(),
    status: 'fail' as const,
    code: error.status,
    message,
    data,
    error_code: error.errorCode,
  }
}

function inFrench({ errorName, data, localizedMessage }: DomainError): {
  readonly message: string
  readonly data: object
} {
  const { errors } = data as { readonly errors?: readonly Fault[] }
  const faults = errors?.map((fault) => ({ ...fault, message: frenchFault(fault.message) }))
  const [first] = faults ?? []
  const own = localizedMessage?.fr ?? frenchFailures[errorName]
  return {
    message: first && localizedMessage === undefined ? `${own} : ${first.path} ${first.message}` : own,
    data: faults ? { ...data, errors: faults } : data,
  }
}
