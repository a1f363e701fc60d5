import type { OperationRow } from './contract-table.ts'
import { type ErrorContext, failureError, type MillraceError, UnexpectedReplyError } from './errors.ts'

interface FailBody {
  readonly message: string
  readonly error_code: number
  readonly data: unknown
}

/** Characters of a foreign answer that an error repeats. */
const quotedLength = 200
/** Bytes of a failure: the service writes less, and what stands at its address may write without end. */
const maxFailureBytes = 4 * 1024 * 1024

/** Throws what an answer that is no success stands for; it has read the body then. */
export async function refuseFailure(
  response: Response,
  row: OperationRow,
  context: ErrorContext,
): Promise<void> {
  // A browser does not show where a redirect leads: the status is 0.
  if (response.type === 'opaqueredirect') {
    if (row.statuses.some((status) => status >= 300 && status < 400)) return
    throw redirected(response, 'another address', context)
  }
  if (row.statuses.includes(response.status) || (response.ok && row.statuses.includes(200))) return
  const text = await readBeginning(response)
  if (response.status >= 300 && response.status < 400)
    throw redirected(response, response.headers.get('location') ?? 'another address', context)
  throw errorOf(response, text, context)
}

async function readBeginning({ body }: Response): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>
  const decoder = new TextDecoder()
  const pieces: string[] = []
  for (let bytes = 0; bytes < maxFailureBytes; ) {
    const { done, value } = await reader.read()
    if (done) return pieces.join('') + decoder.decode()
    bytes += value.byteLength
    pieces.push(decoder.decode(value, { stream: true }))
  }
  // Not waited for: what does not end may not let itself be ended.
  reader.cancel().catch(() => {})
  return pieces.join('')
}

function errorOf(response: Response, text: string, context: ErrorContext): MillraceError {
  const { status, headers } = response
  const fail = readFail(text)
  if (fail)
    return failureError(fail.message, context, {
      status,
      headers,
      errorCode: fail.error_code,
      data: fail.data,
    })
  const message = `${foreign(response, text)}: ${adviceFor(status)}`
  const isOfProxy = status === 429 || (status >= 502 && status <= 504)
  if (isOfProxy) return failureError(message, context, { status, headers })
  return new UnexpectedReplyError(message, context, { status, headers })
}

function adviceFor(status: number): string {
  return status >= 502
    ? 'a proxy before the service seems not to reach it'
    : 'is baseUrl the address of the service, and does nothing else answer there?'
}

function redirected(response: Response, to: string, context: ErrorContext): UnexpectedReplyError {
  return new UnexpectedReplyError(
    `The service was not found at this address, which redirects to ${to}: give the final address as baseUrl`,
    context,
    { status: response.status, headers: response.headers },
  )
}

function foreign({ status, headers, url }: Response, text: string): string {
  const type = headers.get('content-type') ?? 'no content type'
  const quoted = text.trim().slice(0, quotedLength)
  return `${url === '' ? 'The address' : new URL(url).origin} answered ${status} with ${type}, which is no answer of the service${quoted === '' ? '' : ` (${quoted})`}`
}

function readFail(text: string): FailBody | undefined {
  const body = parseJson(text)
  if (!isRecord(body)) return undefined
  const { message, error_code, data } = body
  if (typeof message !== 'string' || typeof error_code !== 'number') return undefined
  return { message, error_code, data }
}

/**
 * The body of an answer by its content type: JSON as a value, text as a text, anything else as bytes, and undefined
 * where there is none.
 * @throws {UnexpectedReplyError} where an envelope is due and something else came
 */
export async function readBody(
  response: Response,
  row: OperationRow,
  context: ErrorContext,
): Promise<unknown> {
  const type = response.headers.get('content-type') ?? ''
  if (!row.hasEnvelope && type !== '' && !/json|^text\/|xml/.test(type)) return response.arrayBuffer()
  const text = await response.text()
  const body = /json/.test(type) ? parseJson(text) : undefined
  if (row.hasEnvelope && !(isRecord(body) && body.status === 'success' && 'data' in body))
    throw new UnexpectedReplyError(`${foreign(response, text)}: ${adviceFor(response.status)}`, context, {
      status: response.status,
      headers: response.headers,
    })
  if (body !== undefined) return body
  return text === '' ? undefined : text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
