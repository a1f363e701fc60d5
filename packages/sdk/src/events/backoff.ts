const baseMs = 250
const maxMs = 10_000
/** A server that asks for more is asked again after this. */
const maxRetryAfterMs = 5 * 60_000

/**
 * When the next request may start after failures, for all requests of a sender together.
 * @param now milliseconds of a clock that never steps back
 */
export function createBackoff({ now, random }: { now: () => number; random: () => number }) {
  let failures = 0
  let failedAt = Number.NEGATIVE_INFINITY
  let until = Number.NEGATIVE_INFINITY
  return {
    /** Milliseconds to wait; 0 where a request may start. */
    remaining: (): number => Math.max(0, until - now()),
    /** @param startedAt when the failed request began, by the same clock */
    fail(startedAt: number, retryAfterMs: number | undefined = 0): void {
      // Requests that were under way together fail together, which is one failure.
      if (startedAt >= failedAt) failures++
      failedAt = now()
      const ceiling = Math.min(maxMs, baseMs * 2 ** (failures - 1))
      const asked = Math.min(maxRetryAfterMs, retryAfterMs)
      // At least half of it, so that a server that restarts is left alone, the rest spread over the senders.
      const delay = asked > 0 ? asked + random() * baseMs : ceiling * (0.5 + random() * 0.5)
      until = Math.max(until, failedAt + delay)
    },
    succeed(): void {
      failures = 0
      until = Number.NEGATIVE_INFINITY
    },
  }
}
