import { createLoadingCache } from '../../../../platform/cache/loading-cache.ts'
import { type Clock, monotonicClock } from '../../../../platform/clock.ts'
import type { Logger } from '../../../../platform/logger.ts'

/**
 * Caches the origins of clients. That a removed origin ends on every process within a second rests on the fresh time
 * alone, as for access tokens; notices only make it sooner (`forget`). While the store is unavailable the last answer
 * holds, so that pages can read that failure.
 */
export function createOriginCache(
  listOrigins: () => Promise<readonly string[]>,
  log: Pick<Logger, 'debug'>,
  clock: Clock = monotonicClock,
) {
  const cannotRead = (err: unknown) => log.debug({ err }, 'origins of clients cannot be read')
  const cache = createLoadingCache<undefined, ReadonlySet<string>>({
    load: async () => new Set(await listOrigins()),
    keyOf: () => '',
    clock,
    freshMs: 800,
    staleOnError: true,
    maxEntries: 1,
    onStale: cannotRead,
  })

  return {
    async has(origin: string): Promise<boolean> {
      try {
        return (await cache.find(undefined)).has(origin)
      } catch (error) {
        cannotRead(error)
        return false
      }
    },

    /** Everything is asked again from now on. */
    forget: () => cache.invalidate(),
  }
}
