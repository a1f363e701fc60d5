import { setTimeout as sleep } from 'node:timers/promises'
import type { NodePgDatabase as Database } from 'drizzle-orm/node-postgres'
import type {
  NodePgSession as Session,
  NodePgTransaction as SessionTransaction,
} from 'drizzle-orm/node-postgres/session'
import type { PgDialect as Dialect } from 'drizzle-orm/pg-core'
import type { TablesRelationalConfig } from 'drizzle-orm/relations'
import type pg from 'pg'
import {
  NodePgDatabase,
  NodePgPreparedQuery,
  NodePgSession,
  NodePgTransaction,
  NoopCache,
  NoopLogger,
  PgDialect,
  type PgTransactionConfig,
} from './postgres/drizzle.ts'
import { isRetryable, RelationalUnavailable } from './relational-errors.ts'

/** What a transaction's function works with: the same queries as the database's own. */
export type RelationalTransaction = Parameters<Parameters<Database['transaction']>[0]>[0]
type Transaction = SessionTransaction<Record<string, never>, TablesRelationalConfig>

const transactionAttempts = 6
const firstPauseMs = 5

/** Drizzle wraps what a query throws in an error whose message holds every parameter: hashes, addresses, tokens. */
class PlainQuery extends NodePgPreparedQuery<{ execute: unknown; all: unknown; values: unknown }> {
  queryWithCache<T>(_query: string, _parameters: unknown[], run: () => Promise<T>): Promise<T> {
    return run()
  }
}

type PrepareArguments = Parameters<Session<Record<string, never>, TablesRelationalConfig>['prepareQuery']>

class RelationalSession extends NodePgSession<Record<string, never>, TablesRelationalConfig> {
  readonly #source: pg.Pool | pg.PoolClient
  readonly #dialect: Dialect

  constructor(source: pg.Pool | pg.PoolClient, dialect: Dialect) {
    super(source, dialect, undefined)
    this.#source = source
    this.#dialect = dialect
  }

  override prepareQuery = ((...args: PrepareArguments) => {
    const [query, fields, name, arrayMode, mapResult, metadata, cache] = args
    return new PlainQuery(
      this.#source,
      query.sql,
      query.params,
      new NoopLogger(),
      new NoopCache(),
      metadata,
      cache,
      fields,
      name,
      arrayMode,
      mapResult as ((rows: unknown[][]) => unknown) | undefined,
    )
  }) as Session<Record<string, never>, TablesRelationalConfig>['prepareQuery']

  override async transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    config: PgTransactionConfig = {},
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(work, config)
      } catch (error) {
        if (!isRetryable(error)) throw error
        if (attempt === transactionAttempts) throw new RelationalUnavailable(error)
        await sleep(firstPauseMs * 2 ** attempt * Math.random())
      }
    }
  }

  async #once<T>(
    work: (tx: Transaction) => Promise<T>,
    { isolationLevel, accessMode, deferrable }: PgTransactionConfig,
  ): Promise<T> {
    const client = await (this.#source as pg.Pool).connect()
    const modes = [
      isolationLevel && `isolation level ${isolationLevel}`,
      accessMode,
      deferrable && 'deferrable',
    ].filter(Boolean)
    let broken: Error | undefined
    try {
      await client.query(`begin ${modes.join(', ')}`)
      const session = new RelationalSession(client, this.#dialect)
      const result = await work(new NodePgTransaction(this.#dialect, session, undefined))
      const { command } = await client.query('commit')
      // A statement failed and `work` went on as if it had not; the server then answers COMMIT with ROLLBACK.
      if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it failed')
      return result
    } catch (error) {
      // A connection on which not even this works must not go back to the pool.
      await client.query('rollback').catch((reason: Error) => {
        broken = reason
      })
      throw error
    } finally {
      client.release(broken)
    }
  }
}

/** Drizzle on a pool, with errors as the pool throws them and transactions that are tried again. */
export function relationalDatabase(pool: pg.Pool | pg.PoolClient): Database {
  const dialect = new PgDialect()
  return new NodePgDatabase(dialect, new RelationalSession(pool, dialect), undefined)
}
