/** Thrown when every permit is taken and no more may wait. */
export class SemaphoreFull extends Error {
  constructor() {
    super('every permit is taken and no more may wait')
    this.name = 'SemaphoreFull'
  }
}

/** Created once: an error with its stack for each of many refusals would cost more than the refusal. */
const full = new SemaphoreFull()

/** Whom work counts for, from the widest to the narrowest, such as a network and an address of it. */
export type Holders = readonly string[]

export interface AcquireOptions {
  readonly holders?: Holders
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
}

export interface Semaphore {
  /**
   * Waits for a permit: first come holders with the fewest permits, then those whose last turn is longest ago, then
   * the order of arrival. Without holders the order of arrival alone decides.
   * @returns a function that releases the permit; further calls do nothing
   * @throws SemaphoreFull at once when no more may wait and no holder waits more often than these, or later when
   *   the waiting place is given to a holder with fewer; the signal's reason when it aborts
   */
  acquire(options?: AcquireOptions): Promise<() => void>
  /** Runs the work with a permit. @throws SemaphoreFull as `acquire` does */
  run<T>(work: () => Promise<T>, holders?: Holders): Promise<T>
  load(): { readonly running: number; readonly waiting: number }
}

interface Waiter {
  readonly holders: Holders
  readonly start: () => void
  readonly refuse: (reason: unknown) => void
}

type Counts = Map<string, number>

function add(counts: Counts, holders: Holders, number: 1 | -1): void {
  for (const holder of new Set(holders)) {
    const count = (counts.get(holder) ?? 0) + number
    if (count > 0) counts.set(holder, count)
    else counts.delete(holder)
  }
}

/** By the widest holders first. */
function compare(counts: Counts, one: Holders, other: Holders): number {
  for (const [level, holder] of one.entries()) {
    const difference = (counts.get(holder) ?? 0) - (counts.get(other[level] ?? '') ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * A semaphore that one holder cannot fill: it may take every permit while no other comes, but gives up waiting
 * places to those with fewer, and takes turns with them.
 * @param permits how many run at once
 * @param maxWaiting how many wait; more are refused, so that waiting stays short
 */
export function createSemaphore(permits: number, maxWaiting: number): Semaphore {
  const waiting: Waiter[] = []
  const runningOf: Counts = new Map()
  /** Running and waiting together. */
  const heldOf: Counts = new Map()
  /** The number of the last turn of holders that run or wait here. */
  const turnOf: Counts = new Map()
  let turns = 0
  let running = 0

  function countRunning(holders: Holders): void {
    add(runningOf, holders, 1)
    turns++
    for (const holder of holders) turnOf.set(holder, turns)
  }

  function countGone(holders: Holders): void {
    add(heldOf, holders, -1)
    for (const holder of holders) if (!heldOf.has(holder)) turnOf.delete(holder)
  }

  function isBefore(one: Waiter, other: Waiter): boolean {
    const byRunning = compare(runningOf, one.holders, other.holders)
    return byRunning === 0 ? compare(turnOf, one.holders, other.holders) < 0 : byRunning < 0
  }

  function removeWaiter(waiter: Waiter): boolean {
    const index = waiting.indexOf(waiter)
    if (index >= 0) waiting.splice(index, 1)
    return index >= 0
  }

  /** Refuses the newest waiter of the holders with the most, if that leaves them no worse off than the arrival. */
  function displaceFor(arrival: Holders): void {
    let victim: Waiter | undefined
    for (const waiter of waiting)
      if (victim === undefined || compare(heldOf, waiter.holders, victim.holders) >= 0) victim = waiter
    const level = victim?.holders.findIndex((holder, index) => holder !== arrival[index]) ?? -1
    if (victim === undefined || level < 0) throw full
    const held = (holders: Holders) => heldOf.get(holders[level] ?? '') ?? 0
    if (arrival[level] === undefined || held(victim.holders) <= held(arrival) + 1) throw full
    removeWaiter(victim)
    countGone(victim.holders)
    victim.refuse(full)
  }

  function takeNext(): Waiter | undefined {
    // Without holders the order of arrival decides, whatever the length of the queue.
    if (heldOf.size === 0) return waiting.shift()
    let next = waiting[0]
    for (const waiter of waiting) if (next !== undefined && isBefore(waiter, next)) next = waiter
    if (next !== undefined) removeWaiter(next)
    return next
  }

  /** A permit goes straight to the next waiter, so that no arrival overtakes. */
  function release(holders: Holders): void {
    add(runningOf, holders, -1)
    countGone(holders)
    const next = takeNext()
    if (next === undefined) {
      running--
      return
    }
    countRunning(next.holders)
    next.start()
  }

  function wait(holders: Holders, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        holders,
        start() {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
        refuse(reason) {
          signal?.removeEventListener('abort', onAbort)
          reject(reason)
        },
      }
      const onAbort = (): void => {
        if (!removeWaiter(waiter)) return
        countGone(holders)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      waiting.push(waiter)
    })
  }

  async function acquire({ holders = [], signal }: AcquireOptions = {}): Promise<() => void> {
    signal?.throwIfAborted()
    if (running >= permits && waiting.length >= maxWaiting) displaceFor(holders)
    add(heldOf, holders, 1)
    if (running < permits) {
      running++
      countRunning(holders)
    } else await wait(holders, signal)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      release(holders)
    }
  }

  return {
    acquire,
    async run(work, holders) {
      const releasePermit = await acquire(holders && { holders })
      try {
        return await work()
      } finally {
        releasePermit()
      }
    },
    load: () => ({ running, waiting: waiting.length }),
  }
}

/** A semaphore for each key: the work of one does not make that of another wait. Idle keys take no memory. */
export function createKeyedSemaphore(permits: number, maxWaiting: number) {
  const semaphores = new Map<string, Semaphore>()
  return {
    /** As `Semaphore.acquire`, among the work of this key alone. */
    async acquire(key: string, options?: AcquireOptions): Promise<() => void> {
      const semaphore = semaphores.get(key) ?? createSemaphore(permits, maxWaiting)
      semaphores.set(key, semaphore)
      const dropIdle = (): void => {
        if (semaphore.load().running === 0 && semaphores.get(key) === semaphore) semaphores.delete(key)
      }
      try {
        const release = await semaphore.acquire(options)
        return () => {
          release()
          dropIdle()
        }
      } catch (error) {
        dropIdle()
        throw error
      }
    },
  }
}
