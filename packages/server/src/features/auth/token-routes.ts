import { createToken } from '@millrace/contract/operations/auth.ts'
import type { FastifyInstance } from 'fastify'
import { readBasicClient } from './basic-client.ts'
import { parseFormBody } from './form-body.ts'
import { useOAuthFailures } from './oauth-failures.ts'
import { prolongRefreshCookie, readRefreshCookie } from './refresh-cookie.ts'
import { readTokenRequest } from './token-request.ts'
import type { TokenService } from './token-service.ts'

/** Operation 1, in a scope of its own: it reads forms too and fails in the words of RFC 6749. */
export function registerTokenRoutes(app: FastifyInstance, service: TokenService): void {
  app.register(async (scope) => {
    useOAuthFailures(scope)
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer' },
      async (_request: unknown, body: Buffer) => parseFormBody(body),
    )
    scope.route({
      ...createToken,
      async handler(request, reply) {
        const cookieToken = readRefreshCookie(request)
        const basicClientId = readBasicClient(request.headers.authorization)
        const wanted = readTokenRequest(request.body, { basicClientId, cookieToken })
        const pair = await service.grant(wanted, { address: request.ip, cookieToken })
        if (pair.refresh_token === cookieToken) prolongRefreshCookie(request, reply, cookieToken)
        reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
        return pair
      },
    })
  })
}
