import type { Clock } from '../clock.ts'

/**
 * Counts by key within windows that follow each other. It is emptied with each window, so it holds no more keys
 * than were counted in one.
 * @param windowMs length of a window
 * @param maxTotal of all keys together within a window
 */
export function createFixedWindow(clock: Clock, windowMs: number, maxTotal = Number.POSITIVE_INFINITY) {
  let current = 0
  let total = 0
  const counts = new Map<string, number>()
  return {
    /**
     * Counts one for a key, of which a window has at most `max`.
     * @returns seconds until the next window when there is no room, which then is not counted; otherwise 0
     */
    take(key: string, max: number): number {
      const now = clock.now()
      const window = Math.floor(now / windowMs)
      if (window !== current) {
        current = window
        total = 0
        counts.clear()
      }
      const count = counts.get(key) ?? 0
      if (count >= max || total >= maxTotal) return Math.ceil(((window + 1) * windowMs - now) / 1000)
      counts.set(key, count + 1)
      total++
      return 0
    },
  }
}

/** Counts at most `max` of a key within any `windowMs`; a key that was idle for that long takes no memory. */
export function createSlidingWindow(clock: Clock, windowMs: number, max: number) {
  const times = new Map<string, number[]>()
  let sweptAt = clock.now()

  function sweep(now: number): void {
    if (now - sweptAt < windowMs) return
    sweptAt = now
    for (const [key, counted] of times) {
      if ((counted.at(-1) ?? 0) <= now - windowMs) times.delete(key)
    }
  }

  return {
    /** @returns seconds until there is room for this key again, when this one is not counted; otherwise 0 */
    take(key: string): number {
      const now = clock.now()
      sweep(now)
      const recent = (times.get(key) ?? []).filter((time) => time > now - windowMs)
      const [first = now] = recent
      if (recent.length >= max) return Math.ceil((first + windowMs - now) / 1000)
      times.set(key, [...recent, now])
      return 0
    },
  }
}
