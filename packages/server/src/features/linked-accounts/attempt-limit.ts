import type { Clock } from '../../platform/clock.ts'

/** Counts attempts of each person in this process. */
export interface AttemptLimit {
  /** Counts one more attempt; the seconds to wait when there were too many already, which then does not count. */
  take(key: string): number | undefined
}

/** `most` attempts within any `windowMs`; those who have not tried for that long cost no memory. */
export function createAttemptLimit(clock: Clock, most: number, windowMs: number): AttemptLimit {
  const attempts = new Map<string, number[]>()
  let sweptAt = clock.now()

  function sweep(now: number): void {
    if (now - sweptAt < windowMs) return
    sweptAt = now
    for (const [key, times] of attempts) {
      if ((times.at(-1) ?? 0) <= now - windowMs) attempts.delete(key)
    }
  }

  return {
    take(key) {
      const now = clock.now()
      sweep(now)
      const recent = (attempts.get(key) ?? []).filter((time) => time > now - windowMs)
      const [first = now] = recent
      if (recent.length >= most) return Math.ceil((first + windowMs - now) / 1000)
      attempts.set(key, [...recent, now])
      return undefined
    },
  }
}
