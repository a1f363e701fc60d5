import { LRUCache } from 'lru-cache'
import { type Clock, monotonicClock } from '../clock.ts'

export interface LeakyBucketOptions {
  /** How many are free at once. */
  readonly free: number
  /** Milliseconds after which one more is. */
  readonly drainMs: number
  readonly clock?: Clock
  /** Beyond it the keys that are idle longest are forgotten: an attacker with many keys fills no memory. */
  readonly maxKeys?: number
}

interface Bucket {
  readonly level: number
  readonly at: number
}

/** Leaky buckets by key, in this process; those of `sql-leaky-bucket.ts` count on all processes together. */
export function createLeakyBuckets({
  free,
  drainMs,
  clock = monotonicClock,
  maxKeys = 10_000,
}: LeakyBucketOptions) {
  const buckets = new LRUCache<string, Bucket>({ max: maxKeys })

  function levelOf(key: string, now: number): number {
    const known = buckets.get(key)
    return known ? Math.max(0, known.level - Math.max(0, now - known.at) / drainMs) : 0
  }

  return {
    /** How much is free now. */
    room: (key: string): number => free - levelOf(key, clock.now()),
    /**
     * Counts one, or so many. Refused ones keep the bucket full.
     * @returns seconds until the next one is free; 0 when this one was
     */
    take(key: string, amount = 1): number {
      const now = clock.now()
      const level = levelOf(key, now)
      buckets.set(key, { level: Math.min(free, level + amount), at: now })
      const excess = level + amount - free
      return excess <= 0 ? 0 : Math.ceil((excess * drainMs) / 1000)
    },
  }
}
