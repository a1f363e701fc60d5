import type { OperationTypes, Warning } from './contract-types.ts'
import type { QueryInput, QueryRow } from './query.ts'
import type { Credentials, NoCredentials } from './tokens.ts'
import type { CallOptions } from './transport.ts'

export type OperationId = keyof OperationTypes

/** What an operation takes: its `params`, `query`, `headers` and `body`, those that it has. */
export type OperationRequest<Id extends OperationId> = OperationTypes[Id]['request']
/** What a call gives: `data` of the envelope. */
export type OperationData<Id extends OperationId> = OperationTypes[Id]['data']
/** The whole body of an answer, with `warnings` and the fields of a page. */
export type OperationBody<Id extends OperationId> = OperationTypes[Id]['body']

/** An answer with what stands around its data. */
export interface Reply<Body> {
  readonly status: number
  /** Also `ETag`, which `saveWorkflowVersion` wants as `if-match` and other changes take. */
  readonly headers: Headers
  /** The envelope, or what stands in its place. */
  readonly body: Body
}

export interface StreamOptions extends CallOptions {
  /** Gets what to know about the answer before the first row, where there is anything. */
  readonly onWarnings?: (warnings: readonly Warning[]) => void
}

/** The request may be left out where nothing in it is required. */
type Arguments<Request, Options> = object extends Request
  ? [request?: Request, options?: Options]
  : [request: Request, options?: Options]

interface BasicMethod<Id extends OperationId> {
  /** Calls the operation and gives the data of its answer. */
  (...given: Arguments<OperationRequest<Id>, CallOptions>): Promise<OperationData<Id>>
  /** Calls the operation and gives its whole answer: status, headers and envelope. */
  reply(...given: Arguments<OperationRequest<Id>, CallOptions>): Promise<Reply<OperationBody<Id>>>
  /** Calls the operation and gives its answer unread, once it is known to be no failure. */
  raw(...given: Arguments<OperationRequest<Id>, CallOptions>): Promise<Response>
}

interface ListMethod<Id extends OperationId> {
  /** Every item of the list, page by page as the loop goes on; `query.page` is where it begins. */
  all(
    ...given: Arguments<OperationRequest<Id>, CallOptions>
  ): AsyncGenerator<OperationTypes[Id]['item'], void, undefined>
}

interface RowsMethod<Id extends OperationId> {
  /** The rows of the bare result as they arrive, however many there are. */
  rows(
    ...given: Arguments<OperationRequest<Id>, StreamOptions>
  ): AsyncGenerator<Record<string, unknown>, void, undefined>
}

interface CsvMethod<Id extends OperationId> {
  /** The bare result as RFC 4180 CSV, as it arrives. */
  csv(...given: Arguments<OperationRequest<Id>, StreamOptions>): Promise<ReadableStream<Uint8Array>>
}

export type OperationMethod<Id extends OperationId> = BasicMethod<Id> &
  ([OperationTypes[Id]['item']] extends [never] ? unknown : ListMethod<Id>) &
  ('application/x-ndjson' extends OperationTypes[Id]['stream'] ? RowsMethod<Id> : unknown) &
  ('text/csv' extends OperationTypes[Id]['stream'] ? CsvMethod<Id> : unknown)

/** The answer to a query. */
export interface QueryResult<Row> {
  readonly rows: Row[]
  /** What to know about the answer: rows beyond `limit`, labels that no event has had. */
  readonly warnings: readonly Warning[]
  /** With `total: true`: how many rows there are without `limit` and `offset`. */
  readonly total?: number
}

export interface Helpers {
  /** Answers a query with rows that have a key for each of its members. */
  query<const Q extends QueryInput>(query: Q, options?: CallOptions): Promise<QueryResult<QueryRow<Q>>>
  /**
   * The rows of a query as they arrive: no bound but the query's own `limit`, and no more of them in memory than the
   * loop has asked for. Leaving the loop stops the query.
   */
  streamRows<const Q extends QueryInput>(
    query: Q,
    options?: StreamOptions,
  ): AsyncGenerator<QueryRow<Q>, void, undefined>
  /** Ends the session of the client, if it has one. A client with a password signs in again with its next call. */
  signOut(options?: CallOptions): Promise<void>
}

/** A method for every operation of the interface, by its id. */
export type Operations = { readonly [Id in keyof OperationTypes]: OperationMethod<Id> }

export type Client = Operations & Helpers

interface CommonOptions {
  /** Where users reach the service, as https://millrace.example.com; with or without `/v2`. */
  readonly baseUrl: string
  /** Where events are collected and workflows run, if that is another address. */
  readonly collectorUrl?: string
  /** Milliseconds of one call with all its repetitions; 60,000 when absent. */
  readonly timeoutMs?: number
  /** How often a request is sent again at most; 3 when absent, 0 for never. */
  readonly maxRetries?: number
  /** Longest pause that the service may ask for before a request is sent again, in milliseconds; 30,000 when absent. */
  readonly maxRetryDelayMs?: number
  /** What sends requests; the global `fetch` when absent. */
  readonly fetch?: typeof fetch
  /** The time in epoch milliseconds; that of the machine when absent. */
  readonly now?: () => number
}

/** Without credentials a client calls only the operations that need no token. */
export type ClientOptions = CommonOptions & (Credentials | NoCredentials)
