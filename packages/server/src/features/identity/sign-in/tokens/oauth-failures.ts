import { errorTable } from '@millrace/contract/errors.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DomainError } from '../../../../platform/errors.ts'
import { failure } from '../../../../platform/http/envelope.ts'
import { toDomainError } from '../../../../platform/http/failures.ts'

/** RFC 6749's `error`; failures that every operation can have fall into its general ones by their status. */
export function oauthError({ errorName, status }: DomainError): string {
  const row = errorTable[errorName]
  if ('oauth' in row) return row.oauth
  if (status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

/** RFC 6749 5.2 allows printable ASCII without the quotation mark and the backslash. */
export function oauthDescription(message: string): string {
  return message.replaceAll('"', "'").replaceAll(/[^\x20-\x5b\x5d-\x7e]/g, '?')
}

/** A client that named itself by `Authorization: Basic` is answered in kind (RFC 6749 5.2). */
function challenge(error: DomainError, request: FastifyRequest): string {
  return error.errorName === 'invalidClient' && request.headers.authorization !== undefined
    ? 'Basic realm="millrace"'
    : 'Bearer'
}

function send(error: DomainError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply
    .code(error.status)
    .header('content-type', 'application/json; charset=utf-8')
    .headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
  if (error.status === 401) reply.header('www-authenticate', challenge(error, request))
  const retryAfter = error.retryAfterSeconds ?? (error.status === 503 ? 1 : undefined)
  if (retryAfter !== undefined) reply.header('retry-after', String(Math.ceil(retryAfter)))
  return reply.send(
    JSON.stringify({
      ...failure(error),
      error: oauthError(error),
      error_description: oauthDescription(error.message),
    }),
  )
}

/**
 * In this scope a failure carries the fields of the fail envelope and RFC 6749's `error` and
 * `error_description` side by side (docs/interface.md, Token service).
 */
export function useOAuthFailures(scope: FastifyInstance): void {
  scope.setErrorHandler((error, request, reply) => send(toDomainError(error, request), request, reply))
}
