interface Wait {
  readonly upTo: number
  end(isFlushed: boolean): void
}

/** Callers that wait until the events up to a serial number are settled. None is kept beyond its time. */
export class FlushWaits {
  readonly #waits = new Set<Wait>()

  get size(): number {
    return this.#waits.size
  }

  /**
   * @param upTo the last serial number that is waited for
   * @returns whether they were settled within the time
   */
  wait(upTo: number, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const wait: Wait = {
        upTo,
        end: (isFlushed) => {
          clearTimeout(timer)
          this.#waits.delete(wait)
          resolve(isFlushed)
        },
      }
      // This timer keeps the process alive, which no other timer of a sender does.
      const timer = setTimeout(() => wait.end(false), timeoutMs)
      this.#waits.add(wait)
    })
  }

  /** @param oldest gives the smallest serial number that is not settled */
  settle(oldest: () => number): void {
    if (this.#waits.size === 0) return
    const open = oldest()
    for (const wait of this.#waits) if (open > wait.upTo) wait.end(true)
  }

  /** Nothing more is settled. */
  end(): void {
    for (const wait of this.#waits) wait.end(false)
  }
}
