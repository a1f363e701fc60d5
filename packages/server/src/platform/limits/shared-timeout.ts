export interface SharedTimeoutOptions {
  /** A wait ends after this many milliseconds, or up to `stepMs` later. */
  readonly timeoutMs: number
  /** How often waits are looked at. */
  readonly stepMs: number
  /** Of the error with which a late wait ends. */
  readonly message: string
}

/**
 * Ends waits that last too long. One timer looks at all of them: a timer for each, or a promise that all of them race
 * against, would cost more than the run of a workflow and stay in memory until the timeout.
 */
export function createSharedTimeout({ timeoutMs, stepMs, message }: SharedTimeoutOptions) {
  /** When each wait began, the oldest first, by what ends it. */
  const waits = new Map<() => void, number>()
  let timer: NodeJS.Timeout | undefined

  function endLate(): void {
    const now = performance.now()
    for (const [end, began] of waits) {
      if (now - began < timeoutMs) break
      waits.delete(end)
      end()
    }
    timer = waits.size > 0 ? setTimeout(endLate, stepMs).unref() : undefined
  }

  return {
    /** Settles as the promise does, or rejects where that takes too long. */
    within(promise: Promise<void>): Promise<void> {
      return new Promise((resolve, reject) => {
        const end = () => reject(new Error(message))
        waits.set(end, performance.now())
        if (timer === undefined) timer = setTimeout(endLate, stepMs).unref()
        promise.then(
          () => {
            waits.delete(end)
            resolve()
          },
          (error) => {
            waits.delete(end)
            reject(error)
          },
        )
      })
    },
  }
}
