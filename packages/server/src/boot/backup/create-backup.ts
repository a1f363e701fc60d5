import { link, mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import pg from 'pg'
import type { ColumnarFigures } from '../../database/columnar-tables.ts'
import { batchLockKey } from '../../features/events/loading/checkpoint-store.ts'
import type { Config } from '../../platform/config/config.ts'
import { forEachAtOnce } from '../../platform/limits/at-once.ts'
import { type Columnar, ColumnarError, ColumnarUnavailable } from '../../platform/stores/columnar.ts'
import { connectionConfig, type PostgresAddress } from '../../platform/stores/relational.ts'
import { SEGMENT_HEADER_BYTES } from '../../platform/stores/segment-frame.ts'
import { version } from '../../platform/version.ts'
import {
  BackupRefused,
  beginBackup,
  listBackups,
  type Manifest,
  newBackupId,
  readManifest,
  removeFrom,
  unlessMissing,
} from './backup-files.ts'
import { eventsAtServer, eventsInDirectory } from './held-events.ts'
import { filesBelow, packFiles, readPart } from './part-packs.ts'
import { copyOut, holdTables, lastMigration, listTables, readSequences } from './relational-copy.ts'

export interface CreateBackupOptions {
  readonly config: Pick<
    Config,
    'dataDirectory' | 'contentDirectory' | 'backupKey' | 'diskReserveBytes' | 'columnar'
  >
  /** Where backups are. */
  readonly directory: string
  /** Of the role that owns the tables. */
  readonly relational: PostgresAddress
  /** The engine in the data directory, or the server of `CLICKHOUSE_URL`. */
  readonly columnar: Pick<Columnar, 'query' | 'command' | 'stream'>
  /** Told of each step. */
  readonly onStep?: (step: string) => void
}

export interface Created {
  readonly manifest: Manifest
  /** Bytes that were written, and of all files. */
  readonly written: number
  readonly bytes: number
}

/** A batch ends within seconds; a loader that hangs is no reason to wait for ever. */
const momentWithinMs = 120_000

/** Of the lock that one backup holds at a time. */
const backupLockKey = 7_311_012

/** Of what a backup makes in the data directory while it works. */
const prefix = 'backup_'

/**
 * Backs up a running service. Everything is of one moment between two batches: rows of the relational store in one
 * transaction, parts of the columnar store as hard links (at a server: as clones of its tables), the log as it lies
 * there. So the restored service loads exactly what it had accepted and not loaded. Events are accepted all the time, and loaded but for that moment.
 */
export async function createBackup(options: CreateBackupOptions): Promise<Created> {
  const { directory } = options
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const client = new pg.Client({ ...connectionConfig(options.relational), connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('set statement_timeout = 0')
    const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [backupLockKey])
    if (rows[0]?.locked !== true) throw new BackupRefused('Another backup is being made: wait for its end')
    return await backUp(client, options)
  } finally {
    await client.end().catch(() => {})
  }
}

async function backUp(client: pg.Client, options: CreateBackupOptions): Promise<Created> {
  const { config, directory, columnar, onStep = () => {} } = options
  const { dataDirectory, contentDirectory, backupKey } = config
  const run = join(dataDirectory, 'run')
  // What a backup that was killed has left.
  await removeFrom(directory, (name) => name.endsWith('.partial'))
  await removeFrom(run, (name) => name.startsWith(prefix))
  const now = new Date()
  const id = newBackupId(now)
  const [last] = await listBackups(directory)
  // One that cannot be read is no reason not to make another.
  const former = last ? await readManifest(directory, last, backupKey).catch(() => undefined) : undefined
  // As everything that is large, so that events have their room where the disk is the same.
  const keepsFree = 2 * config.diskReserveBytes
  const backup = await beginBackup({ directory, id, key: backupKey, former, keepsFree })
  // The engine writes other characters in another way.
  const name = `${prefix}${id.replaceAll('-', '_')}`
  const staged = join(run, name)
  const events =
    config.columnar.url === undefined
      ? eventsInDirectory({ columnar, dataDirectory, prefix, name })
      : eventsAtServer({
          columnar,
          home: join(run, `${name}_server`),
          name,
          keepsFree,
          lockAt: options.relational,
        })
  try {
    await events.clear()
    onStep('waiting for the moment between two batches')
    await client.query(`set lock_timeout = ${momentWithinMs}`)
    await client.query('select pg_advisory_lock($1)', [batchLockKey]).catch((cause: unknown) => {
      throw new BackupRefused(
        'The process that loads events holds its batch for minutes: try again later',
        cause,
      )
    })
    await client.query('begin isolation level repeatable read read only')
    const relationalMigration = await lastMigration(client)
    const relationalTables = await listTables(client)
    await holdTables(client, relationalTables)
    await linkFiles(join(dataDirectory, 'log'), staged)
    await events.hold()
    await client.query('select pg_advisory_unlock($1)', [batchLockKey])

    onStep('copying events')
    const { migration, tables } = await events.freeze()
    const columnarRows: Record<string, number> = {}
    const columnarParts: Record<string, Readonly<Record<string, string>>> = {}
    for (const table of tables) {
      const { rows, places } = await copyParts(backup, table)
      columnarRows[table.name] = rows
      columnarParts[table.name] = places
    }
    onStep('copying accounts and definitions')
    const relationalRows: Record<string, number> = {}
    for (const table of relationalTables) {
      const rows = copyOut(client, table)
      await backup.write(`relational/${table.name}`, rows)
      relationalRows[table.name] = rows.rowCount
    }
    await backup.write(
      'relational/sequences.json',
      Readable.from([JSON.stringify(await readSequences(client))]),
    )
    await client.query('commit')
    onStep('copying the log and contents')
    for (const file of await readdir(staged)) {
      const written = withoutZeros(await readFile(join(staged, file)))
      await backup.write(`log/${file}`, Readable.from([written]))
    }
    await copyContents(backup, contentDirectory)
    const manifest = await backup.finish({
      version,
      at: now.toISOString(),
      relationalMigration,
      columnarMigration: migration,
      relationalRows,
      columnarRows,
      columnarParts,
    })
    return {
      manifest,
      written: backup.written,
      bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    }
  } catch (error) {
    await backup.abandon()
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
      throw new BackupRefused(`The disk of ${directory} is full: nothing of this backup is left there`, error)
    if (error instanceof ColumnarUnavailable)
      throw new BackupRefused(
        'The engine of the statistics does not answer, or was started again meanwhile: try again in a moment',
        error,
      )
    if (error instanceof ColumnarError)
      throw new BackupRefused(`The engine of the statistics refused: ${error.message}`, error)
    throw error
  } finally {
    await rm(staged, { recursive: true, force: true })
    await events.release()
  }
}

/** Not the spare segment, and not the lock. */
const isOfLog = (name: string): boolean => name === 'id' || name.includes('.log')

/** The segments as they are now: those that are released meanwhile stay. */
async function linkFiles(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (entry.isFile() && isOfLog(entry.name)) await link(join(from, entry.name), join(to, entry.name))
  }
}

type FrozenTable = ColumnarFigures['tables'][number]
type Backup = Awaited<ReturnType<typeof beginBackup>>

/** A segment is filled with zeros before it is written to; what is written ends with a line, its head apart. */
function withoutZeros(segment: Buffer): Buffer {
  let end = segment.length
  while (end > SEGMENT_HEADER_BYTES && segment[end - 1] === 0) end--
  return segment.subarray(0, end)
}

/** How many are written at once: each waits for the disk at its end. */
const packsAtOnce = 4

/**
 * The parts of a table, each under its fingerprint: they never change, so one that the former backup has, under whatever
 * name, is taken from there.
 */
async function copyParts(backup: Backup, { name: table, parts, path: from }: FrozenTable) {
  const names = await unlessMissing(readdir(from), [])
  if (parts > 0 && names.length === 0) throw new Error(`The engine has frozen no part of ${table} in ${from}`)
  const places: Record<string, string> = {}
  const packs = new Map<string, () => Readable>()
  let rows = 0
  for (const part of names) {
    const read = await readPart(join(from, part))
    const place = `columnar/${table}/${read.fingerprint}`
    places[part] = place
    rows += read.rows
    for (const [n, files] of read.packs.entries())
      packs.set(`${place}/${n}`, () => packFiles(join(from, part), files))
  }
  await forEachAtOnce(packs, packsAtOnce, async ([path, pack]) => {
    if (!(await backup.reuse(path))) await backup.write(path, pack())
  })
  return { rows, places }
}

/** Files that are removed meanwhile are left out: the rows that were made of them are there. */
async function copyContents(backup: Backup, directory: string): Promise<void> {
  for (const file of await unlessMissing(filesBelow(directory), [])) {
    const name = `contents/${file}`
    if (await backup.reuse(name)) continue
    const handle = await unlessMissing(open(join(directory, file)), undefined)
    if (handle) await backup.write(name, handle.createReadStream())
  }
}
