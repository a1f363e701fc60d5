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
    while (!ending.signal.aborted) {
      const next = waiting.next()
      if (next.done) return
      await work(next.value, ending.signal).catch((error: unknown) => ending.abort(error))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, workOnSome))
  if (ending.signal.aborted) throw ending.signal.reason
}
