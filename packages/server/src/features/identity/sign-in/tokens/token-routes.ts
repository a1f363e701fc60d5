import { createToken, revokeToken } from '@millrace/contract/operations/auth.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../../../../platform/errors.ts'
import { assertPlainUtf8 } from '../../../../platform/http/body-headers.ts'
import { type FormErrorFactory, parseFormBody } from '../../../../platform/http/form-fields.ts'
import { rawRoute } from '../../../../platform/http/route.ts'
import { readBasicClient } from '../../sessions/clients/basic-client.ts'
import { readRefreshCookie, setRefreshCookie } from '../../sessions/tokens/refresh-cookie.ts'
import { readDeviceCookie } from '../pages/device-cookie.ts'
import { useOAuthFailures } from './oauth-failures.ts'
import { readRevocationRequest, readTokenRequest } from './token-request.ts'
import type { TokenService } from './token-service.ts'

/** Room for the longest password in the widest escapes; it is read before any authentication. */
const bodyLimit = 64 * 1024

const createFormError: FormErrorFactory = (path, { en: message }) =>
  new DomainError('invalidTokenRequest', { errors: [{ path, message }] }, { message: `${path} ${message}` })

/** Operation 1 and revocation, in a scope of their own: it reads forms too and fails in the words of RFC 6749. */
export function registerTokenRoutes(app: FastifyInstance, service: TokenService): void {
  app.register(async (scope) => {
    useOAuthFailures(scope)
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        assertPlainUtf8(request.headers)
        return parseFormBody(body, createFormError)
      },
    )
    rawRoute(scope, createToken, {
      bodyLimit,
      async handler(request, reply) {
        const cookieToken = readRefreshCookie(request)
        const basicClientId = readBasicClient(request.headers.authorization)
        const wanted = readTokenRequest(request.body, { basicClientId, cookieToken })
        const pair = await service.grant(wanted, {
          address: request.ip,
          cookieToken,
          device: readDeviceCookie(request),
        })
        const { refresh_token: next } = pair
        if (wanted.grantType === 'refresh_token' && wanted.refreshToken === cookieToken && next !== undefined)
          setRefreshCookie(request, reply, next)
        reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
        return pair
      },
    })
    rawRoute(scope, revokeToken, {
      bodyLimit,
      async handler(request, reply) {
        const wanted = readRevocationRequest(request.body, readBasicClient(request.headers.authorization))
        await service.revoke(wanted, { address: request.ip })
        return reply.code(200).headers({ 'cache-control': 'no-store', pragma: 'no-cache' }).send()
      },
    })
  })
}
