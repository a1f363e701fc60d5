import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../platform/logger.ts'
import type { AuditStore } from './audit-store.ts'

export interface AuditRetentionDependencies {
  readonly store: Pick<AuditStore, 'removeOld'>
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Most entries that one statement takes away. */
  readonly batch?: number
  readonly everyMs?: number
  /** From the start to the first look, which must not slow the start. */
  readonly firstMs?: number
}

const pauseMs = 100

/** Takes entries away once their company's retention has passed: every hour, a batch at a time. */
export function createAuditRetention(dependencies: AuditRetentionDependencies) {
  const { store, log, batch = 2_000, everyMs = 3_600_000, firstMs = 60_000 } = dependencies
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let working: Promise<unknown> | undefined

  /** @returns how many entries went */
  async function work(): Promise<number> {
    let removed = 0
    try {
      while (!ending.signal.aborted) {
        const gone = await store.removeOld(batch)
        removed += gone
        if (gone < batch) break
        await sleep(pauseMs, undefined, { signal: ending.signal }).catch(() => {})
      }
    } catch (error) {
      log.warn(
        { err: error },
        'old entries of the audit log stay for now: the relational store does not answer',
      )
    }
    if (removed > 0) log.info({ removed }, 'entries of the audit log whose retention has passed are gone')
    return removed
  }

  function schedule(pause: number): void {
    if (ending.signal.aborted) return
    timer = setTimeout(() => {
      working = work().then(() => schedule(everyMs))
    }, pause).unref()
  }

  return {
    start: () => schedule(firstMs),
    work,
    async stop(): Promise<void> {
      ending.abort()
      clearTimeout(timer)
      await working
    },
  }
}
