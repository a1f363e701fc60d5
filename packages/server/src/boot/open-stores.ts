import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import type { DataDirectory } from '../platform/files/data-directory.ts'
import { DiskReserve, type FreeBytes, isSameDisk } from '../platform/files/disk-reserve.ts'
import type { Logger } from '../platform/logger.ts'
import type { SupervisedChild } from '../platform/processes/child.ts'
import { StartRefused } from '../platform/start-refused.ts'
import type { Columnar } from '../platform/stores/columnar.ts'
import { openColumnar } from '../platform/stores/columnar-client.ts'
import { embeddedColumnar } from '../platform/stores/columnar-embedded.ts'
import { startEmbeddedPostgres } from '../platform/stores/embedded-postgres.ts'
import { applicationRole } from '../platform/stores/postgres/settings.ts'
import {
  openRelational,
  type PostgresAddress,
  type Relational,
  RelationalUnavailable,
} from '../platform/stores/relational.ts'

/** The relational store with what migrations need to know of it. */
export interface OpenedRelational {
  readonly relational: Relational
  /** Of the role that owns the tables. */
  readonly ownerAddress: PostgresAddress
  /** Whom the service works as, where that is not the owner. */
  readonly applicationRole: string | undefined
  readonly child: SupervisedChild | undefined
  /** Whether all migrations are applied already, as to stores that tests share. */
  readonly isMigrated?: boolean
  close(): Promise<void>
}

/** The role that an address logs in as. */
async function roleOf({ pool }: Relational): Promise<string> {
  try {
    const { rows } = await pool.query<{ role: string }>('select current_user as role')
    return rows[0]?.role ?? ''
  } catch (error) {
    const reason = error instanceof RelationalUnavailable ? error.cause : error
    throw new StartRefused('inUse', `PostgreSQL cannot be used: ${(reason as Error).message}`, error)
  }
}

/** The relational store of `DATABASE_URL`. */
export async function openDatabaseOf(
  { url, ownerUrl }: { readonly url: string; readonly ownerUrl: string | undefined },
  logger: Logger,
): Promise<OpenedRelational> {
  const address = { url }
  const relational = openRelational({ address, logger })
  const opened = { relational, child: undefined, close: () => relational.close() }
  if (ownerUrl === undefined) {
    return { ...opened, ownerAddress: address, applicationRole: undefined }
  }
  try {
    const applicationRole = await roleOf(relational)
    return { ...opened, ownerAddress: { url: ownerUrl }, applicationRole }
  } catch (error) {
    await relational.close()
    throw error
  }
}

/** `DATABASE_URL`, or a PostgreSQL of our own as a child. */
export async function openRelationalStore(
  config: Config,
  dataDirectory: DataDirectory,
  logger: Logger,
): Promise<OpenedRelational> {
  const { url, ownerUrl } = config.relational
  if (url !== undefined) return openDatabaseOf({ url, ownerUrl }, logger)
  const postgres = await startEmbeddedPostgres({
    directory: join(dataDirectory.path, 'postgres'),
    runPath: dataDirectory.runPath,
    logger,
  })
  const relational = openRelational({ address: postgres.application, logger })
  return {
    relational,
    ownerAddress: postgres.owner,
    applicationRole,
    child: postgres.child,
    async close() {
      await relational.close()
      await postgres.stop()
    },
  }
}

export interface OpenedColumnar {
  readonly columnar: Columnar
  readonly child: SupervisedChild | undefined
  readonly isMigrated?: boolean
  /** Resolves when the engine has served once, which is tried again until it does, or when it is closed. */
  readonly serves: Promise<void>
  close(): Promise<void>
}

const firstPauseMilliseconds = 1_000
const maxPauseMilliseconds = 30_000

/** `CLICKHOUSE_URL`, or an engine of our own as a child. An engine that does not come up is no reason to refuse events. */
function openColumnarStore(config: Config, dataDirectory: DataDirectory, logger: Logger): OpenedColumnar {
  const home =
    config.columnar.url === undefined
      ? embeddedColumnar({ dataDirectory: dataDirectory.path, logger })
      : { columnar: openColumnar({ address: { url: config.columnar.url } }), child: undefined }
  const { columnar, child } = home
  const closing = new AbortController()
  const { signal } = closing
  async function start(): Promise<void> {
    for (
      let pause = firstPauseMilliseconds;
      !signal.aborted;
      pause = Math.min(2 * pause, maxPauseMilliseconds)
    ) {
      try {
        await (child ? child.start() : columnar.ping())
        return
      } catch (error) {
        logger.error({ err: error }, 'the columnar store does not come up; events wait in the log')
        await sleep(pause, undefined, { signal }).catch(() => {})
      }
    }
  }
  return {
    columnar,
    child,
    serves: start(),
    async close() {
      closing.abort()
      await columnar.close()
      await child?.stop()
    },
  }
}

export interface Stores {
  readonly columnar: OpenedColumnar
  readonly relational: Promise<OpenedRelational>
}

/** Begins to open both: their engines start side by side, while the rest of the service is loaded. */
export function openStores(config: Config, dataDirectory: DataDirectory, logger: Logger): Stores {
  const columnar = openColumnarStore(config, dataDirectory, logger)
  const relational = openRelationalStore(config, dataDirectory, logger)
  // It may fail before it is awaited.
  relational.catch(() => {})
  return { columnar, relational }
}

/** Of what takes the space of which disk. A database elsewhere has a disk of its own, which nobody here can ask. */
export async function openReserves(
  { contentDirectory, exportDirectory, diskReserveBytes, relational }: Config,
  dataDirectory: DataDirectory,
  clock: Clock,
  freeBytes: FreeBytes | undefined,
) {
  const reserveOf = (directory: string, reserveBytes: number) =>
    new DiskReserve({ directory, reserveBytes, clock, ...(freeBytes && { freeBytes }) })
  const data = reserveOf(dataDirectory.path, diskReserveBytes)
  async function reserveBeside(directory: string): Promise<DiskReserve> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const isShared = await isSameDisk(dataDirectory.path, directory)
    return isShared ? data : reserveOf(directory, diskReserveBytes)
  }
  return {
    data,
    contents: await reserveBeside(contentDirectory),
    exports: await reserveBeside(exportDirectory),
    rows: relational.url === undefined ? data : reserveOf(dataDirectory.path, 0),
  }
}
