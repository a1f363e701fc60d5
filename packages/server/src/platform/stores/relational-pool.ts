import pg from 'pg'
import { relationalError } from './relational-errors.ts'

type Callback = (error: unknown, ...rest: unknown[]) => void

/** Every way a query can fail ends here, whether it comes from `pool`, Drizzle or a transaction. */
class RelationalClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    // A connection that breaks while it is checked out says so twice: to its query, and as an event without whose
    // listener the process ends.
    this.on('error', () => {})
  }

  #seen(error: unknown): unknown {
    // The server may still work on it: its late answer must not meet the next query.
    if (error instanceof Error && error.message === 'Query read timeout') {
      ;(this as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
    }
    return relationalError(error)
  }

  // The overloads of `pg` are those of the base class; a query is a promise, or takes a callback as its last argument.
  override query = ((...args: unknown[]) => {
    const query = pg.Client.prototype.query as (...values: unknown[]) => unknown
    const callback = args.at(-1)
    if (typeof callback === 'function') {
      args[args.length - 1] = (error: unknown, ...rest: unknown[]) =>
        (callback as Callback)(error ? this.#seen(error) : error, ...rest)
      return query.apply(this, args)
    }
    const result = query.apply(this, args)
    if (!(result instanceof Promise)) return result
    return result.catch((error: unknown) => {
      throw this.#seen(error)
    })
  }) as pg.Client['query']
}

/** A pool whose errors are those of `relationalError`. */
export class RelationalPool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ ...config, Client: RelationalClient as unknown as new () => pg.ClientBase })
  }

  override connect = ((callback?: Callback) => {
    const connect = pg.Pool.prototype.connect as (callback?: Callback) => unknown
    if (callback !== undefined) {
      return connect.call(this, (error, ...rest) => callback(error ? relationalError(error) : error, ...rest))
    }
    return (connect.call(this) as Promise<unknown>).catch((error: unknown) => {
      throw relationalError(error)
    })
  }) as pg.Pool['connect']
}
