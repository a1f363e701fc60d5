import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../errors.ts'
import { failure } from './envelope.ts'

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
      return new DomainError('unsupportedMediaType', { accepted: ['application/json'] }, { cause: error })
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new DomainError(
        'malformed',
        {},
        { message: 'The body is empty; send a JSON document', cause: error },
      )
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new DomainError(
        'malformed',
        {},
        { message: 'The body does not have the length that Content-Length names', cause: error },
      )
    default:
      return undefined
  }
}

/** Sends the fail envelope with the headers that its status asks for. */
export function sendFailure(reply: FastifyReply, error: DomainError): FastifyReply {
  reply
    .code(error.status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
  if (error.status === 401) reply.header('www-authenticate', 'Bearer')
  if (error.retryAfterSeconds !== undefined)
    reply.header('retry-after', String(Math.ceil(error.retryAfterSeconds)))
  else if (error.status === 503) reply.header('retry-after', '1')
  return reply.send(JSON.stringify(failure(error)))
}

/** An error of any kind as the caller may see it; what is not foreseen is logged whole and answered without internals. */
export function toDomainError(error: unknown, request: FastifyRequest): DomainError {
  if (error instanceof DomainError) return error
  const known = fromFastify(error as FastifyError, request)
  if (known) return known
  const status = (error as FastifyError).statusCode
  if (status !== undefined && status >= 400 && status < 500) {
    return new DomainError('malformed', {}, { message: (error as Error).message, cause: error })
  }
  request.log.error({ err: error, requestId: request.id }, 'request failed')
  return new DomainError('internal', { requestId: request.id }, { cause: error })
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Answers unknown paths (404), known paths with another method (405 with `Allow`) and every error in the fail envelope. */
export function useFailureReplies(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => sendFailure(reply, toDomainError(error, request)))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? request.url
    const allowed = methods.filter(
      (method) => app.findRoute({ method, url: path }) || matches(app, method, path),
    )
    if (allowed.length > 0) {
      reply.header('allow', allowed.join(', '))
      return sendFailure(reply, new DomainError('methodNotAllowed', { method: request.method, allowed }))
    }
    return sendFailure(
      reply,
      new DomainError('unknownPath', { method: request.method, path: path.slice(0, 200) }),
    )
  })
}

/** Whether a route with parameters takes this path; Fastify offers no public look-up by a concrete path. */
function matches(app: FastifyInstance, method: string, path: string): boolean {
  const wanted = path.split('/')
  for (const pattern of app.routePatterns.get(method) ?? []) {
    const parts = pattern.split('/')
    if (
      parts.length === wanted.length &&
      parts.every((part, i) => part.startsWith(':') || part === wanted[i])
    )
      return true
  }
  return false
}
