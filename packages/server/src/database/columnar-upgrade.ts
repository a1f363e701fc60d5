import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../platform/logger.ts'

export interface ColumnarUpgradeOptions {
  /** Resolves when the engine serves, or when the service stops. */
  readonly serves: Promise<void>
  /** Applies what the store lacks; tried again while it fails. */
  readonly migrate: () => Promise<unknown>
  readonly logger: Pick<Logger, 'error' | 'info'>
  /** Aborts when the service stops. */
  readonly signal: AbortSignal
}

/** How far the columnar store is. Until it is up to date no query is answered, and events wait in the log. */
export interface ColumnarUpgrade {
  /** Why queries are not answered, for the operator; undefined when they are. */
  fault(): string | undefined
  /** Resolves after the first try, whatever became of it. */
  readonly firstTry: Promise<void>
  /** Whether it is up to date: false when the service stops before. */
  readonly done: Promise<boolean>
}

const firstPauseMs = 1_000
const maxPauseMs = 30_000

/** Brings the columnar store up to date. A failure is no reason to refuse events, and the operator may mend it meanwhile. */
export function upgradeColumnar(options: ColumnarUpgradeOptions): ColumnarUpgrade {
  const { serves, migrate, logger, signal } = options
  const { promise: firstTry, resolve: tried } = Promise.withResolvers<void>()
  let fault: string | undefined = 'is starting'

  function tell(error: unknown): void {
    const reason = (error as Error).message
    const before = fault
    fault = `cannot be brought up to date: ${reason}`
    if (fault === before) return
    logger.error(
      { err: error },
      'queries are not answered: the columnar store cannot be brought up to date. Events are accepted and wait in the ' +
        'event log. Mend what the error names, or start the former version; it is tried again by itself ' +
        '(docs/operating.md, Upgrade)',
    )
  }

  async function run(): Promise<boolean> {
    await serves
    for (let pause = firstPauseMs; !signal.aborted; pause = Math.min(2 * pause, maxPauseMs)) {
      try {
        await migrate()
        if (fault !== 'is starting') logger.info('the columnar store is up to date: queries are answered')
        fault = undefined
        return true
      } catch (error) {
        // The stores are closed under a migration that a stop interrupts; the next start continues it.
        if (signal.aborted) return false
        tell(error)
      }
      tried()
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {})
    }
    return false
  }

  return { fault: () => fault, firstTry, done: run().finally(tried) }
}
