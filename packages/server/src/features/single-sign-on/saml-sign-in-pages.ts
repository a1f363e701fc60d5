import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DomainError } from '../../platform/errors.ts'
import { html } from '../../platform/http/documents/html.ts'
import { sendFailure, toDomainError } from '../../platform/http/failures.ts'
import { sendSignInPage } from '../../platform/http/sign-in-page.ts'
import type { Language } from '../../platform/mail/letter.ts'
import type { StartedSignIn } from './saml-sign-in-service.ts'

const words = {
  en: {
    going: 'Signing in',
    goOn: 'Your browser goes on to the sign-in of your organisation.',
    link: 'Go on',
    failed: 'Signing in has failed',
    refused: 'Try again from the beginning. If it fails again, give your administrator this reference:',
    reference: 'Reference',
  },
  fr: {
    going: 'Connexion',
    goOn: 'Votre navigateur poursuit vers la page de connexion de votre organisation.',
    link: 'Continuer',
    failed: 'La connexion a échoué',
    refused:
      'Recommencez depuis le début. Si cela échoue encore, donnez cette référence à votre administrateur :',
    reference: 'Référence',
  },
} as const satisfies Record<Language, Record<string, string>>

/**
 * A page that goes on by itself. A redirect would do for a link, but not for the form that usually leads here:
 * the policy of our pages ends where a form's redirects lead to another site.
 */
export function sendToIdentityProvider(reply: FastifyReply, { language, url }: StartedSignIn): FastifyReply {
  const text = words[language]
  const body = html`<main><h1>${text.going}</h1><p>${text.goOn}</p><p><a href="${url}">${text.link}</a></p></main>`
  return sendSignInPage(reply, { language, title: text.going, body, refreshTo: url })
}

function languageOf({ headers }: FastifyRequest): Language {
  return /^\s*fr\b/i.test(headers['accept-language'] ?? '') ? 'fr' : 'en'
}

function sendFailurePage(request: FastifyRequest, reply: FastifyReply, error: DomainError): FastifyReply {
  const language = languageOf(request)
  const text = words[language]
  const isRefusal = error.errorName === 'singleSignOnRefused'
  const reason = isRefusal
    ? html`<p>${text.refused}</p><p><code>${request.id}</code></p>`
    : html`<p>${error.message}</p><p>${text.reference}: <code>${request.id}</code></p>`
  const body = html`<main><h1>${text.failed}</h1>${reason}</main>`
  if (error.retryAfterSeconds !== undefined)
    reply.header('retry-after', String(Math.ceil(error.retryAfterSeconds)))
  return sendSignInPage(reply, { status: error.status, language, title: text.failed, body })
}

/** A failure on the way of a browser: a page for a browser, the fail envelope for any other caller. */
export function sendSignInFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const known = toDomainError(error, request)
  return request.headers.accept?.includes('text/html')
    ? sendFailurePage(request, reply, known)
    : sendFailure(reply, known)
}
