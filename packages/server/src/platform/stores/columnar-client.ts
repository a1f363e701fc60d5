import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { dirname } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client'
import {
  insertPipeParameter,
  insertPipePath,
  newInsertPipeToken,
  writeInsertPipe,
} from './chdb/insert-pipe.ts'
import type { Columnar, ColumnarInsert, Statement } from './columnar.ts'
import { ColumnarUnavailable, columnarErrorFrom } from './columnar-errors.ts'
import { exceptionGuard } from './columnar-exceptions.ts'
import { checkLength } from './columnar-params.ts'
import { columnarSettings } from './columnar-settings.ts'
import { quoteIdentifier } from './identifiers.ts'

/** Where a ClickHouse is: an address (`CLICKHOUSE_URL`) or the socket of a home of its own. */
export type ColumnarAddress = { readonly url: string } | { readonly socketPath: string }

export interface ColumnarOptions {
  readonly address: ColumnarAddress
  /** Most requests at once; further ones wait. Default 64. */
  readonly connections?: number
}

/** An answer later than this after the statement's own time limit will not come. */
const silenceMs = 15_000
const pingMs = 2000

/** Smaller inserts are sooner done in the body of their request. */
const besideFromBytes = 256 * 1024

/** Opens no connection yet: the first statement does. */
export function openColumnar(options: ColumnarOptions): Columnar {
  const client = clientFor(options)
  const running = new Set<Promise<unknown>>()
  let closed = false

  /** Sends one request and answers with the bytes of the result, all or not yet all of them. */
  async function send(
    statement: Statement,
    settings: ClickHouseSettings,
    rows?: Readable,
  ): Promise<{ bytes: Readable; headers: Record<string, string | string[] | undefined> }> {
    if (closed) throw new ColumnarUnavailable(new Error('The columnar store is closed'))
    const { signal, params } = statement
    signal?.throwIfAborted()
    checkLength(params)
    const queryId = statement.queryId ?? randomUUID()
    const ending = new AbortController()
    const onAbort = (): void => ending.abort()
    signal?.addEventListener('abort', onAbort, { once: true })
    const timeout = setTimeout(onAbort, Number(settings.max_execution_time) * 1000 + silenceMs)
    try {
      const { stream, response_headers } = await client.exec({
        query: statement.sql,
        query_id: queryId,
        clickhouse_settings: settings,
        abort_signal: ending.signal,
        ...(params !== undefined && { query_params: params }),
        ...(rows !== undefined && { values: rows }),
      })
      return { bytes: guarded(stream, signal, response_headers), headers: response_headers ?? {} }
    } catch (error) {
      if (signal?.aborted === true) {
        endRemotely(queryId)
        throw signal.reason
      }
      if (ending.signal.aborted) throw new ColumnarUnavailable(new Error(`No answer to statement ${queryId}`))
      throw columnarErrorFrom(error)
    } finally {
      clearTimeout(timeout)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** A server notices that a reader has left, but continues a write; the embedded engine ends both. */
  function endRemotely(queryId: string): void {
    if (!('url' in options.address)) return
    const query = 'KILL QUERY WHERE query_id = {id:String} ASYNC'
    client.command({ query, query_params: { id: queryId } }).catch(() => {})
  }

  function track<T>(work: Promise<T>): Promise<T> {
    const done = work.then(
      () => {},
      () => {},
    )
    running.add(done)
    void done.then(() => running.delete(done))
    return work
  }

  async function query<R>(statement: Statement): Promise<R[]> {
    const { bytes } = await send(statement, {
      ...readingSettings(statement),
      wait_end_of_query: 1,
      default_format: 'JSONEachRow',
    } as ClickHouseSettings)
    return readRows<R>(bytes)
  }

  async function finish(statement: Statement, settings: ClickHouseSettings, rows?: Readable): Promise<void> {
    const { bytes } = await send(statement, settings, rows)
    for await (const _ of bytes) {
      // Nothing to see: the end says that all went well.
    }
  }

  async function insertRows(insert: ColumnarInsert): Promise<void> {
    const settings = { ...columnarSettings.inserting, ...insert.settings } as ClickHouseSettings
    const statement = statementOf(insert)
    const { body } = insert
    const rows = Buffer.isBuffer(body) ? Readable.from([body], { objectMode: false }) : body
    const isLarge = Buffer.isBuffer(body) && body.length >= besideFromBytes
    if (!isLarge || !('socketPath' in options.address)) return finish(statement, settings, rows)

    const token = newInsertPipeToken()
    const end = new PassThrough()
    // Without a byte of the body the head is not sent either.
    end.write('\n')
    const settled = new AbortController()
    const request = finish(
      statement,
      { ...settings, [insertPipeParameter]: token } as ClickHouseSettings,
      end,
    )
    const answered = request.finally(() => settled.abort())
    const path = insertPipePath(dirname(options.address.socketPath), token)
    writeInsertPipe(path, rows, settled.signal).then(
      () => end.end(),
      (error) => end.destroy(error),
    )
    return answered
  }

  return {
    query: (statement) => track(query(statement)),
    stream(statement) {
      const settings = { ...readingSettings(statement), default_format: statement.format }
      return track(send(statement, settings as ClickHouseSettings).then(({ bytes }) => bytes))
    },
    command(statement) {
      const settings =
        statement.readonly === true
          ? readingSettings(statement)
          : { ...columnarSettings.writing, ...statement.settings }
      return track(finish(statement, settings as ClickHouseSettings))
    },
    insert(insert) {
      return track(insertRows(insert))
    },
    async ping() {
      const signal = AbortSignal.timeout(pingMs)
      try {
        await query({ sql: 'SELECT 1', settings: { max_execution_time: 2 }, signal })
      } catch (error) {
        throw error instanceof ColumnarUnavailable ? error : new ColumnarUnavailable(error)
      }
    },
    async close() {
      closed = true
      await Promise.all(running)
      await client.close()
    },
  }
}

function clientFor({ address, connections = 64 }: ColumnarOptions): ClickHouseClient {
  const common = {
    // Statements have limits of their own; the client's is one of silence on the socket.
    request_timeout: 24 * 3600 * 1000,
    max_open_connections: connections,
    log: { level: ClickHouseLogLevel.OFF },
  }
  if ('url' in address) return createClient({ ...common, url: address.url })
  const agent = new Agent({
    keepAlive: true,
    maxSockets: connections,
    socketPath: address.socketPath,
  } as object)
  return createClient({
    ...common,
    url: 'http://localhost',
    http_agent: agent,
    // The engine closes no connection that is idle, so the client needs not do so before it. Its timers can end one
    // that is in use again.
    keep_alive: { enabled: true, idle_socket_ttl: 0 },
    set_basic_auth_header: false,
  })
}

function readingSettings(statement: Statement): Record<string, string | number> {
  const settings = { ...columnarSettings.reading, ...statement.settings }
  return statement.readonly === false ? settings : { ...settings, readonly: 1 }
}

/** The bytes of an answer; ends well only when the answer is whole. */
function guarded(
  source: Readable,
  signal: AbortSignal | undefined,
  headers: Record<string, string | string[] | undefined> | undefined,
): Readable {
  const guard = exceptionGuard(String(headers?.['x-clickhouse-exception-tag'] ?? ''))
  const onAbort = (): void => void guard.destroy(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  // A reader that stops ends the statement: the connection closes.
  guard.once('close', () => {
    signal?.removeEventListener('abort', onAbort)
    source.destroy()
  })
  source.on('error', (error) => guard.destroy(columnarErrorFrom(error)))
  return source.pipe(guard)
}

/** Parses as the bytes come, so that a long result does not hold up the event loop at its end. */
async function readRows<R>(bytes: Readable): Promise<R[]> {
  const rows: R[] = []
  let rest = ''
  const decoder = new TextDecoder()
  const take = (text: string): void => {
    const end = text.lastIndexOf('\n')
    if (end > 0) rows.push(...(JSON.parse(`[${text.slice(0, end).replaceAll('\n', ',')}]`) as R[]))
    rest = text.slice(end + 1)
  }
  for await (const chunk of bytes as AsyncIterable<Buffer>)
    take(rest + decoder.decode(chunk, { stream: true }))
  if (rest !== '') take(`${rest}\n`)
  return rows
}

function statementOf(insert: ColumnarInsert): Statement {
  const { table, columns, format, params, queryId, signal } = insert
  const target = table.split('.').map(quoteIdentifier).join('.')
  const list = columns === undefined ? '' : ` (${columns.map(quoteIdentifier).join(', ')})`
  return {
    sql: `INSERT INTO ${target}${list} FORMAT ${format}`,
    ...(params !== undefined && { params }),
    ...(queryId !== undefined && { queryId }),
    ...(signal !== undefined && { signal }),
  }
}
