import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { EngineException } from './exceptions.ts'
import { insertPipeParameter, isInsertPipeToken } from './insert-pipe.ts'
import type { RowSource } from './rows.ts'

/** A statement as it came over HTTP (ClickHouse, HTTP Interface). */
export interface StatementRequest {
  readonly sql: string
  /** In the escaped form of the HTTP interface. */
  readonly params: Readonly<Record<string, string>>
  readonly settings: ReadonlyMap<string, string>
  readonly queryId: string
  readonly database?: string
  readonly format?: string
  readonly readonly: boolean
  readonly whole: boolean
  /** Where the address holds an INSERT. */
  readonly rows?: RowSource
}

const ofRequest = new Set(['query', 'query_id', 'database', 'default_format', insertPipeParameter])

/** A longer statement is refused; rows of an insert are not part of it. */
const maxStatementBytes = 16 * 1024 * 1024

/** Parameters of the address that are no settings and need no answer here: this process knows its only client. */
const ignored = new Set(['user', 'password', 'quota_key', 'session_check', 'compress', 'decompress'])

/** @throws {EngineException} */
export async function readRequest(request: IncomingMessage): Promise<StatementRequest> {
  const address = new URL(request.url ?? '/', 'http://engine').searchParams
  const params: Record<string, string> = {}
  const settings = new Map<string, string>()
  const named = new Map<string, string>()
  for (const [name, value] of address) {
    if (name.startsWith('param_')) params[name.slice(6)] = value
    else if (ofRequest.has(name)) named.set(name, value)
    else if (name === 'session_id' || name === 'role') {
      throw new EngineException('NOT_IMPLEMENTED', `${name} is not supported: every statement stands alone.`)
    } else if (!ignored.has(name)) settings.set(name, value)
  }
  const { sql, rows } = await readStatement(request, named)
  const readonly = request.method === 'GET' || isOn(settings.get('readonly'))
  return {
    sql,
    params,
    settings,
    queryId: checkedId(named.get('query_id')) ?? randomUUID(),
    ...optional('database', nonDefault(named.get('database'))),
    ...optional('format', named.get('default_format')),
    readonly,
    whole: isOn(settings.get('wait_end_of_query')),
    ...optional('rows', rows),
  }
}

async function readStatement(
  request: IncomingMessage,
  named: ReadonlyMap<string, string>,
): Promise<{ sql: string; rows?: RowSource }> {
  const inAddress = named.get('query')
  if (request.headers['content-encoding'] !== undefined) {
    throw new EngineException('NOT_IMPLEMENTED', 'Compressed bodies are not supported.')
  }
  if (inAddress === undefined) return { sql: await readText(request) }
  if (request.method === 'POST' && /^\s*insert\s/i.test(inAddress)) {
    return { sql: inAddress, rows: { body: request, ...optional('beside', besideToken(named)) } }
  }
  // A server reads the body as the rest of the statement.
  return { sql: `${inAddress}\n${await readText(request)}` }
}

async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxStatementBytes) {
      throw new EngineException(
        'QUERY_IS_TOO_LARGE',
        `The statement is longer than ${maxStatementBytes} bytes.`,
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function besideToken(named: ReadonlyMap<string, string>): string | undefined {
  const token = named.get(insertPipeParameter)
  if (token === undefined || isInsertPipeToken(token)) return token
  throw new EngineException('BAD_ARGUMENTS', `${insertPipeParameter} must be 24 hexadecimal characters.`)
}

function checkedId(id: string | undefined): string | undefined {
  if (id === undefined || id === '') return undefined
  if (id.length > 200 || id.includes('\0')) {
    throw new EngineException('BAD_ARGUMENTS', 'query_id must have at most 200 characters and no NUL.')
  }
  return id
}

function nonDefault(database: string | undefined): string | undefined {
  return database === '' || database === 'default' ? undefined : database
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}

function optional<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [P in K]: V })
}
