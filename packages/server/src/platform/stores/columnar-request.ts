import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ColumnarParam } from './columnar.ts'
import { columnarErrorFrom, readException } from './columnar-errors.ts'
import { paramText } from './columnar-params.ts'

/** Where a ClickHouse is: an address (`CLICKHOUSE_URL`) or the socket of a home of its own. */
export type ColumnarAddress = { readonly url: string } | { readonly socketPath: string }

export interface ColumnarRequest {
  readonly sql: string
  readonly queryId?: string
  readonly settings: Readonly<Record<string, string | number>>
  readonly params?: Readonly<Record<string, ColumnarParam>> | undefined
  /** Of an INSERT whose text ends with its format. */
  readonly rows?: Readable | Buffer | undefined
  readonly signal?: AbortSignal
}

/**
 * The requests of ClickHouse's HTTP interface, https://clickhouse.com/docs/interfaces/http: statements in the body, or in
 * the address where rows are in the body, settings and parameters in the address. Written here since a statement of ours
 * takes few milliseconds, of which a client of general use takes one or two.
 * @param connections most at once; further requests wait
 */
export function createColumnarRequests(address: ColumnarAddress, connections: number) {
  const url = new URL('url' in address ? address.url : 'http://localhost')
  const isTls = url.protocol === 'https:'
  const agent = new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: connections })
  const database = decodeURIComponent(url.pathname.slice(1))
  const [user, password] = [decodeURIComponent(url.username) || 'default', decodeURIComponent(url.password)]
  const options = {
    agent,
    method: 'POST',
    ...('url' in address
      ? { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port, auth: `${user}:${password}` }
      : { socketPath: address.socketPath }),
  }
  const request = isTls ? requestHttps : requestHttp

  function pathOf({ sql, queryId, settings, params = {}, rows }: ColumnarRequest): string {
    const query = new URLSearchParams()
    if (queryId !== undefined) query.set('query_id', queryId)
    if (database !== '') query.set('database', database)
    for (const [name, value] of Object.entries(settings)) query.set(name, String(value))
    for (const [name, value] of Object.entries(params)) query.set(`param_${name}`, paramText(value))
    if (rows !== undefined) query.set('query', sql)
    return `/?${query}`
  }

  /** @param onCut called where a connection that had served before ended in the place of an answer */
  function attempt(asked: ColumnarRequest, onCut?: () => void): Promise<IncomingMessage> {
    const { sql, rows, signal } = asked
    return new Promise((resolve, reject) => {
      const sent = request({ ...options, path: pathOf(asked), ...(signal && { signal }) }, resolve)
      const fail = (error: NodeJS.ErrnoException): void => {
        if (onCut && sent.reusedSocket && error.code === 'ECONNRESET') onCut()
        else reject(columnarErrorFrom(error))
      }
      // It may fail after the answer has begun too, which tells of that itself.
      sent.on('error', fail)
      write(sent, rows ?? sql, fail)
    })
  }

  /** A server closes connections that are idle, now and then as a request comes: what only reads is sent once more. */
  function attemptTwice(asked: ColumnarRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      attempt(asked, () => attempt(asked).then(resolve, reject)).then(resolve, reject)
    })
  }

  return {
    /**
     * Resolves with the answer once its head is there.
     * @throws {ColumnarError | ColumnarUnavailable}; what broke the rows off, as the cause of the latter
     */
    async send(asked: ColumnarRequest): Promise<IncomingMessage> {
      const isRepeatable = 'url' in address && asked.settings.readonly === 1
      const answer = await (isRepeatable ? attemptTwice(asked) : attempt(asked))
      if (answer.statusCode === 200) return answer
      throw readException(await text(answer).catch((error: Error) => error.message))
    },

    close(): void {
      agent.destroy()
    },
  }
}

function write(to: ClientRequest, body: Readable | Buffer | string, fail: (error: Error) => void): void {
  if (typeof body === 'string' || Buffer.isBuffer(body)) to.end(body)
  else
    pipeline(body, to, (error) => {
      if (error) fail(error)
    })
}
