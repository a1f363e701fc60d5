import type { Logger } from '../platform/logger.ts'
import {
  type AppliedMigration,
  checksumOf,
  type Migration,
  type MigrationDriver,
  MigrationFailed,
  type MigrationSession,
} from '../platform/migrations/migrations.ts'
import { splitStatements, whyNotRepeatable } from '../platform/migrations/sql-statements.ts'
import { StartRefused } from '../platform/start-refused.ts'
import type { Columnar } from '../platform/stores/columnar.ts'
import type { PostgresAddress } from '../platform/stores/relational.ts'
import { lockKeys, withRelationalLock } from './relational-migrations.ts'

/** The part of the columnar store that migrations need. */
export type MigratableColumnar = Pick<Columnar, 'command' | 'query'>

/** One row for each statement that was applied; a statement that was interrupted before its row is run again. */
const bookkeeping = `
  create table if not exists schema_migrations (
    number UInt32,
    file String,
    checksum String,
    statement UInt32,
    statements UInt32,
    statement_checksum String,
    applied_at DateTime64(3, 'UTC') default now64(3)
  ) engine = MergeTree order by (number, statement)`

interface StatementRecord {
  readonly number: number
  readonly file: string
  readonly checksum: string
  /** From 1; equal to `statements` in the record that finishes the file. */
  readonly statement: number
  readonly statements: number
  readonly statement_checksum: string
}

async function readRecords(columnar: MigratableColumnar): Promise<StatementRecord[]> {
  return await columnar.query<StatementRecord>({
    sql: `select number, file, checksum, statement, statements, statement_checksum
          from schema_migrations order by number, statement, applied_at`,
    readonly: false,
  })
}

async function record(columnar: MigratableColumnar, row: StatementRecord): Promise<void> {
  await columnar.command({
    sql: `insert into schema_migrations (number, file, checksum, statement, statements, statement_checksum)
          select {number: UInt32}, {file: String}, {checksum: String}, {statement: UInt32}, {statements: UInt32},
            {statement_checksum: String}`,
    params: { ...row },
  })
}

/** @throws {StartRefused} a statement that was applied is not the one that stands in the file now */
function assertUnchangedStatements(
  migration: Migration,
  records: readonly StatementRecord[],
  checksums: readonly string[],
): void {
  const changed = records.find((row) => checksums[row.statement - 1] !== row.statement_checksum)
  if (changed === undefined) return
  throw new StartRefused(
    'unsuitable',
    `Migration ${migration.file} was applied up to its statement ${records.length}, and its statement ` +
      `${changed.statement} was changed since then.\nRestore that statement; those after the last applied one may change.`,
  )
}

async function applied(columnar: MigratableColumnar): Promise<AppliedMigration[]> {
  const byNumber = new Map<number, StatementRecord>()
  // The last record of a file says whether it was finished, and as which text.
  for (const row of await readRecords(columnar)) byNumber.set(row.number, row)
  return [...byNumber.values()].map(({ number, file, checksum, statement, statements }) => ({
    number,
    file,
    checksum,
    finished: statement === statements,
  }))
}

async function apply(
  columnar: MigratableColumnar,
  migration: Migration,
  stillHeld: () => Promise<void>,
): Promise<void> {
  const { number, file, checksum } = migration
  const statements = splitStatements(migration.sql)
  if (statements.length === 0) throw new MigrationFailed(file, undefined, new Error('it holds no statement'))
  for (const { text, line } of statements) {
    const reason = whyNotRepeatable(text)
    if (reason !== undefined) throw new MigrationFailed(file, line, new Error(reason))
  }
  const checksums = statements.map(({ text }) => checksumOf(text))
  const before = (await readRecords(columnar)).filter((row) => row.number === number)
  assertUnchangedStatements(migration, before, checksums)
  const done = Math.max(0, ...before.map((row) => row.statement))
  // The last one is run in any case: its record is what finishes the file.
  const first = Math.min(done, statements.length - 1)
  for (const [i, { text, line }] of statements.entries()) {
    if (i < first) continue
    try {
      await stillHeld()
      await columnar.command({ sql: text })
      await record(columnar, {
        number,
        file,
        checksum,
        statement: i + 1,
        statements: statements.length,
        statement_checksum: checksums[i] ?? '',
      })
    } catch (error) {
      throw new MigrationFailed(file, line, error)
    }
  }
}

/**
 * Migrates ClickHouse, which has no transactions: statement by statement, each recorded when it is done and safe to
 * be run again. Its processes wait for each other by a lock in PostgreSQL.
 */
export function columnarMigrations(
  columnar: MigratableColumnar,
  lockAt: PostgresAddress,
  logger: Logger,
): MigrationDriver {
  return {
    store: 'columnar store',
    exclusively: (work) =>
      withRelationalLock(lockAt, lockKeys.columnar, logger, async (stillHeld) => {
        await columnar.command({ sql: bookkeeping })
        const session: MigrationSession = {
          applied: () => applied(columnar),
          apply: (migration) => apply(columnar, migration, stillHeld),
        }
        return await work(session)
      }),
  }
}
