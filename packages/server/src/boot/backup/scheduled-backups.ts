import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Columnar } from '../../platform/stores/columnar.ts'
import type { PostgresAddress } from '../../platform/stores/relational.ts'
import type { Periodic } from '../../platform/work/periodic-work.ts'
import { openBackupCopies } from './backup-copies.ts'
import { listBackups, readManifest, removeBackups } from './backup-files.ts'
import { createBackup } from './create-backup.ts'

export interface ScheduledBackupsOptions {
  readonly config: Config
  /** Of the role that owns the tables. */
  readonly relational: PostgresAddress
  readonly columnar: Pick<Columnar, 'query' | 'command' | 'stream'>
  /** Resolves once the columnar store serves, with whether it is up to date. */
  readonly served: Promise<boolean>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'info'>
  readonly metrics: Pick<Metrics, 'gauge'>
}

/** Backups that the service makes by itself, where its configuration says so. */
export function scheduledBackups(options: ScheduledBackupsOptions): Periodic[] {
  const { config, relational, columnar, served, clock, logger, metrics } = options
  const { directory, everyHours, keep } = config.backups
  if (everyHours === 0) return []
  const copies = openBackupCopies(config, directory, clock)
  metrics.gauge(
    'millrace_backup_age_seconds',
    'Age of the last backup; NaN while there is none',
    async () => {
      const [id] = await listBackups(directory)
      if (id === undefined) return Number.NaN
      const last = await readManifest(directory, id, config.backupKey).catch(() => undefined)
      return last === undefined ? Number.NaN : (clock.now() - Date.parse(last.at)) / 1_000
    },
  )
  return [
    {
      name: 'backups',
      everySeconds: everyHours * 3_600,
      async run() {
        if (!(await served)) return
        const { manifest, written, bytes } = await createBackup({ config, directory, relational, columnar })
        const removed = await removeBackups(directory, keep)
        const sent = await copies?.copy(manifest)
        await copies?.prune(keep)
        logger.info({ id: manifest.id, bytes, written, removed, ...(copies && { sent }) }, 'backed up')
      },
    },
  ]
}
