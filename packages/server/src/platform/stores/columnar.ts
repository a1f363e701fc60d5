import type { Readable } from 'node:stream'
import { DomainError } from '../errors.ts'
import type { Logger } from '../logger.ts'

/** A value bound to `{name: Type}`; it reaches the engine beside the text, never in it. */
export type ColumnarParam =
  | string
  | number
  | bigint
  | boolean
  | null
  /** For Date, DateTime and DateTime64. */
  | Date
  | readonly ColumnarParam[]
  | ReadonlyMap<ColumnarParam, ColumnarParam>
  | { readonly [key: string]: ColumnarParam }

export interface Statement {
  /** One statement of ClickHouse SQL, without a FORMAT clause; values only as `{name: Type}`. */
  readonly sql: string
  readonly params?: Readonly<Record<string, ColumnarParam>>
  /** Settings of this statement alone, on top of `columnarDefaults`. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** Unique among running statements; made up when absent. */
  readonly queryId?: string
  /** Ends the statement in the engine too, within a second. */
  readonly signal?: AbortSignal
  /**
   * Runs with `readonly = 1` on a lane of its own: nothing but reading the store's own tables, so no `file()`,
   * `url()`, writes or DDL. `query` and `stream` are read-only unless this is false; `command` is unless it is true.
   */
  readonly readonly?: boolean
}

export interface ColumnarInsert {
  readonly table: string
  /** Columns that the rows may have, in any order; all insertable columns of the table when absent. */
  readonly columns?: readonly string[]
  readonly format: 'JSONEachRow'
  /** NDJSON as bytes: it goes to the engine as it is. */
  readonly body: Readable | Buffer
  readonly params?: Statement['params']
  readonly settings?: Statement['settings']
  readonly queryId?: string
  readonly signal?: AbortSignal
}

/** Events and facts: ClickHouse's dialect, whichever of its two homes it has (architecture.md). */
export interface Columnar {
  /**
   * All rows of a result, as JSONEachRow gives them: 64-bit integers and decimals are numbers, NaN and infinities
   * null, times text.
   * @throws {ColumnarError} the engine refused or failed; {ColumnarTimeout} it took too long; {ColumnarUnavailable}
   *   it cannot be reached; the signal's reason when it was aborted. The same of every function here.
   */
  query<R>(statement: Statement): Promise<R[]>
  /**
   * The result as bytes in a ClickHouse format such as `CSVWithNames` or `JSONEachRow`, while it is computed. A
   * failure after the first bytes destroys the stream with the error: only a stream that ends is complete.
   * Destroying the stream ends the statement.
   */
  stream(statement: Statement & { readonly format: string }): Promise<Readable>
  /** For statements without a result: DDL, INSERT ... SELECT, ALTER. */
  command(statement: Statement): Promise<void>
  /**
   * Stores all rows or none, as long as they fit one block (`insertBlock`). A failure without an answer of the
   * engine (ColumnarUnavailable, abort) leaves open which.
   */
  insert(insert: ColumnarInsert): Promise<void>
  /** Resolves when the engine answers a query within two seconds. */
  ping(): Promise<void>
  /** Refuses further statements; running ones may finish. */
  close(): Promise<void>
}

/** The engine answered with an exception. */
export class ColumnarError extends Error {
  override readonly name: string = 'ColumnarError'
  /** ClickHouse's number of the error, as 60. */
  readonly code: number
  /** ClickHouse's name of the error, as UNKNOWN_TABLE. */
  readonly type: string

  constructor(code: number, type: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.type = type
  }
}

/** The statement reached its `max_execution_time`, or waited that long for its turn. */
export class ColumnarTimeout extends ColumnarError {
  override readonly name = 'ColumnarTimeout'
}

/** The engine cannot be reached, or went away before it answered: 503 with `Retry-After` for a caller. */
export class ColumnarUnavailable extends DomainError<'unavailable'> {
  constructor(cause: unknown) {
    super('unavailable', {}, { cause, retryAfterSeconds: 2 })
    this.name = 'ColumnarUnavailable'
  }
}

/** Where a ClickHouse is: an address (`CLICKHOUSE_URL`) or the socket of a home of its own. */
export type ColumnarAddress =
  | { readonly url: string }
  | { readonly socketPath: string; readonly database?: string }

export interface ColumnarOptions {
  readonly address: ColumnarAddress
  readonly logger: Logger
  /** Most requests at once; further ones wait. Default 32. */
  readonly connections?: number
}

/** Opens no connection yet: the first statement does. */
export declare function openColumnar(options: ColumnarOptions): Columnar
