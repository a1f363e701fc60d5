import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { PgTransactionConfig } from 'drizzle-orm/pg-core'
import type pg from 'pg'
import { DomainError } from '../errors.ts'
import type { Logger } from '../logger.ts'

/** What a transaction's function works with: the same queries as `db`. */
export type RelationalTransaction = Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0]

/** Accounts, definitions, jobs: PostgreSQL, whichever of its two homes it has (architecture.md). */
export interface Relational {
  /** For SQL that Drizzle does not write; errors are those of `db`. */
  readonly pool: pg.Pool
  /** Errors are `RelationalUnavailable`, or the server's `pg.DatabaseError` without any value of the row. */
  readonly db: NodePgDatabase
  /**
   * Runs `work` in a transaction, again from the start when the server gave up on it for a serialisation failure
   * or a deadlock; so `work` must do nothing outside the transaction.
   */
  transaction<T>(work: (tx: RelationalTransaction) => Promise<T>, config?: PgTransactionConfig): Promise<T>
  /** Resolves when the server answers a query within two seconds; @throws {RelationalUnavailable} */
  ping(): Promise<void>
  /** Lets running queries finish, then closes the connections. */
  close(): Promise<void>
}

/** Where a PostgreSQL is: an address (`DATABASE_URL`) or the socket of a home of its own. */
export type PostgresAddress =
  | { readonly url: string }
  | { readonly socketDirectory: string; readonly user: string; readonly database: string }

/** The store cannot be reached, or every connection is taken: 503 with `Retry-After` for a caller. */
export class RelationalUnavailable extends DomainError<'unavailable'> {
  constructor(cause: unknown) {
    super('unavailable', {}, { cause, retryAfterSeconds: 2 })
    this.name = 'RelationalUnavailable'
  }
}

export interface RelationalOptions {
  readonly address: PostgresAddress
  readonly logger: Logger
  /** Most connections at once; default 16. */
  readonly connections?: number
  /** Milliseconds after which the server cancels a statement; default 30,000. */
  readonly statementTimeoutMs?: number
}

/** Opens no connection yet: the first query does. */
export declare function openRelational(options: RelationalOptions): Relational
