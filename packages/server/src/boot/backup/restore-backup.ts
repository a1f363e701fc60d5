import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { openToApplication } from '../../database/application-role.ts'
import {
  attachParts,
  columnarFigures,
  copyTable,
  countRows,
  tableNames,
} from '../../database/columnar-tables.ts'
import { migrateColumnar, migrateRelational } from '../../database/migrate.ts'
import { silentLogger } from '../../platform/logger.ts'
import { type Columnar, ColumnarError, ColumnarUnavailable } from '../../platform/stores/columnar.ts'
import { openColumnar } from '../../platform/stores/columnar-client.ts'
import { embeddedColumnar } from '../../platform/stores/columnar-embedded.ts'
import { startEmbeddedPostgres } from '../../platform/stores/embedded-postgres.ts'
import { applicationRole } from '../../platform/stores/postgres/settings.ts'
import { connectionConfig, type PostgresAddress } from '../../platform/stores/relational.ts'
import { openDatabaseOf } from '../open-stores.ts'
import {
  BackupRefused,
  checkFiles,
  extract,
  type Manifest,
  readBackupFile,
  readManifest,
} from './backup-files.ts'
import { repeatErasures } from './erasure-records.ts'
import { unpackFiles } from './part-packs.ts'
import { copyIn, fillTables, listTables, writeSequences } from './relational-copy.ts'

const draftEnding = '.restoring'

export interface RestoreOptions {
  /** Where backups are. */
  readonly directory: string
  readonly id: string
  readonly key: Buffer | undefined
  /** Told of each step. */
  readonly onStep?: (step: string) => void
}

/** A PostgreSQL of the operator's own, which is empty. */
export interface RestoreDatabase {
  readonly url: string
  readonly ownerUrl: string | undefined
}

/**
 * Makes a data directory of a backup, and fills databases of servers where there are to be some. Everything is compared
 * with the manifest before; the directory has another name until it is whole, and the servers are filled before that.
 * @param to absent or empty
 * @throws {BackupRefused}
 */
export async function restoreBackup(
  options: RestoreOptions & {
    readonly to: string
    readonly database?: RestoreDatabase | undefined
    /** A ClickHouse of the operator's own, whose database is empty. */
    readonly columnarUrl?: string | undefined
  },
): Promise<Manifest> {
  const to = resolve(options.to)
  const found = await readdir(to).catch(() => [])
  if (found.length > 0) throw new BackupRefused(`${to} is not empty: name a directory that is, or none`)
  await removeDrafts(to)
  // A name of its own: stores of a restore that was killed may not have ended yet.
  const draft = join(dirname(to), `${basename(to)}.${randomBytes(3).toString('hex')}${draftEnding}`)
  const { database, columnarUrl } = options
  const server = columnarUrl === undefined ? undefined : await openServer(columnarUrl)
  try {
    const manifest = await fill(draft, options, { isKept: true, database, server })
    await rmdir(to).catch(() => {})
    await rename(draft, to)
    return manifest
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  } finally {
    await server?.close()
  }
}

/** What restores to the same place have left that were killed. */
async function removeDrafts(to: string): Promise<void> {
  const names = await readdir(dirname(to)).catch(() => [])
  for (const name of names)
    if (name.startsWith(`${basename(to)}.`) && name.endsWith(draftEnding))
      await rm(join(dirname(to), name), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
}

/** Restores a backup to a place that is removed again, and compares what is there with what it had. */
export async function verifyBackup(options: RestoreOptions): Promise<Manifest> {
  const place = await mkdtemp(join(tmpdir(), 'millrace-verify-'))
  try {
    return await fill(join(place, 'data'), options)
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

interface Target {
  /** Whether a service will work on it, so that persons who were erased since have to be erased again. */
  readonly isKept: boolean
  readonly database?: RestoreDatabase | undefined
  /** Takes the events, in the place of the engine in the directory. */
  readonly server?: Columnar | undefined
}

/** @throws {BackupRefused} it cannot be used, or its database is not empty */
async function openServer(url: string): Promise<Columnar> {
  const server = openColumnar({ address: { url } })
  try {
    // Those of another program would be taken for ours.
    const [table] = await tableNames(server)
    if (table !== undefined)
      throw new BackupRefused(
        `The database of CLICKHOUSE_URL is not empty, it has the table ${table}: name one that is, or none`,
      )
    return server
  } catch (error) {
    await server.close()
    if (error instanceof ColumnarUnavailable || error instanceof ColumnarError)
      throw new BackupRefused(
        `CLICKHOUSE_URL cannot be used: ${(error.cause as Error | undefined)?.message ?? error.message}`,
        error,
      )
    throw error
  }
}

/** The database that is filled: that of the operator, or one in the directory. */
async function openDatabase(data: string, database: RestoreDatabase | undefined): Promise<OpenedDatabase> {
  if (!database) {
    const postgres = await startEmbeddedPostgres({
      directory: join(data, 'postgres'),
      runPath: join(data, 'run'),
      logger: silentLogger,
    })
    return { owner: postgres.owner, role: applicationRole, close: postgres.stop }
  }
  const { relational, ownerAddress, applicationRole: role } = await openDatabaseOf(database, silentLogger)
  await relational.close()
  await withClient(ownerAddress, async (client) => {
    // Those of another program would be emptied.
    const [table] = await listTables(client)
    if (table)
      throw new BackupRefused(
        `The database of DATABASE_URL is not empty, it has the table ${table.name}: name one that is, or none`,
      )
  })
  return { owner: ownerAddress, role, close: async () => {} }
}

interface OpenedDatabase {
  readonly owner: PostgresAddress
  /** Whom the service works as, where that is not the owner. */
  readonly role: string | undefined
  close(): Promise<void>
}

async function withClient(
  address: PostgresAddress,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client(connectionConfig(address))
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

async function fill(
  data: string,
  options: RestoreOptions,
  { isKept, database, server }: Target = { isKept: false },
): Promise<Manifest> {
  const { directory, id, key, onStep = () => {} } = options
  const manifest = await readManifest(directory, id, key)
  onStep('comparing every file with the manifest')
  await checkFiles(directory, manifest)
  await mkdir(join(data, 'run'), { recursive: true, mode: 0o700 })
  // As a directory that a service has used: its mode is the service's to keep.
  await writeFile(join(data, 'lock'), '', { mode: 0o600 })
  const read = (path: string) => readBackupFile(directory, manifest, path, key)
  onStep('copying the log and contents')
  for (const { path } of manifest.files) {
    if (path.startsWith('log/')) await extract(read(path), join(data, path))
    if (path.startsWith('contents/'))
      await extract(read(path), join(data, 'datasources', path.slice('contents/'.length)))
  }
  const { owner, role, close } = await openDatabase(data, database)
  try {
    onStep('restoring events')
    await fillColumnar(data, manifest, read, owner, server)
    onStep('restoring accounts and definitions')
    const migrating = {
      address: owner,
      logger: silentLogger,
      ...(role !== undefined && { applicationRole: role }),
    }
    await migrateRelational({ ...migrating, upTo: manifest.relationalMigration })
    await withClient(owner, async (client) => {
      await fillRelational(client, manifest, read)
      if (!isKept) return
      await migrateRelational(migrating)
      const repeated = await repeatErasures(client, directory, manifest.at)
      if (repeated > 0) onStep(`asking again for ${repeated} erasures that were made since`)
    })
    if (role !== undefined) await openToApplication({ owner, role, logger: silentLogger })
  } finally {
    await close()
  }
  return manifest
}

type Read = (path: string) => ReturnType<typeof readBackupFile>

async function fillRelational(
  client: pg.Client,
  { id, files, relationalRows }: Manifest,
  read: Read,
): Promise<void> {
  const paths = new Set(files.map(({ path }) => path))
  await fillTables(client, Object.keys(relationalRows), async (tables) => {
    const names = new Set(tables.map(({ name }) => name))
    const strange = Object.keys(relationalRows).filter((name) => !names.has(name))
    if (strange.length > 0)
      throw new BackupRefused(
        `The backup ${id} has tables that this version does not know: ${strange.join(', ')}`,
      )
    for (const table of tables) {
      const path = `relational/${table.name}`
      if (!paths.has(path)) continue
      requireRows(id, table.name, relationalRows[table.name], await copyIn(client, table, read(path)))
    }
    const sequences = JSON.parse(await text(read('relational/sequences.json'))) as Record<string, string>
    await writeSequences(client, sequences)
  })
}

async function fillColumnar(
  data: string,
  manifest: Manifest,
  read: Read,
  lockAt: PostgresAddress,
  server: Columnar | undefined,
): Promise<void> {
  const { id, columnarMigration, columnarRows } = manifest
  const { columnar, child } = embeddedColumnar({ dataDirectory: data, logger: silentLogger, yields: false })
  try {
    await child.start()
    await migrateColumnar({ columnar, lockAt, logger: silentLogger, upTo: columnarMigration })
    // Merges would replace rows that are counted; they go on at the next start.
    await columnar.command({ sql: 'SYSTEM STOP MERGES' })
    const { tables } = await columnarFigures(columnar)
    for (const { name, path } of tables) {
      const fill = manifest.columnarParts ? unpackParts : copyParts
      await attachParts(columnar, name, await fill(manifest, name, join(path, 'detached'), read))
      requireRows(id, name, columnarRows[name], await countRows(columnar, name))
    }
    if (server) {
      await migrateColumnar({ columnar: server, lockAt, logger: silentLogger, upTo: columnarMigration })
      for (const { name } of tables) await copyTable(columnar, server, name)
    }
  } finally {
    await columnar.close()
    await child.stop()
  }
  if (server) await rm(join(data, 'columnar'), { recursive: true, force: true })
}

/** Fills a directory with the parts of a table. @returns their names */
async function unpackParts(
  { id, files, columnarParts = {} }: Manifest,
  table: string,
  to: string,
  read: Read,
): Promise<string[]> {
  const packs = Map.groupBy(files, ({ path }) => dirname(path))
  const parts = Object.entries(columnarParts[table] ?? {})
  for (const [part, place] of parts) {
    if (!/^\w[\w-]*$/.test(part)) throw new BackupRefused(`The backup ${id} names a part ${part}`)
    for (const pack of packs.get(place) ?? []) await unpackFiles(read(pack.path), join(to, part))
  }
  return parts.map(([part]) => part)
}

/** The same of a backup of format 1, with files at `columnar/TABLE/PART/FINGERPRINT/FILE`. */
async function copyParts({ files }: Manifest, table: string, to: string, read: Read): Promise<string[]> {
  const parts = new Set<string>()
  for (const { path } of files) {
    const [kind, of, part = '', , ...rest] = path.split('/')
    if (kind !== 'columnar' || of !== table) continue
    parts.add(part)
    await extract(read(path), join(to, part, ...rest))
  }
  return [...parts]
}

function requireRows(id: string, table: string, expected: number | undefined, found: number): void {
  if (expected !== found)
    throw new BackupRefused(
      `${table} has ${found} rows after the restore, and ${expected} in the backup ${id}`,
    )
}
