import {
  confirmSingleSignOn,
  consumeSamlResponse,
  finishSingleSignOn,
  readServiceProviderMetadata,
  startSingleSignOn,
} from '@millrace/contract/operations/single-sign-on.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../../platform/errors.ts'
import { pageFault } from '../../../../platform/http/form-faults.ts'
import { takeForms } from '../../../../platform/http/form-fields.ts'
import { requireNavigation } from '../../../../platform/http/navigation.ts'
import { rawRoute } from '../../../../platform/http/route.ts'
import { languageOfRequest } from '../../../../platform/i18n/request-language.ts'
import {
  browserOf,
  ensureBrowserCookie,
  formTokenOf,
  isOwnForm,
  keepSignIn,
} from '../../sign-in/pages/cookies.ts'
import { forgetBrowserSecret, keepBrowserSecret, readBrowserSecret } from './browser-cookie.ts'
import type { Visit } from './refusal-record.ts'
import {
  sendKnown,
  sendOnwards,
  sendQuestion,
  sendSignInFailure,
  sendToIdentityProvider,
} from './saml-sign-in-pages.ts'
import type { SamlSignInService } from './saml-sign-in-service.ts'

export interface SamlRoutesDependencies {
  readonly service: SamlSignInService
  /** Throws when this browser, or those of this address, begin too many sign-ins at once. */
  readonly requireStartTurn: (from: { address: string; browser: string | undefined }) => void
  /** Throws when this address sends too many responses at once. */
  readonly requireTurn: (address: string) => void
  /** Throws when this address finishes too many at once. */
  readonly requireFinishTurn: (address: string) => void
}

/** Room for the largest response in base64, each character of it escaped where it must be. */
const bodyLimit = 512 * 1024

/** A confirmation holds two secrets. */
const confirmationLimit = 4 * 1024

const foreignForm = {
  en: 'This form was not sent by a page of this service, or the browser keeps no cookies',
  fr: 'Ce formulaire n’a pas été envoyé par une page de ce service, ou le navigateur ne garde pas de cookies',
}

const visitOf = (request: FastifyRequest): Visit => ({ address: request.ip, reference: request.id })

/** The `SAMLResponse` of the form; what else it holds, RelayState too, is not looked at. */
function readResponse(body: unknown): string {
  const { SAMLResponse } = (body ?? {}) as Readonly<Record<string, string>>
  if (!SAMLResponse) throw new DomainError('missingSamlResponse')
  return SAMLResponse
}

/** The way of a browser through single sign-on, in a scope of its own that fails in pages. */
export function registerSamlRoutes(app: FastifyInstance, dependencies: SamlRoutesDependencies): void {
  const { service, requireStartTurn, requireTurn, requireFinishTurn } = dependencies
  app.register(async (scope) => {
    scope.setErrorHandler(sendSignInFailure)
    // Before anything is counted: any page can make the browser that shows it request these addresses.
    const asPage = (requireTurnOf: (request: FastifyRequest) => void) => async (request: FastifyRequest) => {
      requireNavigation(request)
      requireTurnOf(request)
    }
    scope.removeAllContentTypeParsers()
    takeForms(scope, pageFault)

    rawRoute(scope, startSingleSignOn, {
      onRequest: asPage((request) => requireStartTurn({ address: request.ip, browser: browserOf(request) })),
      async handler(request, reply) {
        const { ip: address, headers } = request
        const acceptLanguage = headers['accept-language']
        const isKnown = browserOf(request) !== undefined
        const browser = { name: ensureBrowserCookie(request, reply), isKnown }
        const started = await service.start(request.query, { address, acceptLanguage, browser })
        keepBrowserSecret(request, reply, started)
        return sendToIdentityProvider(reply, started)
      },
    })

    rawRoute(scope, readServiceProviderMetadata, {
      async handler({ params }, reply) {
        const metadata = await service.readMetadata(params.companyId)
        return reply.headers({ 'content-type': 'application/samlmetadata+xml; charset=utf-8' }).send(metadata)
      },
    })

    rawRoute(scope, consumeSamlResponse, {
      bodyLimit,
      onRequest: asPage(({ ip }) => requireTurn(ip)),
      async handler(request, reply) {
        const message = readResponse(request.body)
        const visit = { ...visitOf(request), language: languageOfRequest(request) }
        const { location, kept } = await service.consume(request.params.companyId, message, visit)
        if (kept) keepBrowserSecret(request, reply, kept)
        return reply.code(303).headers({ location, 'cache-control': 'no-store' }).send()
      },
    })

    async function finish(
      request: FastifyRequest,
      reply: FastifyReply,
      given: { companyId: string; result: string; isConfirmed: boolean },
    ) {
      const { companyId, result, isConfirmed } = given
      const secretOf = (requestId: string) => readBrowserSecret(request, requestId)
      const browser = ensureBrowserCookie(request, reply)
      const visit = { ...visitOf(request), browser, isConfirmed }
      const finished = await service.finish(companyId, result, secretOf, visit)
      if ('question' in finished) return sendQuestion(reply, { ...finished, formToken: formTokenOf(browser) })
      forgetBrowserSecret(request, reply, finished.requestId)
      if ('email' in finished) return sendKnown(reply, finished)
      if ('landing' in finished) {
        keepSignIn(request, reply, finished.landing.signIn)
        return sendOnwards(reply, { language: finished.language, url: finished.landing.location })
      }
      const headers = {
        location: finished.location,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      }
      return reply.code(303).headers(headers).send()
    }

    rawRoute(scope, finishSingleSignOn, {
      onRequest: asPage(({ ip }) => requireFinishTurn(ip)),
      async handler(request, reply) {
        const { params, query } = request
        return finish(request, reply, { ...params, result: query.result ?? '', isConfirmed: false })
      },
    })

    rawRoute(scope, confirmSingleSignOn, {
      bodyLimit: confirmationLimit,
      onRequest: async ({ ip }) => requireFinishTurn(ip),
      async handler(request, reply) {
        const { result = '', form_token } = (request.body ?? {}) as Readonly<Record<string, string>>
        const browser = browserOf(request)
        const isOwn = browser !== undefined && form_token === formTokenOf(browser)
        // A page of another site could otherwise sign the browser in as another user.
        if (!isOwn || !isOwnForm(request, form_token, service.publicUrl()))
          throw new DomainError('forbidden', {}, { message: foreignForm })
        return finish(request, reply, { ...request.params, result, isConfirmed: true })
      },
    })
  })
}
