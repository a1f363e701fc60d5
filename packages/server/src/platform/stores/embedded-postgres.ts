import { closeSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import type { Logger } from '../logger.ts'
import { ChildFailed, type ChildLogLine, type ChildSpec, type SupervisedChild } from '../processes/child.ts'
import { superviseChild } from '../processes/supervisor.ts'
import { postgresAccount } from './postgres/account.ts'
import { postgresBinaries } from './postgres/binaries.ts'
import {
  directoryDescriptor,
  holdsCluster,
  initialise,
  removeDrafts,
  startFailed,
} from './postgres/directory.ts'
import { clearLeftovers, stopSteps } from './postgres/leftovers.ts'
import { ensureDatabase, ensurePrivileges, ensureRoles } from './postgres/roles.ts'
import {
  applicationRole,
  databaseName,
  ownerRole,
  port,
  settingArguments,
  superuser,
} from './postgres/settings.ts'
import { clearSocket, makeSocketDirectory, socketDirectory } from './postgres/socket.ts'
import type { SocketAddress } from './relational.ts'

/** A PostgreSQL of our own: a child process, its data in the data directory, reached by a Unix socket only. */
export interface EmbeddedPostgres {
  /** For `openRelational`: may read and write rows. */
  readonly application: SocketAddress
  /** For migrations: owns the tables. */
  readonly owner: SocketAddress
  readonly superuser: SocketAddress
  readonly child: SupervisedChild
  /** Connections still open are cut off; what was committed is on disk in any case. */
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  /** `<data directory>/postgres`. The caller holds the lock on the data directory. */
  readonly directory: string
  /** For pid and socket; absolute, exists. */
  readonly runPath: string
  readonly logger: Logger
  /** Differences from the built-in settings; for tests. */
  readonly settings?: Readonly<Record<string, string>>
  readonly initArguments?: readonly string[]
}

/** Addresses of the server that works, or would work, with this run path. */
export function embeddedAddresses(
  runPath: string,
): Pick<EmbeddedPostgres, 'application' | 'owner' | 'superuser'> {
  const socket = socketDirectory(runPath)
  const as = (user: string, database: string): SocketAddress => ({ socketDirectory: socket, user, database })
  return {
    application: as(applicationRole, databaseName),
    owner: as(ownerRole, databaseName),
    superuser: as(superuser, 'postgres'),
  }
}

const levels: Readonly<Record<string, ChildLogLine['level']>> = {
  PANIC: 'error',
  FATAL: 'warn',
  WARNING: 'warn',
  // What a statement did wrong is reported to the client.
  ERROR: 'debug',
  LOG: 'debug',
}

function logLine(line: string): ChildLogLine {
  const [, severity = '', message = line] = /^([A-Z]+\d?):\s+(.*)$/.exec(line) ?? []
  return { level: levels[severity] ?? (severity === '' ? 'info' : 'debug'), message }
}

async function withClient(
  address: SocketAddress,
  signal: AbortSignal,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({
    host: address.socketDirectory,
    port,
    user: address.user,
    database: address.database,
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
  })
  client.on('error', () => {})
  const end = (): void => void client.end().catch(() => {})
  signal.addEventListener('abort', end)
  try {
    await client.connect()
    await work(client)
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}

/** SQLSTATE of a database that does not exist (PostgreSQL, appendix A). */
const unknownDatabase = '3D000'

/** Any answer of the server shows that it works, "too many connections" too. */
async function answers(address: SocketAddress, signal: AbortSignal): Promise<void> {
  try {
    await withClient(address, signal, async (client) => void (await client.query('select 1')))
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code === '57P03') throw error
  }
}

/**
 * Starts it, making the cluster first where there is none.
 * @throws {StartRefused} the directory is damaged, or the machine cannot run it; nothing is deleted
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { directory, runPath, logger } = options
  const account = await postgresAccount(directory)
  const spare = account === undefined ? join(dirname(directory), 'programs') : '/var/cache/millrace'
  const binaries = await postgresBinaries(account, spare)
  await removeDrafts(directory, logger)
  const isNew = !holdsCluster(directory, binaries.version)
  if (isNew) {
    logger.info({ directory, version: binaries.version }, 'making a PostgreSQL cluster')
    await initialise(directory, binaries, account, options.initArguments)
  }
  const addresses = embeddedAddresses(runPath)
  const socket = addresses.superuser.socketDirectory
  makeSocketDirectory(socket, account)

  const descriptors: number[] = []
  const closeDescriptors = (): void => {
    for (const descriptor of descriptors.splice(0)) closeSync(descriptor)
  }
  const place = account === undefined ? directory : directoryDescriptor
  const socketPlace = account === undefined ? socket : '/proc/self/fd/4'
  const spec: ChildSpec = {
    name: 'postgres',
    command: binaries.postgres,
    args: ['-D', place, ...settingArguments({ ...options.settings, unix_socket_directories: socketPlace })],
    environment: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' },
    ...(account === undefined ? {} : { user: { uid: account.uid, gid: account.gid } }),
    descriptors() {
      closeDescriptors()
      // Each is remembered as it is opened: the next one may fail.
      if (account !== undefined) for (const path of [directory, socket]) descriptors.push(openSync(path, 'r'))
      return descriptors
    },
    pidFile: join(runPath, 'postgres.pid'),
    parentDeathSignal: 'SIGINT',
    async prepare() {
      await clearLeftovers(directory, logger)
      clearSocket(socket)
    },
    async ready(child) {
      // Asking earlier fills the log with refusals while a crash is being recovered from.
      await child.line(/ready to accept connections/)
      const prepare = (): Promise<void> =>
        withClient({ ...addresses.superuser, database: databaseName }, child.signal, async (client) => {
          await ensureRoles(client)
          await ensurePrivileges(client)
        })
      const make = (): Promise<void> =>
        withClient(addresses.superuser, child.signal, async (client) => {
          await ensureRoles(client)
          await ensureDatabase(client)
        })
      if (isNew) await make()
      try {
        await prepare()
      } catch (error) {
        if (!(error instanceof pg.DatabaseError && error.code === unknownDatabase)) throw error
        await make()
        await prepare()
      }
    },
    // Recovery after a crash reads at most max_wal_size, on the slowest disk in about this time.
    readyWithinMs: 180_000,
    probe: {
      run: (signal) => answers(addresses.superuser, signal),
      // Each is a process of the server's.
      everyMs: 30_000,
      againMs: 10_000,
      withinMs: 10_000,
      failures: 3,
    },
    stop: stopSteps,
    log: logLine,
  }
  const child = superviseChild(spec, { logger })
  try {
    await child.start()
  } catch (error) {
    closeDescriptors()
    if (error instanceof ChildFailed) throw startFailed(directory, error.output, error)
    throw error
  }
  return {
    ...addresses,
    child,
    async stop() {
      await child.stop()
      closeDescriptors()
    },
  }
}
