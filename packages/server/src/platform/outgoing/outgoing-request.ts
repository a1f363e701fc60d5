import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { OutgoingError, unreachable } from './outgoing-error.ts'
import type { OutgoingUrl } from './outgoing-url.ts'

export interface Exchange {
  readonly to: OutgoingUrl
  /** The one address that is connected to; it has been checked. */
  readonly address: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  /** The length of a stream stands in the headers. */
  readonly body?: string | Readable
  /** Most bytes of a body that are read. */
  readonly limitBytes: number
  /** What more than that means: the rest does not matter, or the answer is of no use. */
  readonly beyondLimit: 'cut' | 'fail'
  /** For the handshake too. */
  readonly connectMs: number
  /** Ends the whole exchange; its reason is what is thrown. */
  readonly signal: AbortSignal
  /** Certificates of authorities that are trusted instead of the usual ones. */
  readonly authorities?: string | undefined
  /** Takes the body of a success piece by piece instead of `body`; what it throws ends the exchange. */
  readonly onPiece?: ((piece: Buffer) => Promise<void>) | undefined
}

export interface Answer {
  readonly status: number
  readonly location: string | undefined
  readonly headers: IncomingHttpHeaders
  /** Empty where `onPiece` has taken it. */
  readonly body: Buffer
}

const maxHeadBytes = 16_384
/** Of the answer in the place of a file only the status matters. */
const refusedBody = { limitBytes: 16_384, beyondLimit: 'cut' } as const

/** Codes of Node.js and OpenSSL for a certificate or handshake that is not as it must be. */
const tlsCode =
  /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA)/

function errorOf(error: NodeJS.ErrnoException, host: string): OutgoingError {
  const { code = '' } = error
  if (tlsCode.test(code))
    return new OutgoingError('tls', `${host} has no valid certificate (${code})`, { cause: error })
  if (code.startsWith('HPE_'))
    return new OutgoingError('reply', `${host} does not answer as HTTP asks (${code})`, { cause: error })
  return unreachable(host, error)
}

async function readBody(
  reply: IncomingMessage,
  { limitBytes, beyondLimit, to, onPiece }: Pick<Exchange, 'limitBytes' | 'beyondLimit' | 'to' | 'onPiece'>,
): Promise<Buffer> {
  const encoding = reply.headers['content-encoding']
  const isCompressed = encoding !== undefined && encoding !== 'identity'
  // What is taken piece by piece is kept as it comes: one layer of gzip is a file packed with gzip.
  const isFile = onPiece !== undefined && encoding === 'gzip'
  if ((beyondLimit === 'fail' || onPiece) && isCompressed && !isFile)
    throw new OutgoingError('reply', `${to.host} sent a compressed answer, which was not asked for`)
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of reply as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > limitBytes) {
      if (beyondLimit === 'cut') break
      throw new OutgoingError('reply', `the answer of ${to.host} is larger than ${limitBytes} bytes`)
    }
    if (onPiece) await onPiece(piece)
    else pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/**
 * One request over one connection of its own, to the address given and no other. TLS is always verified, whatever
 * the environment says. Follows no redirect and decompresses nothing.
 * @throws OutgoingError
 */
export async function exchange(wanted: Exchange): Promise<Answer> {
  const { to, address, method, body, connectMs, signal, authorities } = wanted
  const isTls = to.url.protocol === 'https:'
  const options: RequestOptions = {
    method,
    host: address,
    port: to.port,
    path: `${to.url.pathname}${to.url.search}`,
    headers: {
      host: to.url.host,
      'accept-encoding': 'identity',
      connection: 'close',
      ...(typeof body !== 'string' ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...wanted.headers,
    },
    agent: false,
    maxHeaderSize: maxHeadBytes,
  }
  const request = isTls
    ? requestHttps({
        ...options,
        ...(isIP(to.host) === 0 ? { servername: to.host } : {}),
        ...(authorities === undefined ? {} : { ca: authorities }),
        rejectUnauthorized: true,
        minVersion: 'TLSv1.2',
      })
    : requestHttp(options)

  let ended: OutgoingError | undefined
  const end = (error: OutgoingError): void => {
    ended ??= error
    request.destroy(ended)
  }
  const onAbort = (): void => end(signal.reason as OutgoingError)
  const connecting = setTimeout(
    () => end(new OutgoingError('timeout', `${to.host} took longer than ${connectMs / 1000} s to connect`)),
    connectMs,
  )
  request.once('socket', (socket) => {
    socket.once(isTls ? 'secureConnect' : 'connect', () => clearTimeout(connecting))
  })
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve).on('error', reject)
      // A switch of protocols was not asked for.
      request.once('upgrade', () =>
        end(new OutgoingError('reply', `${to.host} does not answer as HTTP asks`)),
      )
      if (typeof body === 'object') pipeline(body, request).catch(reject)
      else request.end(body)
    })
    const { statusCode: status = 0, headers } = reply
    const isTaken = status >= 200 && status <= 299
    return {
      status,
      location: headers.location,
      headers,
      body: await readBody(reply, isTaken || !wanted.onPiece ? wanted : { to, ...refusedBody }),
    }
  } catch (error) {
    if (ended) throw ended
    throw error instanceof OutgoingError ? error : errorOf(error as NodeJS.ErrnoException, to.host)
  } finally {
    clearTimeout(connecting)
    signal.removeEventListener('abort', onAbort)
    request.destroy()
  }
}
