import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '../logger.ts'
import { StartRefused } from '../start-refused.ts'

/** One numbered file of SQL, which is applied to a store once and never changed afterwards. */
export interface Migration {
  readonly number: number
  /** Of the file, as in `0010-datasources.sql`. */
  readonly file: string
  readonly sql: string
  /** SHA-256 of the text with line feeds, so that a checkout with other line ends is no change. */
  readonly checksum: string
}

/** What a store recorded about a migration. */
export interface AppliedMigration {
  readonly number: number
  readonly file: string
  readonly checksum: string
  /** False while a store without transactions has applied only some of its statements. */
  readonly finished: boolean
}

export interface MigrationSession {
  applied(): Promise<readonly AppliedMigration[]>
  /**
   * Applies one migration, or the rest of it, and records it. An interruption at any point leaves a state from
   * which the next `apply` continues.
   * @throws {MigrationFailed}
   */
  apply(migration: Migration): Promise<void>
}

/** How one kind of store is migrated. */
export interface MigrationDriver {
  /** For messages: `relational store`. */
  readonly store: string
  /** Runs `work` while no other process migrates the same store; waits until that is so. */
  exclusively<T>(work: (session: MigrationSession) => Promise<T>): Promise<T>
}

/** A statement failed. The store is as it was before it, and the next start tries again. */
export class MigrationFailed extends StartRefused {
  override readonly name = 'MigrationFailed'

  constructor(file: string, line: number | undefined, cause: unknown) {
    const place = line === undefined ? file : `${file}, line ${line}`
    super('unsuitable', `Migration ${place} failed: ${(cause as Error).message}`, cause)
  }
}

export const checksumOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const fileName = /^(\d{4})-[a-z0-9-]+\.sql$/

/**
 * Reads the migrations of a directory, in the order of their numbers. Numbers may leave gaps.
 * @throws when a file is not named `NNNN-words.sql` or a number is taken twice
 */
export function readMigrations(directory: string): Migration[] {
  const migrations = readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .map((file): Migration => {
      const number = fileName.exec(file)?.[1]
      if (number === undefined) {
        throw new Error(`${join(directory, file)} must be named like 0010-words-in-lower-case.sql`)
      }
      const sql = readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n')
      return { number: Number(number), file, sql, checksum: checksumOf(sql) }
    })
    .sort((a, b) => a.number - b.number)
  migrations.forEach((migration, i) => {
    const before = migrations[i - 1]
    if (before?.number === migration.number) {
      throw new Error(`${before.file} and ${migration.file} in ${directory} have the same number`)
    }
  })
  return migrations
}

/** @throws {StartRefused} the store is ahead of this program, or was made by other files than these */
function assertKnownMigrations(
  store: string,
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): void {
  const known = new Map(migrations.map((migration) => [migration.number, migration]))
  // Before what is unknown: a layout of before the first release has numbers of which some are known, with other files.
  for (const { number, file, checksum } of applied) {
    const migration = known.get(number)
    if (migration === undefined || migration.file === file || migration.checksum === checksum) continue
    throw new StartRefused(
      'unsuitable',
      `The ${store} was set up with other migrations: ${file}, where this version has ${migration.file}.\n` +
        'Versions before the first release are not upgraded: start with an empty data directory or database, or ' +
        'start the version that set this one up. Nothing was changed.',
    )
  }
  const unknown = applied.filter(({ number }) => !known.has(number)).map(({ file }) => file)
  if (unknown.length > 0) {
    throw new StartRefused(
      'unsuitable',
      `The ${store} was set up by a newer version: this one does not know ${unknown.join(', ')}.\n` +
        'Start the version that made it, or a later one; to go back, restore the backup from before the upgrade. ' +
        'Nothing was changed.',
    )
  }
  for (const { number, file, checksum, finished } of applied) {
    const migration = known.get(number)
    if (!finished || migration === undefined || migration.checksum === checksum) continue
    throw new StartRefused(
      'unsuitable',
      `Migration ${migration.file} is not the one that was applied to the ${store} as ${file}: the checksum is ` +
        `${migration.checksum.slice(0, 12)} and was ${checksum.slice(0, 12)}.\n` +
        'Restore the file; what has to change goes into a migration of its own. Nothing was changed.',
    )
  }
}

/**
 * Brings a store up to date: applies what it lacks, in the order of the numbers. May be interrupted at any point
 * and started by several processes at once: they wait for each other and all find it done.
 * @returns the files that were applied by this call
 * @throws {StartRefused} the store is newer, a file was changed, or (MigrationFailed) a statement failed
 */
export async function migrate(
  driver: MigrationDriver,
  migrations: readonly Migration[],
  logger: Logger,
): Promise<string[]> {
  return await driver.exclusively(async (session) => {
    const applied = await session.applied()
    assertKnownMigrations(driver.store, migrations, applied)
    const finished = new Set(applied.filter((each) => each.finished).map((each) => each.number))
    const isEmpty = applied.length === 0
    const msSince = (began: number): number => Math.round(performance.now() - began)
    const first = performance.now()
    const done: string[] = []
    for (const migration of migrations.filter(({ number }) => !finished.has(number))) {
      const began = performance.now()
      await session.apply(migration)
      if (!isEmpty) {
        const ms = msSince(began)
        logger.info({ store: driver.store, migration: migration.file, ms }, 'migrated')
      }
      done.push(migration.file)
    }
    // The list says something of an upgrade alone.
    if (isEmpty) logger.info({ store: driver.store, migrations: done.length, ms: msSince(first) }, 'set up')
    return done
  })
}
