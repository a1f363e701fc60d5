import type { Operation, OperationAudit } from '@millrace/contract/operation.ts'
import type { Permission } from '@millrace/contract/permissions.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isSecret } from '../../../../platform/crypto/secrets.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { readBearer } from '../../../../platform/http/bearer-token.ts'
import { failure } from '../../../../platform/http/envelope.ts'
import { holds, type Principal } from '../principal.ts'
import type { RecordRefusal } from './refusal-audit.ts'

export interface BearerGuardDependencies {
  /** Whom a token belongs to; undefined when it is not valid. @param address that it came from */
  readonly findPrincipal: (token: string, address: string) => Promise<Principal | undefined>
  readonly recordRefusal: RecordRefusal
}

/** One body for every reason (docs/faults.md, H01 and H04). */
function refuse(reply: FastifyReply, challenge: string): FastifyReply {
  return reply
    .code(401)
    .headers({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'www-authenticate': challenge,
    })
    .send(JSON.stringify(failure(new DomainError('unauthenticated'))))
}

function requirePermission(request: FastifyRequest, permission: Permission): void {
  if (!holds(request.principal, permission)) throw new DomainError('forbidden', { ...permission })
}

/** Authenticates requests by their access token (docs/interface.md, Authentication 5). */
export function createBearerGuard({ findPrincipal, recordRefusal }: BearerGuardDependencies) {
  async function authenticate(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply | undefined> {
    const token = readBearer(request)
    if (token === undefined) return refuse(reply, 'Bearer')
    const principal = isSecret(token) ? await findPrincipal(token, request.ip) : undefined
    if (!principal) return refuse(reply, 'Bearer error="invalid_token"')
    request.principal = principal
    request.caller = { principal, address: request.ip }
    reply.header('cache-control', 'no-store')
    return undefined
  }

  /** A refusal stands even when it cannot be recorded; the service's log has the error then. */
  const auditRefusals =
    (audit: OperationAudit) =>
    async (request: FastifyRequest, _reply: FastifyReply, error: unknown): Promise<void> => {
      const { caller, params, body } = request
      try {
        await recordRefusal(audit, { caller, params, body }, error)
      } catch (cause) {
        request.log.error({ err: cause, requestId: request.id }, 'a refusal was not recorded')
      }
    }

  return {
    authenticate,

    /**
     * Makes a scope the authenticated one: every request is authenticated before its body is read, and a route
     * of an operation with a permission checks it before its handler. What an operation with an action
     * of the audit log refuses is recorded, wherever it is refused.
     */
    protect(scope: FastifyInstance): void {
      for (const name of ['principal', 'caller'])
        if (!scope.hasRequestDecorator(name)) scope.decorateRequest(name)
      scope.addHook('onRequest', authenticate)
      scope.addHook('onRoute', (route) => {
        const { permission, audit } = route as Partial<Operation>
        if (audit) route.onError = [auditRefusals(audit), ...[route.onError ?? []].flat()]
        if (!permission) return
        const check = async (request: FastifyRequest) => requirePermission(request, permission)
        route.preHandler = [check, ...[route.preHandler ?? []].flat()]
      })
    },
  }
}
