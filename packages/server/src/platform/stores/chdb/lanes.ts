import { EngineException } from './exceptions.ts'

/** How many statements of a kind run at once; the others wait in the order they came. */
export interface Lanes {
  /**
   * Resolves with the function that gives the lane back.
   * @throws {EngineException} none became free in time; the reason of the signal when it aborts
   */
  take(waitMs: number, signal: AbortSignal): Promise<() => void>
  /** Takes a lane if one is free this instant. */
  takeNow(): (() => void) | undefined
  running(): number
  waiting(): number
}

export function createLanes(count: number): Lanes {
  let running = 0
  const waiting = new Set<(release: () => void) => void>()

  function release(): void {
    const [next] = waiting
    if (next === undefined) running--
    else {
      waiting.delete(next)
      next(once(release))
    }
  }

  function takeNow(): (() => void) | undefined {
    if (running >= count) return undefined
    running++
    return once(release)
  }

  return {
    running: () => running,
    waiting: () => waiting.size,
    takeNow,
    take(waitMs, signal) {
      const free = takeNow()
      if (free !== undefined) return Promise.resolve(free)
      return new Promise((resolve, reject) => {
        const leave = (reason: unknown): void => {
          waiting.delete(enter)
          settle()
          reject(reason)
        }
        const onAbort = (): void => leave(signal.reason)
        const timer = setTimeout(() => {
          leave(
            new EngineException(
              'TOO_MANY_SIMULTANEOUS_QUERIES',
              `Too many simultaneous queries: all ${count} lanes stayed busy for ${waitMs / 1000} seconds.`,
            ),
          )
        }, waitMs)
        const settle = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', onAbort)
        }
        const enter = (given: () => void): void => {
          settle()
          resolve(given)
        }
        signal.addEventListener('abort', onAbort, { once: true })
        waiting.add(enter)
      })
    },
  }
}

function once(work: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    work()
  }
}
