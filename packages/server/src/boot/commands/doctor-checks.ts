import { stat } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { createKeyRotationStore, everySealedColumn } from '../../features/encryption/key-rotation-store.ts'
import type { Config } from '../../platform/config/config.ts'
import { readFreeBytes } from '../../platform/files/disk-reserve.ts'
import type { Columnar } from '../../platform/stores/columnar.ts'
import type { Relational } from '../../platform/stores/relational.ts'
import { program, version } from '../../platform/version.ts'
import { listBackups, readManifest } from '../backup/backup-files.ts'
import { listClones } from '../backup/held-events.ts'
import { openConfiguredBox } from './command-stores.ts'
import { readMigrationState } from './pending-migrations-store.ts'

export type State = 'ok' | 'look' | 'bad'

/** What a look found, and what to do about it. */
export interface Finding {
  readonly state: State
  readonly says: string
  readonly remedy?: string
}

/** One thing that is looked at. */
export interface Check {
  readonly name: string
  readonly look: () => Promise<Finding | readonly Finding[]>
}

const ok = (says: string): Finding => ({ state: 'ok', says })
export const worthALook = (says: string, remedy: string): Finding => ({ state: 'look', says, remedy })
export const bad = (says: string, remedy: string): Finding => ({ state: 'bad', says, remedy })

const mebibyte = 1024 * 1024
const leaving = (parts: number): string =>
  parts === 0 ? '' : `; ${parts} parts still have the bytes of removed rows`

const gibibytes = (bytes: number): string => `${(bytes / (1024 * mebibyte)).toFixed(1)} GiB`
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Parts of one partition beyond which the engine slows inserts down (parts_to_delay_insert is 1,000). */
const manyParts = 300
const oldSeconds = 600

/** What needs no running service. */
export function checksOfPlace(config: Config): Check[] {
  const { dataDirectory, diskReserveBytes, backups } = config
  return [
    {
      name: 'program',
      look: async () =>
        ok(`${program} ${version} on Node.js ${process.versions.node}, ${process.platform} ${process.arch}`),
    },
    {
      name: 'data directory',
      async look() {
        const found = await stat(dataDirectory).catch(() => undefined)
        if (!found)
          return bad(
            `${dataDirectory} is not there`,
            'Start the service, or set MILLRACE_DATA_DIR to what it has.',
          )
        if ((found.mode & 0o077) !== 0)
          return worthALook(`${dataDirectory} can be read by others`, `chmod 700 ${dataDirectory}`)
        return ok(`${dataDirectory}, readable by its owner alone`)
      },
    },
    {
      name: 'disk',
      async look() {
        const free = await readFreeBytes(dataDirectory)
        const says = `${gibibytes(free)} are free`
        const remedy =
          'Make room, keep events for fewer days (docs/data-life.md), or move the data directory.'
        if (free <= diskReserveBytes) return bad(`${says}: events are refused`, remedy)
        return free <= 2 * diskReserveBytes
          ? worthALook(`${says}: uploads and imports are refused`, remedy)
          : ok(says)
      },
    },
    {
      name: 'backups',
      async look() {
        const [id] = await listBackups(backups.directory)
        const remedy = 'npm run millrace -- backup create, or set MILLRACE_BACKUP_EVERY_HOURS.'
        if (id === undefined) return worthALook(`there is none in ${backups.directory}`, remedy)
        const { at } = await readManifest(backups.directory, id, config.backupKey)
        const days = (Date.now() - Date.parse(at)) / 86_400_000
        const says = `the last is of ${at}`
        return days > 7 ? worthALook(`${says}, more than a week ago`, remedy) : ok(says)
      },
    },
  ]
}

export interface Reached {
  readonly relational: Relational
  readonly columnar: Pick<Columnar, 'query' | 'ping'>
  readonly baseUrl: string
}

/** What a running service, its stores and its queues say. */
export function checksOfService(config: Config, { relational, columnar, baseUrl }: Reached): Check[] {
  const origin = baseUrl.replace(/\/v2$/, '')
  const ask = async <T>(sql: string): Promise<T[]> => (await relational.pool.query(sql)).rows as T[]
  return [
    {
      name: 'service',
      async look() {
        const reply = await fetch(`${origin}/health/ready`, { signal: AbortSignal.timeout(5_000) })
        const { parts = {} } = (await reply.json()) as { parts?: Record<string, string> }
        const down = Object.entries(parts).filter(([, state]) => state !== 'ok')
        if (down.length === 0) return ok(`answers at ${origin} and is ready`)
        return down.map(([part, why]) =>
          bad(`${part}: ${why}`, 'Its log says more; docs/operating.md, Health and metrics.'),
        )
      },
    },
    {
      name: 'relational store',
      async look() {
        const [row] = await ask<{ version: string; seconds: number; size: string }>(
          `select current_setting('server_version') as version,
             abs(extract(epoch from clock_timestamp()) - ${Date.now() / 1_000})::float8 as seconds,
             pg_size_pretty(pg_database_size(current_database())) as size`,
        )
        const says = `PostgreSQL ${row?.version}, ${row?.size}`
        return (row?.seconds ?? 0) > 5
          ? worthALook(
              `${says}: its clock differs by ${row?.seconds.toFixed(0)} s`,
              'Let both machines keep time by NTP.',
            )
          : ok(says)
      },
    },
    {
      name: 'columnar store',
      async look() {
        const [row] = await columnar.query<{ version: string; bytes: number; masked: number }>({
          sql: `SELECT version() AS version, sum(bytes_on_disk) AS bytes, countIf(has_lightweight_delete) AS masked
                FROM system.parts WHERE active AND database = currentDatabase()`,
        })
        const full = await columnar.query<{ table: string; parts: number }>({
          sql: `SELECT table, max(parts) AS parts FROM (SELECT table, partition_id, count() AS parts FROM system.parts
                  WHERE active AND database = currentDatabase() GROUP BY table, partition_id)
                GROUP BY table HAVING parts > ${manyParts}`,
        })
        const stuck = await columnar.query<{ table: string; why: string }>({
          sql: `SELECT table, any(latest_fail_reason) AS why FROM system.mutations
                WHERE database = currentDatabase() AND NOT is_done AND latest_fail_reason != '' GROUP BY table`,
        })
        return [
          ok(`ClickHouse ${row?.version}, ${gibibytes(row?.bytes ?? 0)}${leaving(row?.masked ?? 0)}`),
          ...full.map(({ table, parts }) =>
            worthALook(
              `${table} has ${parts} parts in one month`,
              'Merges do not keep up: look at its disk and processor.',
            ),
          ),
          ...stuck.map(({ table, why }) =>
            bad(
              `nothing is removed from ${table}: ${why}`,
              'Mend what it names; the removal goes on by itself.',
            ),
          ),
        ]
      },
    },
    {
      name: 'migrations',
      async look() {
        const { pending, unknown } = await readMigrationState({ relational, columnar })
        if (unknown.length > 0)
          return bad(
            `a newer version has set the stores up: ${version} does not know ${unknown.join(', ')}`,
            'Run the version that made them, or a later one.',
          )
        if (pending.length === 0) return ok('the stores are those of this version')
        return pending.map(({ store, file, about, rows, seconds }) => {
          const tables = [...rows].map(([table, count]) => `${table} (${count} rows)`).join(', ')
          const takes = seconds > 1 ? `goes through ${tables}, about ${seconds} s` : 'takes a moment'
          return worthALook(
            `${store}, at the next start of ${version}: ${file} (${about}) ${takes}`,
            'Back up before; docs/operating.md, Upgrade.',
          )
        })
      },
    },
    {
      name: 'quarantine',
      async look() {
        const [row] = await columnar.query<{ rows: number }>({
          sql: 'SELECT count() AS rows FROM events_quarantine',
        })
        return row?.rows
          ? worthALook(
              `${row.rows} events could not be stored`,
              'The log of their datasource says why; report it.',
            )
          : ok('no event is in it')
      },
    },
    {
      name: 'loading',
      async look() {
        const lag = (await readMetrics(origin, config)).get('millrace_load_lag_seconds')
        if (lag === undefined)
          return worthALook('its lag is not told', 'Set MILLRACE_METRICS_TOKEN as the service has it.')
        return lag > 60
          ? bad(
              `the oldest event waits for ${lag.toFixed(0)} s`,
              'Its log says what fails; events are safe meanwhile.',
            )
          : ok('events are in the statistics within seconds')
      },
    },
    {
      name: 'event log',
      async look() {
        const metrics = await readMetrics(origin, config)
        const damages = metrics.get('millrace_log_damages') ?? 0
        const failures = metrics.get('millrace_log_failures_total') ?? 0
        return damages + failures > 0
          ? bad(
              `${damages} damages and ${failures} failed writes since the start`,
              'Look at the disk: it refuses or loses what it was given.',
            )
          : ok('every write was confirmed')
      },
    },
    {
      name: 'keys',
      async look() {
        const { keyIds } = openConfiguredBox(config)
        const store = createKeyRotationStore(relational.db)
        const missing = new Map<string, number>()
        for (const column of everySealedColumn) {
          for (const [id, count] of await store.countByKey(column)) {
            if (!keyIds.includes(id)) missing.set(id, (missing.get(id) ?? 0) + count)
          }
        }
        if (missing.size === 0) return ok('every secret can be opened')
        return [...missing].map(([id, count]) =>
          bad(
            `${count} secrets are sealed under the key ${id}, which is not given`,
            'Add it to MILLRACE_ENCRYPTION_KEY.',
          ),
        )
      },
    },
    {
      name: 'mails',
      async look() {
        const [row] = await ask<{ failed: number }>(
          `select count(*)::int as failed from outgoing_mails where failed_at is not null`,
        )
        if (row?.failed) return worthALook(`${row.failed} were given up`, 'Look at SMTP_URL and at the log.')
        if (config.mail.smtpUrl === undefined)
          return worthALook(
            `are files in ${join(config.dataDirectory, 'outbox')}`,
            'Set SMTP_URL to send them.',
          )
        const { hostname, port } = new URL(config.mail.smtpUrl)
        const reached = await connects(hostname, Number(port || 25))
        return reached === undefined
          ? ok(`${hostname} answers`)
          : bad(`${hostname}: ${reached}`, 'Look at SMTP_URL and the network.')
      },
    },
    {
      name: 'outgoing',
      async look() {
        const [row] = await ask<{ imports: number; exports: number }>(
          `select (select count(*)::int from worker_datasources where failure is not null) as imports,
             (select count(*)::int from statistics_exports where state = 'failed') as exports`,
        )
        return row && row.imports + row.exports > 0
          ? worthALook(
              `the last import of ${row.imports} datasources and ${row.exports} exports failed`,
              'Each says why in the console; docs/datasources.md and docs/data-life.md.',
            )
          : ok('no import and no export has failed last')
      },
    },
    {
      name: 'tables',
      async look() {
        const clones = await listClones(columnar)
        // Those of datasources that are gone the service removes by itself.
        return clones.length > 0
          ? worthALook(
              `${clones.join(', ')} are left of a backup, unless one is being made`,
              'The next one removes them: npm run millrace -- backup create.',
            )
          : ok('each belongs to something')
      },
    },
    {
      name: 'removals',
      async look() {
        const [row] = await ask<{ purges: number; erasures: number }>(
          `select (select count(*)::int from event_purges
               where finished_at is null and coalesce(restored_at,
                 case when uncounted_since is null then requested_at else purge_after end)
                 < now() - make_interval(secs => ${oldSeconds})) as purges,
             (select count(*)::int from person_erasures
               where finished_at is null and requested_at < now() - make_interval(secs => ${oldSeconds})) as erasures`,
        )
        const late = (row?.purges ?? 0) + (row?.erasures ?? 0)
        return late > 0
          ? worthALook(
              `${row?.purges} datasources and ${row?.erasures} persons wait for more than ten minutes`,
              'Its log says what fails; large tables take their time.',
            )
          : ok('nothing waits for long')
      },
    },
  ]
}

/** Figures without labels by their names. */
async function readMetrics(origin: string, { http }: Config): Promise<Map<string, number>> {
  const reply = await fetch(`${origin}/metrics`, {
    signal: AbortSignal.timeout(5_000),
    ...(http.metricsToken && { headers: { authorization: `Bearer ${http.metricsToken}` } }),
  })
  if (!reply.ok) return new Map()
  const lines = (await reply.text()).split('\n').filter((line) => /^\w+ /.test(line))
  return new Map(lines.map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]))
}

/** @returns why not, where it does not */
function connects(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve: end } = Promise.withResolvers<string | undefined>()
  const socket = createConnection({ host, port, timeout: 3_000 })
  socket.once('connect', () => end(undefined))
  socket.once('timeout', () => end('no answer within 3 s'))
  socket.once('error', (error) => end(error.message))
  return promise.finally(() => socket.destroy())
}
