import type { Socket } from 'node:net'
import { DomainError } from '../errors.ts'
import { failure } from './envelope.ts'
import { bringsLongBody } from './long-bodies.ts'

/** The longest address and headers together, in bytes; more is refused while it arrives. */
export const headerBytes = 16_384
/** Header lines of one request. */
export const headerLines = 200

const tooLarge = `Address and headers take at most ${headerBytes} bytes and ${headerLines} lines`
const invalid = 'The request is not valid HTTP/1.1'

interface BrokenRequest extends Error {
  readonly code?: string
  /** What Node's parser says, in fixed words. */
  readonly reason?: string
}

function errorOfBrokenRequest({ code, reason }: BrokenRequest): DomainError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new DomainError('requestTimeout')
    case 'HPE_HEADER_OVERFLOW':
      return new DomainError('headersTooLarge', {}, { message: tooLarge })
    default:
      return new DomainError('malformed', {}, { message: [invalid, reason].filter(Boolean).join(': ') })
  }
}

const statusTexts: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/**
 * Answers what Node could not read as a request, or what did not arrive in time, and ends the connection. There
 * is no request yet, and the bytes that follow on the connection can no longer be assigned to a request. A reply that is already
 * under way is cut instead: bytes in the midst of it would read as a part of it.
 */
export function answerBrokenRequest(error: BrokenRequest, socket: Socket): void {
  // Node looks at each request once; the silence of the connection is bounded besides.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && bringsLongBody(socket)) return
  const { _httpMessage: reply } = socket as Socket & { _httpMessage?: { headersSent: boolean } }
  if (error.code !== 'ECONNRESET' && socket.writable && !reply?.headersSent) {
    const refusal = errorOfBrokenRequest(error)
    const body = JSON.stringify(failure(refusal))
    const head = [
      `HTTP/1.1 ${refusal.status} ${statusTexts[refusal.status] ?? 'Bad Request'}`,
      'content-type: application/json; charset=utf-8',
      'cache-control: no-store',
      'x-content-type-options: nosniff',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
  socket.destroy()
}
