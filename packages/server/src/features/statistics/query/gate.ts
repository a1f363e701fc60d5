import { DomainError } from '../../../platform/errors.ts'

/** Lets so many queries of one company run and so many wait; a company does not hold up another. */
export interface QueryGate {
  /**
   * Waits for a place and gives the function that leaves it, which may be called again.
   * @throws {DomainError} `tooManyRequests` when too many wait already; the signal's reason when it is aborted
   */
  enter(companyId: string, signal?: AbortSignal): Promise<() => void>
}

interface Queue {
  running: number
  readonly waiting: (() => void)[]
}

/** @param what how messages call the work that waits */
export function createQueryGate({ running = 4, waiting = 16, what = 'queries' } = {}): QueryGate {
  const queues = new Map<string, Queue>()

  function leaver(companyId: string, queue: Queue): () => void {
    let left = false
    return () => {
      if (left) return
      left = true
      const next = queue.waiting.shift()
      // The place goes to the next one directly, so that nobody overtakes.
      if (next) next()
      else if (--queue.running === 0) queues.delete(companyId)
    }
  }

  function wait(queue: Queue, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        const place = queue.waiting.indexOf(start)
        if (place >= 0) queue.waiting.splice(place, 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      queue.waiting.push(start)
    })
  }

  return {
    async enter(companyId, signal) {
      signal?.throwIfAborted()
      const queue = queues.get(companyId) ?? { running: 0, waiting: [] }
      queues.set(companyId, queue)
      if (queue.running < running) queue.running++
      else if (queue.waiting.length < waiting) await wait(queue, signal)
      else {
        const retryAfter = 2
        throw new DomainError(
          'tooManyRequests',
          { retryAfter },
          {
            message: `${running} ${what} of your company run and ${waiting} wait: ask again shortly`,
            retryAfterSeconds: retryAfter,
          },
        )
      }
      return leaver(companyId, queue)
    },
  }
}
