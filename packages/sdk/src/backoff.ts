/** Milliseconds before a request is sent again, where the answer does not say it: anything up to the bound. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(maxBackoffMs, firstBackoffMs * 2 ** (attempt - 1))
}

const firstBackoffMs = 500
const maxBackoffMs = 8_000

/** Rejects with the reason of the signal when it aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** The promise, or the reason of the signal when it aborts first; what the promise stands for goes on. */
export function abandonable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {})
    return Promise.reject(signal.reason)
  }
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
