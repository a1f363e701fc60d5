import type { Warning } from '@millrace/contract/envelope.ts'
import type { DomainError } from '../errors.ts'
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

/** Fail envelope of docs/interface.md. */
export function failure(error: DomainError) {
  return {
    program,
    version,
    datetime: new Date().toISOString(),
    status: 'fail' as const,
    code: error.status,
    message: error.message,
    data: error.data,
    error_code: error.errorCode,
  }
}
