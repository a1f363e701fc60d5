import { DomainError } from '../../../platform/errors.ts'
import { createKeyedSemaphore, SemaphoreFull } from '../../../platform/limits/semaphore.ts'

/** Bounds how many queries of one company run and wait; a company does not hold up another. */
export type QueryLimiter = ReturnType<typeof createQueryLimiter>

const retryAfter = 2

/**
 * @param waitingOfUser how many of one user may wait: more than a page of tiles asks at once
 * @param what how messages call the work that waits
 */
export function createQueryLimiter({
  running = 4,
  waiting = 200,
  waitingOfUser = 60,
  what = 'queries',
} = {}) {
  const places = createKeyedSemaphore(running, waiting)
  /** Running and waiting, by company and user. */
  const held = new Map<string, number>()

  function tooMany(message: string): DomainError {
    return new DomainError('tooManyRequests', { retryAfter }, { message, retryAfterSeconds: retryAfter })
  }

  function hold(key: string, number: 1 | -1): void {
    const count = (held.get(key) ?? 0) + number
    if (count > 0) held.set(key, count)
    else held.delete(key)
  }

  return {
    /**
     * Waits for a place and gives the function that leaves it, which may be called again. The users of a company take
     * turns: the next place goes to one with the fewest.
     * @param userId who asks; those without one share their turns
     * @throws {DomainError} `tooManyRequests` when too many wait already, of the company or of the user; the signal's
     *   reason when it is aborted
     */
    async enter(companyId: string, signal?: AbortSignal, userId: string = ''): Promise<() => void> {
      const key = `${companyId} ${userId}`
      if (userId !== '' && (held.get(key) ?? 0) >= running + waitingOfUser) {
        throw tooMany(`${waitingOfUser} ${what} of yours wait already: ask again shortly`)
      }
      hold(key, 1)
      try {
        const leave = await places.acquire(companyId, { signal, holders: [userId] })
        let isLeft = false
        return () => {
          if (isLeft) return
          isLeft = true
          hold(key, -1)
          leave()
        }
      } catch (error) {
        hold(key, -1)
        if (!(error instanceof SemaphoreFull)) throw error
        throw tooMany(`${running} ${what} of your company run and ${waiting} wait: ask again shortly`)
      }
    },
  }
}
