import { DomainError } from '../../../platform/errors.ts'
import { createKeyedSemaphore, SemaphoreFull } from '../../../platform/limits/semaphore.ts'

/** Bounds how many queries of one company run and wait; a company does not hold up another. */
export interface QueryGate {
  /**
   * Waits for a place and gives the function that leaves it, which may be called again.
   * @throws {DomainError} `tooManyRequests` when too many wait already; the signal's reason when it is aborted
   */
  enter(companyId: string, signal?: AbortSignal): Promise<() => void>
}

const retryAfter = 2

/** @param what how messages call the work that waits */
export function createQueryGate({ running = 4, waiting = 16, what = 'queries' } = {}): QueryGate {
  const places = createKeyedSemaphore(running, waiting)
  return {
    async enter(companyId, signal) {
      try {
        return await places.acquire(companyId, signal)
      } catch (error) {
        if (!(error instanceof SemaphoreFull)) throw error
        throw new DomainError(
          'tooManyRequests',
          { retryAfter },
          {
            message: `${running} ${what} of your company run and ${waiting} wait: ask again shortly`,
            retryAfterSeconds: retryAfter,
          },
        )
      }
    },
  }
}
