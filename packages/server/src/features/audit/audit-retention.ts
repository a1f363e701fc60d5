import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../platform/logger.ts'
import type { AuditStore } from './audit-store.ts'

export interface AuditRetentionDependencies {
  readonly store: Pick<AuditStore, 'removeOld'>
  readonly log: Pick<Logger, 'info'>
  /** Max entries that one statement removes. */
  readonly batch?: number
}

const pauseMs = 100

/** Removes entries whose company's retention has passed, a batch at a time. @returns how many */
export async function removeOldEntries(
  { store, log, batch = 2_000 }: AuditRetentionDependencies,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0
  while (!signal?.aborted) {
    const gone = await store.removeOld(batch)
    removed += gone
    if (gone < batch) break
    await sleep(pauseMs, undefined, { signal }).catch(() => {})
  }
  if (removed > 0) log.info({ removed }, 'entries of the audit log whose retention has passed are gone')
  return removed
}
