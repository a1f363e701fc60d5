import { DomainError } from '../../../platform/errors.ts'
import { DiskNearlyFull } from '../../../platform/files/disk-reserve.ts'
import { OutgoingError } from '../../../platform/outgoing/outgoing-error.ts'
import { RelationalUnavailable } from '../../../platform/stores/relational.ts'
import { ImportRefused } from './import-faults.ts'

/** Until something is deleted no attempt finds room. */
export const isStorageFull = (error: unknown): boolean =>
  error instanceof DomainError && error.errorName === 'storageFull'

/** Whether nothing inside the service is wrong. */
export const isExpected = (error: unknown): boolean =>
  error instanceof OutgoingError || error instanceof DiskNearlyFull || isStorageFull(error)

/** Whether another attempt may find it otherwise. */
export const isPassing = ({ fault, status = 0 }: OutgoingError): boolean =>
  fault === 'unreachable' || fault === 'timeout' || (fault === 'status' && (status >= 500 || status === 429))

/** What users may know: failures inside the service are in its log. */
export function refusalOf(error: unknown): ImportRefused {
  if (error instanceof OutgoingError) return new ImportRefused('source-not-reachable', error.message, error)
  if (error instanceof DiskNearlyFull || isStorageFull(error))
    return new ImportRefused('storage-full', (error as Error).message, error)
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') {
    const message = 'the stored content is not where this process looks for it: upload it again'
    return new ImportRefused('content-missing', message, error)
  }
  if (error instanceof RelationalUnavailable) {
    return new ImportRefused('store-refused', 'the relational store did not answer', error)
  }
  return new ImportRefused(
    'store-refused',
    'the service had a failure of its own, which is in its log',
    error,
  )
}

/** What users change so that the next import succeeds. */
export const placeOf = (reason: ImportRefused['reason']): string =>
  reason === 'source-not-reachable' ? 'source' : reason === 'fields-missing' ? 'fields' : 'content'
