import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../../../platform/logger.ts'
import type { Position } from '../../../../platform/stores/event-log.ts'
import type { BetweenBatches } from './removal-store.ts'

export interface RemovalHooks {
  readonly betweenBatches: BetweenBatches
  /** Resolves when the log is loaded up to a position. */
  readonly loaded: (upTo: Position, signal: AbortSignal) => Promise<void>
  /** Label keys of companies may be fewer now. */
  readonly onRemoved: (companyIds: readonly string[]) => void
}

/** A reason for which rows are removed. */
export interface Removal {
  /** For the log: what is removed. */
  readonly name: string
  /** Removes what is to be removed. An interrupted one is begun again, and finds less to do. @returns whether there may be more */
  run(hooks: RemovalHooks, signal: AbortSignal): Promise<boolean>
}

export interface RemoverDependencies {
  /** A later one waits until the earlier ones find nothing. */
  readonly removals: readonly Removal[]
  /** Resolves when there may be something to remove, or when the signal aborts. */
  readonly changed: (signal: AbortSignal) => Promise<void>
  readonly logger: Pick<Logger, 'warn'>
}

/** After a failure, and at times in which a notice was missed. */
const lookAgainMs = 30_000

export type Remover = ReturnType<typeof createRemover>

/** Removes rows from the disk, in the process that loads. */
export function createRemover({ removals, changed, logger }: RemoverDependencies) {
  async function attempt(removal: Removal, hooks: RemovalHooks, signal: AbortSignal): Promise<boolean> {
    try {
      return await removal.run(hooks, signal)
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, `${removal.name} are not removed yet`)
      return false
    }
  }

  /** Runs the first removal that finds something. @returns whether there may be more */
  async function runFirst(hooks: RemovalHooks, signal: AbortSignal): Promise<boolean> {
    for (const removal of removals)
      if (!signal.aborted && (await attempt(removal, hooks, signal))) return true
    return false
  }

  async function work(hooks: RemovalHooks, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const change = changed(signal)
      while (!signal.aborted && (await runFirst(hooks, signal)));
      const late = new AbortController()
      const pause = sleep(lookAgainMs, undefined, { signal: late.signal, ref: false }).catch(() => {})
      await Promise.race([change, pause])
      late.abort()
    }
  }

  return {
    /** Begins to work until the function that it gives is called and has resolved. */
    begin(hooks: RemovalHooks): () => Promise<void> {
      const stopping = new AbortController()
      const working = work(hooks, stopping.signal)
      return async () => {
        stopping.abort()
        await working
      }
    },
  }
}
