import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../logger.ts'
import { logWorkFailure } from './work-failure.ts'

/** Something that is done again and again. */
export interface Work {
  /** For the log, in the plural. */
  readonly name: string
  /** @returns whether there may be more to do at once */
  readonly run: (stopping: AbortSignal) => Promise<boolean>
  /** Pause after nothing was found. */
  readonly everyMs: number
  /** How many at once; default 1. */
  readonly lanes?: number
}

/** While the store does not answer it is asked less often. */
const outageMs = 5_000

/** Loops of one process; they end with it. @param stopWithinMs how long a stop waits for what runs */
export function createWorkLoops(
  works: readonly Work[],
  log: Pick<Logger, 'warn' | 'error'>,
  stopWithinMs = 10_000,
) {
  const stopping = new AbortController()
  let running: Promise<unknown> | undefined

  async function repeat({ name, run, everyMs }: Work): Promise<void> {
    while (!stopping.signal.aborted) {
      let pause = 0
      try {
        if (!(await run(stopping.signal))) pause = everyMs
      } catch (error) {
        if (error === stopping.signal.reason) return
        logWorkFailure(log, name, error)
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
