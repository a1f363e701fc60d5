import {
  consumeSamlResponse,
  finishSingleSignOn,
  readServiceProviderMetadata,
  startSingleSignOn,
} from '@millrace/contract/operations/single-sign-on.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../../platform/errors.ts'
import { assertPlainUtf8 } from '../../platform/http/body-headers.ts'
import { bindBrowser } from '../../platform/http/own-form.ts'
import { forgetBrowserSecret, keepBrowserSecret, readBrowserSecret } from './browser-cookie.ts'
import { sendSignInFailure, sendToIdentityProvider } from './saml-sign-in-pages.ts'
import type { SamlSignInService, Visit } from './saml-sign-in-service.ts'

export interface SamlRoutesDependencies {
  readonly service: SamlSignInService
  /** Throws when this address begins or ends too many sign-ins at once. */
  readonly requireTurn: (address: string) => void
}

/** Room for the largest response in base64, each character of it escaped where it must be. */
const bodyLimit = 512 * 1024

const visitOf = (request: FastifyRequest): Visit => ({ address: request.ip, reference: request.id })

/** The one `SAMLResponse` of the form; what else it holds, RelayState too, is not looked at. */
function readResponse(body: unknown): string {
  const values = body instanceof URLSearchParams ? body.getAll('SAMLResponse') : []
  const [value, ...more] = values
  if (!value || more.length > 0) throw new DomainError('missingSamlResponse')
  return value
}

/** The way of a browser through single sign-on, in a scope of its own that fails in pages. */
export function registerSamlRoutes(app: FastifyInstance, dependencies: SamlRoutesDependencies): void {
  const { service, requireTurn } = dependencies
  app.register(async (scope) => {
    scope.setErrorHandler(sendSignInFailure)
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        assertPlainUtf8(request.headers)
        return new URLSearchParams(body.toString('utf8'))
      },
    )

    scope.route<{ Querystring: Record<string, string> }>({
      ...startSingleSignOn,
      onRequest: async ({ ip }) => requireTurn(ip),
      async handler(request, reply) {
        const started = await service.start(request.query)
        keepBrowserSecret(request, reply, started)
        return sendToIdentityProvider(reply, started)
      },
    })

    scope.route<{ Params: { companyId: string } }>({
      ...readServiceProviderMetadata,
      async handler({ params }, reply) {
        const metadata = await service.readMetadata(params.companyId)
        return reply.headers({ 'content-type': 'application/samlmetadata+xml; charset=utf-8' }).send(metadata)
      },
    })

    scope.route<{ Params: { companyId: string } }>({
      ...consumeSamlResponse,
      bodyLimit,
      onRequest: async ({ ip }) => requireTurn(ip),
      async handler(request, reply) {
        const message = readResponse(request.body)
        const location = await service.consume(request.params.companyId, message, visitOf(request))
        return reply.code(303).headers({ location, 'cache-control': 'no-store' }).send()
      },
    })

    scope.route<{ Params: { companyId: string }; Querystring: { result?: string } }>({
      ...finishSingleSignOn,
      async handler(request, reply) {
        const { params, query } = request
        const secretOf = (requestId: string) => readBrowserSecret(request, requestId)
        const finished = await service.finish(params.companyId, query.result ?? '', secretOf, {
          ...visitOf(request),
          browser: bindBrowser(request, reply),
        })
        forgetBrowserSecret(request, reply, finished.requestId)
        const headers = {
          location: finished.location,
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
        }
        return reply.code(303).headers(headers).send()
      },
    })
  })
}
