import type { ErrorName } from '@millrace/contract/errors.ts'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DomainError } from '../../../platform/errors.ts'
import { toDomainError } from '../../../platform/http/failures.ts'
import { ScimRefusal } from './protocol/refusal.ts'
import { errorSchema } from './protocol/schema/schemas.ts'
import type { ScimCall, ScimFailure, ScimRequests, UnknownTokenRequest } from './scim-request-service.ts'

export const scimContentType = 'application/scim+json; charset=utf-8'

/** Error names with a detail keyword of RFC 7644 3.12; the others have none. */
const scimTypes: ReadonlyMap<ErrorName, string> = new Map<ErrorName, string>([
  ['malformed', 'invalidSyntax'],
  ['tooComplex', 'invalidSyntax'],
  ['validation', 'invalidValue'],
])

interface Failure extends ScimFailure {
  readonly detail: string
  /** Seconds. */
  readonly retryAfter: number | undefined
}

function fromRefusal(refusal: ScimRefusal): Failure {
  const { status, scimType, errorName, message } = refusal
  return { status, scimType, errorName, detail: message, retryAfter: undefined }
}

function fromDomainError({ errorName, status, message, retryAfterSeconds }: DomainError): Failure {
  const retryAfter = retryAfterSeconds ?? (status === 503 ? 1 : undefined)
  return { status, scimType: scimTypes.get(errorName), errorName, detail: message, retryAfter }
}

function toFailure(error: unknown, request: FastifyRequest): Failure {
  if (error instanceof ScimRefusal) return fromRefusal(error)
  const known = toDomainError(error as FastifyError, request)
  if (known.errorName === 'lastAdministrator')
    return fromRefusal(new ScimRefusal('lastAdministrator', known.message))
  if (known.errorName === 'unsupportedMediaType')
    return {
      ...fromDomainError(known),
      detail: 'Send the body as application/scim+json in UTF-8, uncompressed',
    }
  return fromDomainError(known)
}

/** RFC 7644 3.12: the status is a text. */
function sendScimFailure(
  reply: FastifyReply,
  { status, scimType, detail, retryAfter }: Failure,
): FastifyReply {
  reply.code(status).headers({ 'content-type': scimContentType, 'cache-control': 'no-store' })
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  if (retryAfter !== undefined) reply.header('retry-after', String(Math.ceil(retryAfter)))
  const body = { schemas: [errorSchema], status: String(status), ...(scimType && { scimType }), detail }
  return reply.send(JSON.stringify(body))
}

/** In this scope every failure is an error of RFC 7644, and is recorded where a token was sent. */
export function useScimFailures(
  scope: FastifyInstance,
  requests: Pick<ScimRequests, 'recordRefusal' | 'recordUnknownToken'>,
  callOf: (request: FastifyRequest) => ScimCall | UnknownTokenRequest | undefined,
): void {
  async function record(request: FastifyRequest, failure: ScimFailure): Promise<void> {
    const call = callOf(request)
    if (call === undefined) return
    if ('holder' in call) await requests.recordRefusal(call, failure)
    else await requests.recordUnknownToken(call)
  }

  scope.setErrorHandler(async (error, request, reply) => {
    const failure = toFailure(error, request)
    await record(request, failure).catch((cause: unknown) => {
      request.log.error({ err: cause, requestId: request.id }, 'a refusal was not recorded')
    })
    return sendScimFailure(reply, failure)
  })
}
