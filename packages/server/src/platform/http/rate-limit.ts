import { type Clock, systemClock } from '../clock.ts'
import { DomainError } from '../errors.ts'
import { networkOf } from '../network-address.ts'

export interface RateLimitOptions {
  /** Calls at once. */
  readonly burst: number
  /** Calls that come free again in a minute. */
  readonly perMinute: number
  readonly clock?: Clock
}

interface Bucket {
  tokens: number
  at: number
}

/** Beyond it the oldest are forgotten: an attacker with many addresses fills no memory. */
const mostAddresses = 10_000

/**
 * Bounds how often one network address calls, in this process.
 * @returns a check that counts a call
 * @throws DomainError `tooManyRequests` from the check
 */
export function createRateLimit({ burst, perMinute, clock = systemClock }: RateLimitOptions) {
  const buckets = new Map<string, Bucket>()
  const perMs = perMinute / 60_000
  return (address: string): void => {
    const key = networkOf(address)
    const now = clock.now()
    const known = buckets.get(key)
    const tokens = known ? Math.min(burst, known.tokens + Math.max(0, now - known.at) * perMs) : burst
    buckets.delete(key)
    buckets.set(key, { tokens: Math.max(0, tokens - 1), at: now })
    if (buckets.size > mostAddresses) buckets.delete(buckets.keys().next().value ?? '')
    if (tokens >= 1) return
    const retryAfter = Math.ceil((1 - tokens) / perMs / 1000)
    throw new DomainError('tooManyRequests', { retryAfter }, { retryAfterSeconds: retryAfter })
  }
}
