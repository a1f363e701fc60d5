import { type Clock, monotonicClock } from '../../../../platform/clock.ts'
import type { Logger } from '../../../../platform/logger.ts'

/** As for access tokens: counted from before the store is asked. */
const lifetimeMs = 800

/**
 * Caches the origins of clients. That a removed origin ends on every process within a second rests on the lifetime
 * alone; notices only make it sooner (`forget`). While the store is unavailable the last answer holds, so that pages
 * can read that failure.
 */
export function createOriginCache(
  listOrigins: () => Promise<readonly string[]>,
  log: Pick<Logger, 'debug'>,
  clock: Clock = monotonicClock,
) {
  let last: ReadonlySet<string> = new Set()
  let asked: { readonly origins: Promise<ReadonlySet<string>>; readonly endsAt: number } | undefined

  async function ask(): Promise<ReadonlySet<string>> {
    try {
      last = new Set(await listOrigins())
    } catch (error) {
      log.debug({ err: error }, 'origins of clients cannot be read')
    }
    return last
  }

  return {
    /** Requests that come while the store is asked wait for that one answer. */
    async has(origin: string): Promise<boolean> {
      const now = clock.now()
      if (asked === undefined || now >= asked.endsAt) asked = { origins: ask(), endsAt: now + lifetimeMs }
      return (await asked.origins).has(origin)
    },

    /** Everything is asked again from now on. */
    forget(): void {
      asked = undefined
    },
  }
}
