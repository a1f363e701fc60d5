import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type pg from 'pg'
import type { Logger } from '../logger.ts'
import { type PgTransactionConfig, sql } from './postgres/drizzle.ts'
import { RelationalUnavailable } from './relational-errors.ts'
import { RelationalPool } from './relational-pool.ts'
import { type RelationalTransaction, relationalDatabase } from './relational-session.ts'

// The port is one file for those who use it.
export {
  mapConstraintViolation,
  RelationalTimeout,
  RelationalUnavailable,
  violatedConstraint,
} from './relational-errors.ts'

/** Accounts, definitions, ledgers: PostgreSQL, whichever of its two homes it has (ARCHITECTURE.md). */
export interface Relational {
  /** For SQL that Drizzle does not write; errors are those of `db`. */
  readonly pool: pg.Pool
  /**
   * Throws `RelationalUnavailable` or `RelationalTimeout` (both 503 for a caller), else the server's
   * `pg.DatabaseError`, of which `violatedConstraint` gives the constraint. No error carries the parameters or the row.
   */
  readonly db: NodePgDatabase
  /**
   * Runs `work` in a transaction, again from the start when the server gave up on it for a serialisation failure
   * or a deadlock; so `work` must do nothing outside the transaction. `db.transaction` does the same.
   * @throws also RelationalUnavailable when the server keeps giving up, or when the connection broke: then a
   * commit may or may not have happened
   */
  transaction<T>(work: (tx: RelationalTransaction) => Promise<T>, config?: PgTransactionConfig): Promise<T>
  /** Resolves when the server answers a query within two seconds. @throws {RelationalUnavailable} */
  ping(): Promise<void>
  /** Lets running queries finish, for a few seconds at most, then closes the connections. */
  close(): Promise<void>
}

export interface SocketAddress {
  readonly socketDirectory: string
  readonly user: string
  readonly database: string
}

/** What both the store and a transaction of it offer. */
export type Queries = Pick<NodePgDatabase, 'select' | 'insert' | 'update' | 'delete' | 'execute' | '$count'>

/** Runs SQL that is written as a template and gives its rows; values in it are bound parameters. */
export const sqlOn =
  (queries: Pick<Queries, 'execute'>) =>
  async <T = unknown>(text: TemplateStringsArray, ...values: unknown[]): Promise<T[]> =>
    (await queries.execute(sql(text, ...values))).rows as T[]

/** Where a PostgreSQL is: an address (`DATABASE_URL`) or the socket of a home of its own. */
export type PostgresAddress = { readonly url: string } | SocketAddress

export interface RelationalOptions {
  readonly address: PostgresAddress
  readonly logger: Logger
  /** Most connections at once; default 10, of which listening and loading hold four. */
  readonly connections?: number
  /** Milliseconds after which the server cancels a statement; default 30,000. */
  readonly statementTimeoutMs?: number
  /** Milliseconds that a query waits for a connection while all are taken; default 5,000. */
  readonly connectWithinMs?: number
}

const pingWithinMs = 2_000
const closeWithinMs = 5_000

/** Connection settings of `pg` for an address. */
export function connectionConfig(address: PostgresAddress): pg.ClientConfig {
  const application_name = 'millrace'
  if ('url' in address) return { connectionString: address.url, keepAlive: true, application_name }
  return { host: address.socketDirectory, user: address.user, database: address.database, application_name }
}

/** Rejects when the promise takes longer; the promise itself continues. */
async function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Opens no connection yet: the first query does, and each one after an outage. */
export function openRelational(options: RelationalOptions): Relational {
  const { address, logger, connections = 10, statementTimeoutMs = 30_000, connectWithinMs = 5_000 } = options
  const pool = new RelationalPool({
    ...connectionConfig(address),
    max: connections,
    connectionTimeoutMillis: connectWithinMs,
    // Each holds some 3 MB of memory of the server, and opening one takes longer than most queries.
    idleTimeoutMillis: 10_000,
    statement_timeout: statementTimeoutMs,
    lock_timeout: Math.ceil(statementTimeoutMs / 2),
    idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
    // For a server that hangs and cannot cancel by itself.
    query_timeout: statementTimeoutMs + 5_000,
  })
  // A connection that breaks while it is idle is replaced by the next query.
  pool.on('error', (error) => logger.warn({ err: error }, 'an idle connection to PostgreSQL was lost'))
  const db = relationalDatabase(pool)
  return {
    pool,
    db,
    transaction: (work, config) =>
      db.transaction(work as Parameters<typeof db.transaction>[0], config) as never,
    async ping() {
      try {
        await within(
          pingWithinMs,
          pool.query({ text: 'select 1', query_timeout: pingWithinMs } as pg.QueryConfig),
          'PostgreSQL does not answer',
        )
      } catch (error) {
        throw error instanceof RelationalUnavailable ? error : new RelationalUnavailable(error)
      }
    },
    async close() {
      try {
        await within(closeWithinMs, pool.end(), 'connections to PostgreSQL are not given back')
      } catch (error) {
        logger.warn({ err: error }, 'closing the relational store')
      }
    },
  }
}
