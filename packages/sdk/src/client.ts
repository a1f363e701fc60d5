import type { Client, ClientOptions, Reply, StreamOptions } from './client-types.ts'
import { type OperationRow, operationRows } from './contract-table.ts'
import type { OperationTypes, Warning } from './contract-types.ts'
import { type ErrorContext, UnexpectedReplyError } from './errors.ts'
import { allItems, type Page } from './pages.ts'
import { type QueryInput, type QueryRow, wholeQuery } from './query.ts'
import { readBody } from './reply.ts'
import { type Addresses, prepareRequest, type RequestParts, randomKey, readAddresses } from './request.ts'
import { explained, readRows } from './rows.ts'
import { createTokenSource, type TokenSource } from './tokens.ts'
import { brokenConnection, type CallOptions, createTransport, type Transport } from './transport.ts'

const ndjson = 'application/x-ndjson'
const csv = 'text/csv'

interface Parts {
  readonly addresses: Addresses
  readonly transport: Transport
  readonly tokens: TokenSource
}

/**
 * A client of the service with a method for every operation, `client.listWorkflows({ query: { perPage: 20 } })`.
 * Creating it sends nothing: the first call gets the tokens.
 * @throws {TypeError} where an address is none
 */
export function createClient(options: ClientOptions): Client {
  const addresses = readAddresses(options.baseUrl, options.collectorUrl)
  const transport = createTransport({
    fetch: options.fetch ?? fetch,
    timeoutMs: options.timeoutMs ?? 60_000,
    maxRetries: options.maxRetries ?? 3,
    maxRetryDelayMs: options.maxRetryDelayMs ?? 30_000,
  })
  const tokens = createTokenSource(options, {
    now: options.now ?? Date.now,
    grant: async (body) => {
      const answer = await callOperation(parts, 'createToken', tokenRow, { body }, {})
      return readTokens(answer.body)
    },
  })
  const parts: Parts = { addresses, transport, tokens }
  const methods = Object.entries(operationRows).map(([id, row]) => [id, createMethod(parts, id, row)])
  return { ...Object.fromEntries(methods), ...createHelpers(parts) } as Client
}

const rowOf = (id: keyof OperationTypes) => operationRows[id] as OperationRow

/** Asking for tokens twice leaves at most a session that is not used. */
const tokenRow = { ...rowOf('createToken'), isIdempotent: true }

function readTokens(body: unknown): OperationTypes['createToken']['data'] {
  const answer = body as OperationTypes['createToken']['data'] | undefined
  if (typeof answer?.access_token === 'string' && typeof answer.expires_in === 'number') return answer
  throw new UnexpectedReplyError(
    'The answer to the token request has no tokens: is baseUrl the address of the service?',
    {
      operation: 'createToken',
      attempts: 1,
    },
  )
}

function send<T>(
  { addresses, transport, tokens }: Parts,
  operation: string,
  row: OperationRow,
  request: RequestParts,
  options: CallOptions,
  read: (response: Response, context: ErrorContext) => Promise<T>,
): Promise<T> {
  const prepared = prepareRequest(operation, row, addresses, request)
  if (row.takesKey && !prepared.headers.has('idempotency-key'))
    prepared.headers.set('idempotency-key', randomKey())
  return transport.send({
    ...options,
    operation,
    row,
    request: prepared,
    isIdempotent: row.isIdempotent || row.takesKey,
    token: row.hasToken ? (refused) => tokens.get(refused) : undefined,
    read,
  })
}

function callOperation(
  parts: Parts,
  id: string,
  row: OperationRow,
  request: RequestParts,
  options: CallOptions,
): Promise<Reply<unknown>> {
  return send(parts, id, row, request, options, async (response, context) => ({
    status: response.status,
    headers: response.headers,
    body: await readBody(response, row, context),
  }))
}

function createMethod(parts: Parts, id: string, row: OperationRow): unknown {
  const reply = async (request: RequestParts = {}, options: CallOptions = {}) =>
    callOperation(parts, id, row, request, options)
  const call = async (request?: RequestParts, options?: CallOptions) => {
    const { body } = await reply(request, options)
    return row.hasEnvelope ? (body as { data: unknown }).data : body
  }
  const raw = async (request: RequestParts = {}, options: CallOptions = {}) =>
    send(parts, id, row, request, options, async (response) => response)
  const all = (request: RequestParts = {}, options: CallOptions = {}) =>
    allItems(request.query ?? {}, async (query) => {
      const { body } = await reply({ ...request, query }, options)
      return body as Page<unknown>
    })
  return Object.assign(call, {
    reply,
    raw,
    ...(row.hasPages ? { all } : {}),
    ...(row.streams.includes(ndjson)
      ? {
          rows: (request?: RequestParts, options?: StreamOptions) =>
            streamRows(parts, id, row, request, options),
        }
      : {}),
    ...(row.streams.includes(csv)
      ? {
          csv: (request?: RequestParts, options?: StreamOptions) =>
            openStream(parts, id, row, csv, request, options).then(({ body }) => body),
        }
      : {}),
  })
}

/** Opens the bare result in a content type; it must be read or cancelled. */
async function openStream(
  parts: Parts,
  id: string,
  row: OperationRow,
  type: string,
  request: RequestParts = {},
  { onWarnings, ...options }: StreamOptions = {},
): Promise<{ readonly body: ReadableStream<Uint8Array>; readonly context: ErrorContext }> {
  const query = type === csv && row.hasFormat ? { ...request.query, format: 'csv' } : request.query
  const asked = {
    ...request,
    ...(query ? { query } : {}),
    headers: { ...request.headers, accept: type },
  }
  return send(parts, id, row, asked, options, async (response, context) => {
    const answered = response.headers.get('content-type') ?? 'no content type'
    if (!answered.startsWith(type))
      throw new UnexpectedReplyError(`${id} was to answer ${type} and answered ${answered}`, context)
    const warnings = response.headers.get('x-millrace-warnings')
    if (warnings !== null) onWarnings?.(JSON.parse(warnings) as Warning[])
    const explain = (error: unknown) =>
      options.signal?.aborted ? options.signal.reason : brokenConnection(error, response.url, context)
    return { body: explained(response.body ?? new Blob().stream(), explain), context }
  })
}

async function* streamRows(
  parts: Parts,
  id: string,
  row: OperationRow,
  request?: RequestParts,
  options?: StreamOptions,
): AsyncGenerator<Record<string, unknown>, void, undefined> {
  const { body, context } = await openStream(parts, id, row, ndjson, request, options)
  yield* readRows<Record<string, unknown>>(body, context)
}

function createHelpers(parts: Parts) {
  return {
    async query<Q extends QueryInput>(query: Q, options: CallOptions = {}) {
      const reply = await callOperation(
        parts,
        'runQuery',
        rowOf('runQuery'),
        { body: wholeQuery(query) },
        options,
      )
      const { data, warnings = [], total } = reply.body as OperationTypes['runQuery']['body']
      return {
        rows: JSON.parse(data) as QueryRow<Q>[],
        warnings,
        ...(total === undefined ? {} : { total }),
      }
    },

    streamRows(query: QueryInput, options?: StreamOptions) {
      return streamRows(parts, 'runQuery', rowOf('runQuery'), { body: wholeQuery(query) }, options)
    },

    async signOut(options: CallOptions = {}) {
      const session = parts.tokens.session()
      parts.tokens.clear()
      if (!session) return
      const body = { client_id: session.clientId, token: session.refreshToken }
      await callOperation(parts, 'revokeToken', rowOf('revokeToken'), { body }, options)
    },
  }
}
