import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from '../platform/logger.ts'
import {
  type AppliedMigration,
  type Migration,
  type MigrationDriver,
  MigrationFailed,
  type MigrationSession,
} from '../platform/migrations/migrations.ts'
import { skeleton, splitStatements } from '../platform/migrations/sql-statements.ts'
import { StartRefused } from '../platform/start-refused.ts'
import { connectionConfig, type PostgresAddress } from '../platform/stores/relational.ts'

/** Names of advisory locks; the numbers are arbitrary and never change. */
export const lockKeys = { relational: 7_311_001, columnar: 7_311_002 } as const

/** An older server is out of its support (postgresql.org/support/versioning). */
const minServerVersion = 150_000
/** SQLSTATE of a missing right (PostgreSQL, appendix A). */
const insufficientPrivilege = '42501'
const lockPollMs = 50
const noticeAfterMs = 2_000

/** A connection that holds a lock of the database while the work runs. */
export async function withLockedClient<T>(
  address: PostgresAddress,
  key: number,
  logger: Logger,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ ...connectionConfig(address), connectionTimeoutMillis: 10_000 })
  // A broken connection fails the query that runs, or the next one.
  client.on('error', () => {})
  try {
    await client.connect().catch((error: Error) => {
      throw new StartRefused('inUse', `PostgreSQL cannot be used: ${error.message}`, error)
    })
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    )
    const version = rows[0]?.version ?? 0
    if (version < minServerVersion) {
      throw new StartRefused(
        'unsuitable',
        `The PostgreSQL of DATABASE_URL is version ${Math.floor(version / 10_000)}; ${minServerVersion / 10_000} or later is needed.`,
      )
    }
    // A lock of the session: it ends with the connection, however this process ends.
    let waited = 0
    for (;;) {
      const locked = await client.query('select pg_try_advisory_lock($1) as locked', [key])
      if (locked.rows[0].locked) break
      if (waited === noticeAfterMs) logger.info('another process migrates this store; waiting for it')
      await sleep(lockPollMs)
      waited += lockPollMs
    }
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * A lock in PostgreSQL that one process of all holds at a time.
 * @param work is given a check that throws once the connection, and with it the lock, is lost
 */
export async function withRelationalLock<T>(
  address: PostgresAddress,
  key: number,
  logger: Logger,
  work: (stillHeld: () => Promise<void>) => Promise<T>,
): Promise<T> {
  return await withLockedClient(address, key, logger, (client) =>
    work(async () => void (await client.query('select 1'))),
  )
}

/** The line of an error's position, which counts characters from 1 (PostgreSQL, Error Message Fields). */
function lineOf(sql: string, error: unknown): number | undefined {
  const position = error instanceof pg.DatabaseError ? Number(error.position) : Number.NaN
  return Number.isNaN(position) ? undefined : [...sql].slice(0, position).join('').split('\n').length
}

/** What would end the transaction around a file, and with it the promise that a file is applied whole or not at all. */
const transactionControl =
  /^(?:BEGIN|START TRANSACTION|COMMIT|ROLLBACK|ABORT|SAVEPOINT|RELEASE|PREPARE TRANSACTION)\b/

function session(client: pg.Client, applicationRole: string | undefined): MigrationSession {
  async function applied(): Promise<AppliedMigration[]> {
    const { rows } = await client.query(
      'select number, file, checksum from schema_migrations order by number',
    )
    return rows.map((row) => ({ ...row, finished: true }))
  }

  async function apply({ number, file, sql, checksum }: Migration): Promise<void> {
    const control = splitStatements(sql).find(({ text }) => transactionControl.test(skeleton(text)))
    if (control !== undefined) {
      throw new MigrationFailed(file, control.line, new Error('a migration is one transaction as it is'))
    }
    try {
      await client.query('begin')
      // Migrations that close a table to the application ask for its role here.
      await client.query(`select set_config('millrace.application_role', $1, true)`, [applicationRole ?? ''])
      await client.query(sql)
      await client.query('insert into schema_migrations (number, file, checksum) values ($1, $2, $3)', [
        number,
        file,
        checksum,
      ])
      await client.query('commit')
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw new MigrationFailed(file, lineOf(sql, error), error)
    }
  }

  return { applied, apply }
}

/** The table of what was applied. */
async function ensureRecords(client: pg.Client): Promise<void> {
  try {
    await client.query(`
      create table if not exists schema_migrations (
        number integer primary key,
        file text not null,
        checksum text not null,
        applied_at timestamptz not null default now()
      )`)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== insufficientPrivilege) throw error
    throw new StartRefused(
      'unsuitable',
      'The role of DATABASE_URL may not create tables. Name the role that owns them in DATABASE_OWNER_URL, or let this one create in the schema public.',
      error,
    )
  }
}

/**
 * Migrates PostgreSQL: each file in a transaction of its own together with its record.
 * @param applicationRole the role of the service, where that is not the tables' owner; migrations read it from
 *   the setting `millrace.application_role`, which is empty otherwise
 */
export function relationalMigrations(
  address: PostgresAddress,
  applicationRole: string | undefined,
  logger: Logger,
): MigrationDriver {
  return {
    store: 'relational store',
    exclusively: (work) =>
      withLockedClient(address, lockKeys.relational, logger, async (client) => {
        await client.query(`set statement_timeout = 0; set lock_timeout = '60s'`)
        await ensureRecords(client)
        if (applicationRole !== undefined) {
          const role = pg.escapeIdentifier(applicationRole)
          const { rows } = await client.query<{ writes: boolean }>(
            `select has_table_privilege($1, 'schema_migrations', 'insert, update, delete, truncate') as writes`,
            [applicationRole],
          )
          if (rows[0]?.writes) {
            await client.query(`revoke insert, update, delete, truncate on schema_migrations from ${role}`)
          }
        }
        return await work(session(client, applicationRole))
      }),
  }
}
