/**
 * Works on each of the items, so many at a time. The first failure is thrown once those under way have ended; no other
 * begins, and the signal that they were given is aborted.
 */
export async function forEachAtOnce<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ending = new AbortController()
  const waiting = items[Symbol.iterator]()
  async function workOnSome(): Promise<void> {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      if (ending.signal.aborted) return
      try {
        await work(next.value, ending.signal)
      } catch (error) {
        ending.abort(error)
        throw error
      }
    }
  }
  await Promise.allSettled(Array.from({ length: atOnce }, workOnSome))
  if (ending.signal.aborted) throw ending.signal.reason
}
