import { createToken, revokeToken } from '@millrace/contract/operations/auth.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../../../../platform/errors.ts'
import { type FormErrorFactory, takeForms } from '../../../../platform/http/form-fields.ts'
import { rawRoute } from '../../../../platform/http/route.ts'
import { readBasicClient } from '../../sessions/clients/basic-client.ts'
import {
  isOwnPage,
  readRefreshCookie,
  removeRefreshCookie,
  setRefreshCookie,
} from '../../sessions/tokens/refresh-cookie.ts'
import { readDeviceCookie } from '../pages/cookies.ts'
import { useOAuthFailures } from './oauth-failures.ts'
import { type RequestSurroundings, readRevocationRequest, readTokenRequest } from './token-request.ts'
import type { TokenService } from './token-service.ts'

/** Room for the longest password in the widest escapes; it is read before any authentication. */
const bodyLimit = 64 * 1024

const createFormError: FormErrorFactory = (path, { en: message }) =>
  new DomainError('invalidTokenRequest', { errors: [{ path, message }] }, { message: `${path} ${message}` })

function surroundingsOf(request: FastifyRequest): RequestSurroundings {
  return {
    basicClientId: readBasicClient(request.headers.authorization),
    isOwnPage: isOwnPage(request),
    cookieToken: readRefreshCookie(request),
  }
}

/** Operation 1 and revocation, in a scope of their own: it reads forms too and fails in the words of RFC 6749. */
export function registerTokenRoutes(app: FastifyInstance, service: TokenService): void {
  app.register(async (scope) => {
    useOAuthFailures(scope)
    takeForms(scope, createFormError)
    rawRoute(scope, createToken, {
      bodyLimit,
      async handler(request, reply) {
        const around = surroundingsOf(request)
        const wanted = readTokenRequest(request.body, around)
        const pair = await service.grant(wanted, {
          address: request.ip,
          cookieToken: around.cookieToken,
          device: readDeviceCookie(request),
          userAgent: request.headers['user-agent'],
        })
        reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
        const { refresh_token: next, ...withoutRefreshToken } = pair
        if (wanted.grantType === 'password' || !wanted.inCookie || next === undefined) return pair
        setRefreshCookie(request, reply, next)
        return withoutRefreshToken
      },
    })
    rawRoute(scope, revokeToken, {
      bodyLimit,
      async handler(request, reply) {
        const wanted = readRevocationRequest(request.body, surroundingsOf(request))
        await service.revoke(wanted, { address: request.ip })
        if (wanted.inCookie) removeRefreshCookie(request, reply)
        return reply.code(200).headers({ 'cache-control': 'no-store', pragma: 'no-cache' }).send()
      },
    })
  })
}
