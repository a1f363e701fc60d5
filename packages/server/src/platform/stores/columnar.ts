import type { Readable } from 'node:stream'

export { ColumnarError, ColumnarTimeout, ColumnarUnavailable } from './columnar-errors.ts'

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
  /** Settings of this statement alone, on top of those of `columnar-settings.ts`. */
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
  readonly format: 'JSONEachRow' | 'Native'
  /** NDJSON, or what a stream of `Native` gave, as bytes: they go to the engine as they are. */
  readonly body: Readable | Buffer
  readonly params?: Statement['params']
  readonly settings?: Statement['settings']
  readonly queryId?: string
  readonly signal?: AbortSignal
}

/** Events and facts: ClickHouse's dialect, whichever of its two homes it has (ARCHITECTURE.md). */
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
   * Stores all rows or none, as long as there are at most `insertBlock.rows` of at most `insertBlock.bytes` in
   * memory and one partition takes them. A failure without an answer of the engine (ColumnarUnavailable, abort)
   * leaves open which.
   */
  insert(insert: ColumnarInsert): Promise<void>
  /** Resolves when the engine answers a query within two seconds. */
  ping(): Promise<void>
  /** Refuses further statements; running ones may finish. */
  close(): Promise<void>
}
