import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { openToApplication } from '../../database/application-role.ts'
import { attachParts, columnarFigures, countRows } from '../../database/columnar-tables.ts'
import { migrateColumnar, migrateRelational } from '../../database/migrate.ts'
import { silentLogger } from '../../platform/logger.ts'
import { embeddedColumnar } from '../../platform/stores/columnar-embedded.ts'
import { startEmbeddedPostgres } from '../../platform/stores/embedded-postgres.ts'
import { applicationRole } from '../../platform/stores/postgres/settings.ts'
import { connectionConfig } from '../../platform/stores/relational.ts'
import {
  BackupRefused,
  checkFiles,
  extract,
  type Manifest,
  readBackupFile,
  readManifest,
} from './backup-files.ts'
import { repeatErasures } from './erasure-records.ts'
import { beginFilling, copyIn, listTables, writeSequences } from './relational-copy.ts'

const draftEnding = '.restoring'

export interface RestoreOptions {
  /** Where backups are. */
  readonly directory: string
  readonly id: string
  readonly key: Buffer | undefined
  /** Told of each step. */
  readonly onStep?: (step: string) => void
}

/**
 * Makes a data directory of a backup. Everything is compared with the manifest before; the directory has another name
 * until it is whole.
 * @param to absent or empty
 * @throws {BackupRefused}
 */
export async function restoreBackup(options: RestoreOptions & { readonly to: string }): Promise<Manifest> {
  const to = resolve(options.to)
  const found = await readdir(to).catch(() => [])
  if (found.length > 0) throw new BackupRefused(`${to} is not empty: name a directory that is, or none`)
  await removeDrafts(to)
  // A name of its own: stores of a restore that was killed may not have ended yet.
  const draft = join(dirname(to), `${basename(to)}.${randomBytes(3).toString('hex')}${draftEnding}`)
  try {
    const manifest = await fill(draft, options, true)
    await rmdir(to).catch(() => {})
    await rename(draft, to)
    return manifest
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
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

/** @param isKept whether a service will work on it, so that persons who were erased since have to be erased again */
async function fill(data: string, options: RestoreOptions, isKept = false): Promise<Manifest> {
  const { directory, id, key, onStep = () => {} } = options
  const manifest = await readManifest(directory, id, key)
  onStep('comparing every file with the manifest')
  await checkFiles(directory, manifest)
  await mkdir(join(data, 'run'), { recursive: true, mode: 0o700 })
  // As a directory that a service has used: its mode is the service's to keep.
  await writeFile(join(data, 'lock'), '', { mode: 0o600 })
  const copy = (path: string, to: string) => extract(directory, manifest, path, key, to)
  onStep('copying the log and contents')
  for (const { path } of manifest.files) {
    if (path.startsWith('log/')) await copy(path, join(data, path))
    if (path.startsWith('contents/'))
      await copy(path, join(data, 'datasources', path.slice('contents/'.length)))
  }
  onStep('restoring accounts and definitions')
  const postgres = await startEmbeddedPostgres({
    directory: join(data, 'postgres'),
    runPath: join(data, 'run'),
    logger: silentLogger,
  })
  try {
    const migrating = { address: postgres.owner, applicationRole, logger: silentLogger }
    await migrateRelational({ ...migrating, upTo: manifest.relationalMigration })
    const { database } = postgres.owner
    const client = new pg.Client(connectionConfig({ ...postgres.superuser, database }))
    await client.connect()
    try {
      await fillRelational(client, manifest, (path) => readBackupFile(directory, manifest, path, key))
      if (isKept) {
        await migrateRelational(migrating)
        const repeated = await repeatErasures(client, directory, manifest.at)
        if (repeated > 0) onStep(`asking again for ${repeated} erasures that were made since`)
      }
    } finally {
      await client.end()
    }
    await openToApplication({ owner: postgres.owner, role: applicationRole, logger: silentLogger })
    onStep('restoring events')
    await fillColumnar(data, manifest, copy, postgres.owner)
  } finally {
    await postgres.stop()
  }
  return manifest
}

type Copy = (path: string, to: string) => Promise<void>

async function fillRelational(
  client: pg.Client,
  { id, files, relationalRows }: Manifest,
  read: (path: string) => ReturnType<typeof readBackupFile>,
): Promise<void> {
  const tables = await listTables(client)
  const names = new Set(tables.map(({ name }) => name))
  const strange = Object.keys(relationalRows).filter((name) => !names.has(name))
  if (strange.length > 0)
    throw new BackupRefused(
      `The backup ${id} has tables that this version does not know: ${strange.join(', ')}`,
    )
  await beginFilling(client, tables)
  for (const table of tables) {
    const path = `relational/${table.name}`
    if (!files.some((file) => file.path === path)) continue
    const rows = await copyIn(client, table, read(path))
    requireRows(id, table.name, relationalRows[table.name], rows)
  }
  await writeSequences(
    client,
    JSON.parse(await text(read('relational/sequences.json'))) as Record<string, string>,
  )
  await client.query('commit')
}

async function fillColumnar(
  data: string,
  manifest: Manifest,
  copy: Copy,
  lockAt: Parameters<typeof migrateColumnar>[0]['lockAt'],
): Promise<void> {
  const { id, files, columnarMigration, columnarRows } = manifest
  const { columnar, child } = embeddedColumnar({ dataDirectory: data, logger: silentLogger, yields: false })
  try {
    await child.start()
    await migrateColumnar({ columnar, lockAt, logger: silentLogger, upTo: columnarMigration })
    // Merges would replace rows that are counted; they go on at the next start.
    await columnar.command({ sql: 'SYSTEM STOP MERGES' })
    const { tables } = await columnarFigures(columnar)
    for (const { name, path } of tables) {
      const parts = new Set<string>()
      for (const file of files) {
        const [kind, table, part = '', , ...rest] = file.path.split('/')
        if (kind !== 'columnar' || table !== name) continue
        parts.add(part)
        await copy(file.path, join(path, 'detached', part, ...rest))
      }
      await attachParts(columnar, name, [...parts])
      requireRows(id, name, columnarRows[name], await countRows(columnar, name))
    }
  } finally {
    await columnar.close()
    await child.stop()
  }
}

function requireRows(id: string, table: string, expected: number | undefined, found: number): void {
  if (expected !== found)
    throw new BackupRefused(
      `${table} has ${found} rows after the restore, and ${expected} in the backup ${id}`,
    )
}
