interface DenoTimers {
  unrefTimer(id: number): void
}

/**
 * A timer that does not keep the process alive by itself: an application ends when its own work does, and waits for
 * its events with `flush()` or `close()`.
 * @returns ends the timer
 */
export function startQuietTimer(callback: () => void, ms: number): () => void {
  // A number in Deno and browsers, an object in Node and Bun.
  const timer: unknown = setTimeout(callback, ms)
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as NodeJS.Timeout).unref()
  else if ('Deno' in globalThis) (globalThis as { Deno?: DenoTimers }).Deno?.unrefTimer?.(timer as number)
  return () => clearTimeout(timer as number)
}

/** Resolves after a time, or as soon as the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      stop()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const stop = startQuietTimer(end, ms)
    signal.addEventListener('abort', end)
  })
}
