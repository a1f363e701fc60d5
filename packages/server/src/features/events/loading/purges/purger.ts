import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../../../platform/logger.ts'
import type { HiddenDatasources } from './hidden-datasource-store.ts'
import type { PurgeLedger } from './purge-ledger-store.ts'
import type { PurgeStore } from './purge-store.ts'

export interface PurgerDependencies {
  readonly ledger: Pick<PurgeLedger, 'listOpen' | 'finish'>
  readonly store: PurgeStore
  readonly hidden: Pick<HiddenDatasources, 'changed'>
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

export interface PurgerHooks {
  /** Resolves when the batch that is being stored has ended. */
  readonly batchAtHand: () => Promise<void>
  /** Label keys of a company may be fewer now. */
  readonly onPurged: (companyId: string) => void
}

/** After a failure, and at times in which a notice was missed. */
const lookAgainMs = 30_000

export type Purger = ReturnType<typeof createPurger>

/**
 * Removes from the disk what purged datasources have told, in the process that loads: a batch that began before a
 * purge was asked for may still store events of the datasource, every later one knows of it (batch-loader.ts). So
 * nothing of it comes after the removal has begun behind that batch. An interrupted purge is begun again, and finds
 * less to do.
 */
export function createPurger({ ledger, store, hidden, logger }: PurgerDependencies) {
  async function purgeNext({ batchAtHand, onPurged }: PurgerHooks, signal: AbortSignal): Promise<boolean> {
    const open = await ledger.listOpen()
    const [purge] = open
    if (!purge) return false
    await batchAtHand()
    await store.recomputeOrders(
      purge,
      open.map(({ datasourceId }) => datasourceId),
      signal,
    )
    await store.removeRows(purge, signal)
    onPurged(purge.companyId)
    await ledger.finish(purge)
    logger.info(purge, 'the events of a deleted datasource are removed')
    return true
  }

  async function work(hooks: PurgerHooks, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const change = hidden.changed(signal)
      try {
        if (await purgeNext(hooks, signal)) continue
      } catch (error) {
        if (signal.aborted) return
        logger.warn({ err: error }, 'the events of a deleted datasource are not removed yet')
      }
      const late = new AbortController()
      const pause = sleep(lookAgainMs, undefined, { signal: late.signal, ref: false }).catch(() => {})
      await Promise.race([change, pause])
      late.abort()
    }
  }

  return {
    /** Begins to work until the function that it gives is called and has resolved. */
    begin(hooks: PurgerHooks): () => Promise<void> {
      const stopping = new AbortController()
      const working = work(hooks, stopping.signal)
      return async () => {
        stopping.abort()
        await working
      }
    },
  }
}
