import type { Clock } from './clock.ts'

/** Asks for room for one more entry under a key, of which a minute has at most `most`. */
export type TakeEntry = (key: string, most: number) => boolean

/**
 * Bounds entries of the audit log that somebody can cause at will: nothing takes them away before their retention
 * has passed. The metrics count every call.
 * @param mostInAll of all keys together within a minute, in this process
 */
export function createEntryBudget(clock: Clock, mostInAll = Number.POSITIVE_INFINITY): TakeEntry {
  let minute = 0
  let all = 0
  // Emptied every minute: it holds no more keys than entries were written in this one.
  const counts = new Map<string, number>()
  return (key, most) => {
    const now = Math.floor(clock.now() / 60_000)
    if (now !== minute) {
      minute = now
      all = 0
      counts.clear()
    }
    const count = counts.get(key) ?? 0
    if (count >= most || all >= mostInAll) return false
    counts.set(key, count + 1)
    all++
    return true
  }
}
