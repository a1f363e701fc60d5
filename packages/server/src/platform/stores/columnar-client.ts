import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { dirname } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
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
import { type ColumnarAddress, createColumnarRequests } from './columnar-request.ts'
import { columnarSettings } from './columnar-settings.ts'
import { quoteIdentifier } from './identifiers.ts'

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
export function openColumnar({ address, connections = 64 }: ColumnarOptions): Columnar {
  const requests = createColumnarRequests(address, connections)
  const running = new Set<Promise<unknown>>()
  let closed = false

  /** Sends one request and answers with the bytes of the result, all or not yet all of them. */
  async function send(statement: Statement, settings: Settings, rows?: Readable | Buffer): Promise<Readable> {
    if (closed) throw new ColumnarUnavailable(new Error('The columnar store is closed'))
    const { sql, signal, params, queryId = randomUUID() } = statement
    signal?.throwIfAborted()
    checkLength(params)
    const ending = new AbortController()
    const onAbort = (): void => ending.abort()
    signal?.addEventListener('abort', onAbort, { once: true })
    const timeout = setTimeout(onAbort, Number(settings.max_execution_time) * 1000 + silenceMs)
    try {
      const answer = await requests.send({ sql, queryId, settings, params, rows, signal: ending.signal })
      return guarded(answer, signal)
    } catch (error) {
      if (signal?.aborted === true) {
        endRemotely(queryId)
        throw signal.reason
      }
      if (ending.signal.aborted) throw new ColumnarUnavailable(new Error(`No answer to statement ${queryId}`))
      throw error
    } finally {
      clearTimeout(timeout)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** A server notices that a reader has left, but continues a write; the embedded engine ends both. */
  function endRemotely(queryId: string): void {
    if (!('url' in address)) return
    const sql = 'KILL QUERY WHERE query_id = {id:String} ASYNC'
    requests.send({ sql, settings: {}, params: { id: queryId } }).then(
      (answer) => answer.resume(),
      () => {},
    )
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
    const settings = { ...readingSettings(statement), wait_end_of_query: 1, default_format: 'JSONEachRow' }
    return readRows<R>(await send(statement, settings))
  }

  async function finish(statement: Statement, settings: Settings, rows?: Readable | Buffer): Promise<void> {
    for await (const _ of await send(statement, settings, rows)) {
      // Nothing to see: the end says that all went well.
    }
  }

  async function insertRows(insert: ColumnarInsert): Promise<void> {
    const settings = { ...columnarSettings.inserting, ...insert.settings }
    const statement = statementOf(insert)
    const { body } = insert
    const isLarge = Buffer.isBuffer(body) && body.length >= besideFromBytes
    if (!isLarge || !('socketPath' in address)) return finish(statement, settings, body)

    const token = newInsertPipeToken()
    const end = new PassThrough()
    // Without a byte of the body the head is not sent either.
    end.write('\n')
    const settled = new AbortController()
    const request = finish(statement, { ...settings, [insertPipeParameter]: token }, end)
    const answered = request.finally(() => settled.abort())
    const path = insertPipePath(dirname(address.socketPath), token)
    writeInsertPipe(path, Readable.from([body], { objectMode: false }), settled.signal).then(
      () => end.end(),
      (error) => end.destroy(error),
    )
    return answered
  }

  return {
    query: (statement) => track(query(statement)),
    stream(statement) {
      const settings = { ...readingSettings(statement), default_format: statement.format }
      return track(send(statement, settings))
    },
    command(statement) {
      const settings =
        statement.readonly === true
          ? readingSettings(statement)
          : { ...columnarSettings.writing, ...statement.settings }
      return track(finish(statement, settings))
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
      requests.close()
    },
  }
}

type Settings = Readonly<Record<string, string | number>>

function readingSettings(statement: Statement): Settings {
  const settings = { ...columnarSettings.reading, ...statement.settings }
  return statement.readonly === false ? settings : { ...settings, readonly: 1 }
}

/** The bytes of an answer; ends well only when the answer is whole. */
function guarded(source: IncomingMessage, signal: AbortSignal | undefined): Readable {
  const guard = exceptionGuard(String(source.headers['x-clickhouse-exception-tag'] ?? ''))
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
