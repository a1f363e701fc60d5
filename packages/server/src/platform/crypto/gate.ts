/** Thrown by a gate whose places and waiting room are both taken. */
export class GateFull extends Error {
  constructor() {
    super('every place and every waiting place is taken')
    this.name = 'GateFull'
  }
}

/** Made once: when many are refused, an error with its stack for each would be work of its own. */
const full = new GateFull()

export interface Gate {
  /**
   * Runs the work when a place is free, in order of arrival.
   * @throws GateFull at once when the waiting room is full
   */
  run<T>(work: () => Promise<T>): Promise<T>
  /** How many run and how many wait at this moment. */
  load(): { readonly running: number; readonly waiting: number }
}

/** Lets `places` pieces of work run at once and `waitingPlaces` wait; more are refused, so that waiting stays short. */
export function createGate(places: number, waitingPlaces: number): Gate {
  const queue: (() => void)[] = []
  let running = 0

  const enter = (): Promise<void> => {
    if (running < places) {
      running++
      return Promise.resolve()
    }
    if (queue.length >= waitingPlaces) throw full
    return new Promise((resolve) => queue.push(resolve))
  }

  /** A place that is left goes straight to the one who waits longest. */
  const leave = (): void => {
    const next = queue.shift()
    if (next) next()
    else running--
  }

  return {
    async run(work) {
      await enter()
      try {
        return await work()
      } finally {
        leave()
      }
    },
    load: () => ({ running, waiting: queue.length }),
  }
}
