import type { Clock } from '../../../platform/clock.ts'

/** Answers of the last moments, by what was asked. */
export interface RecentAnswers<Value> {
  find(key: string): Value | undefined
  /** @param at when it was asked of the store, by the clock */
  keep(key: string, value: Value, at: number): void
  /** Bytes of all that is kept, about. */
  bytes(): number
}

export interface RecentAnswersOptions<Value> {
  readonly clock: Clock
  readonly freshMs: number
  readonly maxBytes: number
  readonly bytesOf: (value: Value) => number
}

/** What an entry takes beside its key and value. */
const overheadBytes = 200

/** Of more than `maxBytes` the oldest go first; they are the first to be out of date too. */
export function createRecentAnswers<Value>(options: RecentAnswersOptions<Value>): RecentAnswers<Value> {
  const { clock, freshMs, maxBytes, bytesOf } = options
  const entries = new Map<string, { readonly value: Value; readonly at: number; readonly bytes: number }>()
  let total = 0

  function remove(key: string): void {
    total -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  return {
    find(key) {
      const entry = entries.get(key)
      return entry && clock.now() - entry.at < freshMs ? entry.value : undefined
    },
    keep(key, value, at) {
      const bytes = overheadBytes + 2 * key.length + bytesOf(value)
      remove(key)
      if (bytes <= maxBytes / 8) {
        entries.set(key, { value, at, bytes })
        total += bytes
      }
      for (const [oldest, entry] of entries) {
        if (total <= maxBytes && clock.now() - entry.at < freshMs) break
        remove(oldest)
      }
    },
    bytes: () => total,
  }
}
