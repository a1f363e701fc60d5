import { DomainError } from '../errors.ts'
import type { Logger } from '../logger.ts'

/** Logs why work in the background failed: an outage of a store ends by itself, everything else is a fault of ours. */
export function logWorkFailure(log: Pick<Logger, 'warn' | 'error'>, work: string, err: unknown): void {
  const isOutage = err instanceof DomainError && err.errorName === 'unavailable'
  if (isOutage) log.warn({ err, work }, `${work} wait: a store does not answer`)
  else log.error({ err, work }, `${work} failed, and are tried again`)
}
