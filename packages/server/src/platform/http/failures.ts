import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../errors.ts'
import { type Language, negotiateLanguage } from '../i18n/language.ts'
import { failure } from './envelope.ts'
import type { Exchange } from './exchange.ts'
import { faultOfFraming, isTooMuchToDrain } from './request-framing.ts'

const malformed: ReadonlyMap<string, string> = new Map([
  ['FST_ERR_CTP_EMPTY_JSON_BODY', 'The body is empty; send a JSON document'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'The body does not have the length that Content-Length names'],
  ['FST_ERR_BAD_URL', 'The address is not valid: its percent signs must encode UTF-8'],
  ['FST_ERR_MAX_PARAM_LENGTH', 'A part of the address is longer than any identifier'],
])

/** What Fastify itself refuses before a handler runs, by its error code. */
function fromFastify(error: FastifyError, request: FastifyRequest): DomainError | undefined {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new DomainError(
        'payloadTooLarge',
        { limit: request.routeOptions.bodyLimit ?? 0, unit: 'bytes' },
        { cause: error },
      )
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new DomainError('unsupportedMediaType', { accepted: acceptedTypes(request) }, { cause: error })
    default: {
      const message = malformed.get(error.code)
      return message === undefined ? undefined : new DomainError('malformed', {}, { message, cause: error })
    }
  }
}

function acceptedTypes({ server }: FastifyRequest): string[] {
  const types = ['application/json', 'application/x-www-form-urlencoded']
  return types.filter((type) => server.hasContentTypeParser(type))
}

/** What a failure says of itself beside its body. */
function failureHeaders(error: DomainError, language: Language): Record<string, string> {
  const headers: Record<string, string> = {
    'content-language': language,
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  if (error.status === 401) headers['www-authenticate'] = 'Bearer'
  if (error.retryAfterSeconds !== undefined)
    headers['retry-after'] = String(Math.ceil(error.retryAfterSeconds))
  else if (error.status === 503) headers['retry-after'] = '1'
  return headers
}

/** Sends the fail envelope, in the language of the request, with the headers that its status asks for. */
export function sendFailure(reply: FastifyReply, error: DomainError): FastifyReply {
  const language = negotiateLanguage(undefined, reply.request.headers['accept-language'])
  const vary = [reply.getHeader('vary') ?? []].flat().map(String)
  const known = reply.getHeader('www-authenticate')
  reply
    .code(error.status)
    .header('vary', [...vary, 'Accept-Language'].join(', '))
    .headers(failureHeaders(error, language))
  if (known !== undefined) reply.header('www-authenticate', known)
  return reply.send(JSON.stringify(failure(error, language)))
}

/** The same on Node's own objects. */
export function answerFailure(
  { request, response, isLast }: Exchange,
  error: DomainError,
  headers: Readonly<Record<string, string>> = {},
): void {
  const language = negotiateLanguage(undefined, request.headers['accept-language'])
  const body = JSON.stringify(failure(error, language))
  response.statusCode = error.status
  const all = { vary: 'Accept-Language', ...failureHeaders(error, language), ...headers }
  for (const [name, value] of Object.entries(all)) response.setHeader(name, value)
  if (isLast() || isTooMuchToDrain(request)) response.setHeader('connection', 'close')
  response.setHeader('content-length', Buffer.byteLength(body))
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Any error as the caller may see it. */
export function toDomainError(error: unknown, request: FastifyRequest): DomainError {
  if (error instanceof DomainError) return error
  return fromFastify(error as FastifyError, request) ?? unexpectedError(error, request)
}

/**
 * An error that no caller is to see is logged whole and answered without internals. What a body throws that its client
 * breaks off is none.
 */
export function unexpectedError(
  error: unknown,
  { raw, id, log }: Pick<FastifyRequest, 'raw' | 'id' | 'log'>,
): DomainError {
  const status = (error as FastifyError).statusCode
  if (status !== undefined && status >= 400 && status < 500) {
    return new DomainError('malformed', {}, { message: (error as Error).message, cause: error })
  }
  if (error === raw.errored) {
    log.info({ requestId: id }, 'request cancelled: the client has left')
    return new DomainError('requestTimeout', {}, { cause: error })
  }
  log.error({ err: error, requestId: id }, 'request failed')
  return new DomainError('internal', { requestId: id }, { cause: error })
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** A known path with another method (405 with `Allow`) or an unknown one (404). */
export function unroutedError(
  allowed: readonly string[],
  { method, url }: FastifyRequest,
  reply: FastifyReply,
): DomainError {
  const path = withoutQuery(url)
  if (allowed.length === 0 || allowed.includes(method))
    return new DomainError('unknownPath', { method, path: path.slice(0, 200) })
  reply.header('allow', allowed.join(', '))
  return new DomainError('methodNotAllowed', { method, allowed: [...allowed] })
}

function withoutQuery(url: string): string {
  return url.split('?', 1)[0] ?? url
}

/** Methods of the routes that take this address part by part; a route for whatever is left over is none of them. */
export function methodsAt(app: FastifyInstance, url: string): string[] {
  return methods.filter((method) => matches(app, method, withoutQuery(url)))
}

function answerUnrouted(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const url = withoutQuery(request.url)
  const allowed = methods.filter((method) => app.findRoute({ method, url }) || matches(app, method, url))
  return sendFailure(reply, unroutedError(allowed, request, reply))
}

/**
 * Answers every error, and what is not framed as one request, in the fail envelope; the latter before anything of a
 * body is read.
 */
export function useFailureReplies(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => sendFailure(reply, toDomainError(error, request)))
  app.setNotFoundHandler((request, reply) => answerUnrouted(app, request, reply))
  app.addHook('onRequest', (request, reply, done) => {
    const fault = faultOfFraming(request.raw)
    if (fault) sendFailure(reply.header('connection', 'close'), fault)
    else done()
  })
}

/** Answers what no route takes before anything of a body is read. */
export function answerUnroutedAtOnce(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) answerUnrouted(app, request, reply)
    else done()
  })
}

/** Whether a route with parameters takes this path; Fastify offers no public look-up by a concrete path. */
function matches(app: FastifyInstance, method: string, path: string): boolean {
  const wanted = path.split('/')
  for (const pattern of app.routePatterns.get(method) ?? []) {
    const parts = pattern.split('/')
    if (
      parts.length === wanted.length &&
      parts.every((part, i) => (part.startsWith(':') ? wanted[i] !== '' : part === wanted[i]))
    )
      return true
  }
  return false
}
