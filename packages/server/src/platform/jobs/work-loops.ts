import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../logger.ts'

/** Something that is done again and again. */
export interface Work {
  /** @returns whether there may be more to do at once */
  readonly run: (stopping: AbortSignal) => Promise<boolean>
  /** Pause after nothing was found. */
  readonly everyMs: number
  /** How many at once; default 1. */
  readonly lanes?: number
}

/** While the store does not answer it is asked less often. */
const outageMs = 5_000
const stopWithinMs = 10_000

/** Loops of one process; they end with it. @param what waits when the store does not answer, for the log */
export function createWorkLoops(works: readonly Work[], log: Pick<Logger, 'warn'>, what: string) {
  const stopping = new AbortController()
  let running: Promise<unknown> | undefined

  async function repeat({ run, everyMs }: Work): Promise<void> {
    while (!stopping.signal.aborted) {
      let pause = 0
      try {
        if (!(await run(stopping.signal))) pause = everyMs
      } catch (error) {
        log.warn({ err: error }, `${what} wait: the relational store does not answer`)
        pause = outageMs
      }
      if (pause > 0) await sleep(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }

  return {
    start(): void {
      running ??= Promise.all(
        works.flatMap((work) => Array.from({ length: work.lanes ?? 1 }, () => repeat(work))),
      )
    },
    /** Gives back what runs, and waits for it a while. */
    async stop(): Promise<void> {
      stopping.abort(new Error('the service stops'))
      const late = new AbortController()
      await Promise.race([running, sleep(stopWithinMs, undefined, { signal: late.signal }).catch(() => {})])
      late.abort()
    },
  }
}
