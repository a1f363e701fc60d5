import type { AuditEvent } from '../../../../platform/audit.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { Logger } from '../../../../platform/logger.ts'
import { type Expiry, type ExpiryStore, expiredRows, expiringTables } from './expiry-store.ts'
import type { RemovalStore, RowCondition } from './removal-store.ts'
import type { Removal, RemovalHooks } from './remover.ts'

export interface ExpiryDependencies {
  readonly listDue: ExpiryStore['listDue']
  readonly store: Pick<RemovalStore, 'countEvents' | 'monthsOf' | 'recomputeOrders' | 'dropWhole' | 'remove'>
  /** Tells the audit log what is being removed. */
  readonly record: (events: readonly AuditEvent[]) => Promise<void>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'info'>
}

const lookEveryMs = 3_600_000

/** Removes what is older than its datasource keeps it. Late events of such days are stored, and go with the next look. */
export function createExpiry({ listDue, store, record, clock, logger }: ExpiryDependencies): Removal {
  let nextAt = 0

  async function expire(expiry: Expiry, hooks: RemovalHooks, signal: AbortSignal): Promise<void> {
    const counts = await store.countEvents(expiredRows('events', expiry), signal)
    if (counts.length > 0) {
      await record(
        counts.map(({ company, datasource, events }) => ({
          companyId: company,
          action: 'datasource-expire',
          actor: { kind: 'platform' },
          target: { kind: 'datasource', id: datasource },
          details: { before: expiry.before.toISOString(), events },
        })),
      )
    }
    await expirePurchases(expiry, hooks, signal)
    let removed = 0
    for (const table of expiringTables) {
      if (table === 'purchases') continue
      const rows = expiredRows(table, expiry)
      await hooks.betweenBatches(() => store.dropWhole(table, rows, signal))
      removed += await store.remove(table, rows, signal)
    }
    if (counts.length > 0) logger.info({ before: expiry.before, counts, removed }, 'old events are removed')
  }

  /**
   * An order of which a part is kept is computed of that part, at the time of its first event. No batch may compute
   * it meanwhile, because that would count what goes. Month by month, so that no batch waits for long.
   */
  async function expirePurchases(expiry: Expiry, hooks: RemovalHooks, signal: AbortSignal): Promise<void> {
    const expired = expiredRows('purchases', expiry)
    for (const month of await store.monthsOf('purchases', expired, signal)) {
      const going: RowCondition = {
        sql: `${expired.sql} AND toYYYYMM(time) = {month: UInt32}`,
        params: { ...expired.params, month },
      }
      await hooks.betweenBatches(async () => {
        await store.recomputeOrders(going, expired, signal)
        await store.remove('purchases', going, signal)
      })
    }
  }

  return {
    name: 'events that are older than they are kept',
    async run(hooks, signal) {
      if (clock.now() < nextAt) return false
      for (const expiry of await listDue()) await expire(expiry, hooks, signal)
      nextAt = clock.now() + lookEveryMs
      return false
    },
  }
}
