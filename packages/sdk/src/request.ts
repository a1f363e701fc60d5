import { readAddress } from './address.ts'
import type { OperationRow } from './contract-table.ts'

/** What a caller sends, as every operation takes it; its own types are in `OperationTypes`. */
export interface RequestParts {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

export interface PreparedRequest {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: RequestInit['body'] | undefined
  /** Whether the body can be sent again. */
  readonly canRepeat: boolean
}

/** The addresses of the service, each without a slash at the end and without `/v2`. */
export interface Addresses {
  readonly base: string
  readonly collector: string
}

/** @throws {TypeError} for anything but an absolute http or https address */
export function readAddresses(baseUrl: string, collectorUrl = baseUrl): Addresses {
  const read = (name: string, text: string) => readAddress(name, text, 'give them as username and password')
  return { base: read('baseUrl', baseUrl), collector: read('collectorUrl', collectorUrl) }
}

/** @throws {TypeError} where a parameter of the path is absent */
export function prepareRequest(
  id: string,
  row: OperationRow,
  { base, collector }: Addresses,
  { params = {}, query = {}, headers = {}, body }: RequestParts,
): PreparedRequest {
  const path = row.url.replaceAll(/:(\w+)/g, (_, name: string) => segment(id, name, params[name]))
  const search = searchOf(query)
  const sent = new Headers()
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && value !== null) sent.set(name, String(value))
  const content = encode(row, body, sent)
  return {
    url: `${row.isOfCollector ? collector : base}${path}${search}`,
    method: row.method,
    headers: sent,
    body: content,
    canRepeat: !(content instanceof ReadableStream),
  }
}

/** `.` and `..` would name another address, even written as %2e. */
function segment(id: string, name: string, value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  if (text === '' || text === '.' || text === '..')
    throw new TypeError(
      `${id} needs params.${name}, a text that is not empty, "." or "..", it is ${JSON.stringify(value)}`,
    )
  return encodeURIComponent(text)
}

/** Lists are written as the name once for each value. */
function searchOf(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined && each !== null) search.append(name, String(each))
  }
  return search.size === 0 ? '' : `?${search}`
}

function encode(row: OperationRow, body: unknown, headers: Headers): RequestInit['body'] | undefined {
  if (body === undefined || row.body === undefined) return undefined
  const setType = (type: string) => {
    if (!headers.has('content-type')) headers.set('content-type', type)
  }
  switch (row.body) {
    case 'json':
      setType('application/json')
      return JSON.stringify(body)
    case 'form':
      setType('application/x-www-form-urlencoded')
      return searchOf(body as Readonly<Record<string, unknown>>).slice(1)
    case 'binary':
      setType('application/octet-stream')
      return body as RequestInit['body']
  }
}

/** 128 random bits, in hexadecimal. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
