import type { MailStore } from '../features/mail/mail-store.ts'
import type { StorageService } from '../features/storage/storage-service.ts'
import type { Clock } from '../platform/clock.ts'
import type { DiskReserve } from '../platform/files/disk-reserve.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { SupervisedChild } from '../platform/processes/child.ts'
import type { EventLog } from '../platform/stores/event-log.ts'

/** How many mails wait and how many were given up. */
export function measureMails(metrics: Metrics, { count }: Pick<MailStore, 'count'>): void {
  // Not known while the store is away; the other figures are still read then.
  const known = (state: 'waiting' | 'failed') => () => count(state).catch(() => Number.NaN)
  metrics.gauge('millrace_mails_waiting', 'Mails that are still to be sent', known('waiting'))
  metrics.gauge('millrace_mails_failed', 'Mails given up within the last 30 days', known('failed'))
}

/** How late what waits in ledgers is, by the name of the ledger. */
export function measureDelays(
  metrics: Metrics,
  ledgers: Readonly<Record<string, readonly [what: string, findDelay: () => Promise<number>]>>,
): void {
  for (const [name, [what, findDelay]] of Object.entries(ledgers)) {
    metrics.gauge(`millrace_${name}_delay_seconds`, `Seconds that ${what} which waits longest is late`, () =>
      findDelay().catch(() => Number.NaN),
    )
  }
}

/** What companies store, and what is left. */
export function measureStorage(
  metrics: Metrics,
  { measure }: Pick<StorageService, 'measure'>,
  reserve: Pick<DiskReserve, 'check' | 'freeBytes'>,
): void {
  const known = (which: 'total' | 'max') => () =>
    measure().then(
      (measured) => measured[which],
      () => Number.NaN,
    )
  metrics.gauge(
    'millrace_stored_bytes',
    'Bytes of contents, rows and results that companies store',
    known('total'),
  )
  metrics.gauge(
    'millrace_stored_bytes_max',
    'Bytes that the company which stores most has, of those that MILLRACE_MAX_STORED_BYTES allows',
    known('max'),
  )
  metrics.gauge('millrace_disk_free_bytes', 'Free bytes of the disk of the data directory', async () => {
    await reserve.check()
    return reserve.freeBytes ?? Number.NaN
  })
}

/** What the event log holds, and whether the children serve. */
export function measureStores(
  metrics: Metrics,
  log: EventLog,
  clock: Clock,
  children: readonly (SupervisedChild | undefined)[],
): void {
  metrics.gauge(
    'millrace_log_bytes',
    'Bytes of the event log that wait to be loaded',
    () => log.state().bytes,
  )
  metrics.gauge(
    'millrace_log_events',
    'Rows of the event log that wait to be loaded',
    () => log.state().events,
  )
  metrics.gauge('millrace_log_age_seconds', 'Age of the oldest row that waits to be loaded', () => {
    const { oldestAt } = log.state()
    return oldestAt === undefined ? 0 : Math.max(0, clock.now() - oldestAt) / 1000
  })
  metrics.gauge(
    'millrace_log_damages',
    'Stretches of the event log that could not be read',
    () => log.state().damage.length,
  )
  metrics.counter(
    'millrace_log_events_total',
    'Rows made durable in the event log',
    () => log.state().totals.events,
  )
  metrics.counter(
    'millrace_log_groups_total',
    'Groups made durable at once in the event log',
    () => log.state().totals.groups,
  )
  metrics.counter(
    'millrace_log_failures_total',
    'Groups that the file system refused',
    () => log.state().totals.failures,
  )
  for (const child of children) {
    if (!child) continue
    const { name } = child.status()
    metrics.gauge(`millrace_child_${name}_up`, `Whether the child process ${name} serves`, () =>
      child.status().state === 'ready' ? 1 : 0,
    )
    metrics.counter(
      `millrace_child_${name}_restarts_total`,
      `Restarts of the child process ${name}`,
      () => child.status().restarts,
    )
  }
}
