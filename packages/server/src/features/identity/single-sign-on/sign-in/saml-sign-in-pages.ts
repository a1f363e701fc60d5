import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DomainError } from '../../../../platform/errors.ts'
import { html } from '../../../../platform/http/documents/html.ts'
import { sendFailure, toDomainError } from '../../../../platform/http/failures.ts'
import type { Catalogue, Language } from '../../../../platform/i18n/language.ts'
import { languageOfRequest } from '../../../../platform/i18n/request-language.ts'
import { failureText } from '../../sign-in/pages/page-failure.ts'
import { sendSignInPage, signInCard } from '../../sign-in/pages/sign-in-page.ts'
import type { Question } from './initiated-sign-in.ts'
import { SignInRefused } from './refusal-record.ts'
import type { StartedSignIn } from './saml-sign-in-start.ts'

const words = {
  en: {
    going: 'Signing in',
    redirecting: 'You are being redirected to the sign-in page of your organisation.',
    link: 'Continue',
    onwards: 'You are being redirected to the application.',
    asks: 'Continue signing in?',
    asksAs: 'Your organisation’s identity provider signs you in to',
    asksWho: 'as',
    yes: 'Continue as',
    no: 'If you did not begin this, or this is not you, close this page: nothing has happened yet.',
    known: 'Single sign-on works',
    knownAs: 'You are recognised as',
    application: 'Now go to your application and sign in there.',
    failed: 'Signing in has failed',
    refused: 'Try again from the beginning. If it fails again, give your administrator this reference:',
    reference: 'Reference',
  },
  fr: {
    going: 'Connexion',
    redirecting: 'Vous allez être redirigé vers la page de connexion de votre organisation.',
    link: 'Continuer',
    onwards: 'Vous allez être redirigé vers l’application.',
    asks: 'Poursuivre la connexion ?',
    asksAs: 'Le fournisseur d’identité de votre organisation vous connecte à',
    asksWho: 'en tant que',
    yes: 'Continuer en tant que',
    no: 'Si vous n’êtes pas à l’origine de cette connexion, ou si ce n’est pas vous, fermez cette page : rien ne s’est encore passé.',
    known: 'La connexion unique fonctionne',
    knownAs: 'Vous êtes reconnu comme',
    application: 'Rendez-vous maintenant dans votre application et connectez-vous-y.',
    failed: 'La connexion a échoué',
    refused:
      'Recommencez depuis le début. Si cela échoue encore, donnez cette référence à votre administrateur :',
    reference: 'Référence',
  },
} as const satisfies Catalogue<Record<string, string>>

interface Onwards {
  readonly language: Language
  readonly url: string
}

/**
 * A page that redirects by itself. A redirect would do for a link, but not for the form that usually leads here:
 * the policy of our pages ends where a form's redirects lead to another site.
 */
function sendMetaRefresh(reply: FastifyReply, { language, url }: Onwards, lead: string): FastifyReply {
  const text = words[language]
  const body = signInCard(text.going, lead, html`<p><a href="${url}">${text.link}</a></p>`)
  return sendSignInPage(reply, { language, title: `${text.going} · Millrace`, body, refreshTo: url })
}

export function sendToIdentityProvider(reply: FastifyReply, started: StartedSignIn): FastifyReply {
  return sendMetaRefresh(reply, started, words[started.language].redirecting)
}

/** To the application, after a sign-in that began at the identity provider. */
export function sendOnwards(reply: FastifyReply, onwards: Onwards): FastifyReply {
  return sendMetaRefresh(reply, onwards, words[onwards.language].onwards)
}

/**
 * Asks before a session begins that the browser did not ask for: any page can make it bring a response, and whose it
 * is would not be noticed.
 */
export function sendQuestion(
  reply: FastifyReply,
  asked: { readonly language: Language; readonly question: Question; readonly formToken: string },
): FastifyReply {
  const { language, question, formToken } = asked
  const { secret, email, clientName } = question
  const text = words[language]
  const lead = html`${text.asksAs} <strong>${clientName}</strong> ${text.asksWho} <strong>${email}</strong>.`
  const form = html`<form method="post" action="confirm">
<input type="hidden" name="result" value="${secret}"><input type="hidden" name="form_token" value="${formToken}">
<button>${text.yes} ${email}</button>
</form>
<p>${text.no}</p>`
  const body = signInCard(text.asks, lead, form)
  return sendSignInPage(reply, { language, title: `${text.asks} · Millrace`, body })
}

/** The end of a trial: which user was matched, without a session. */
export function sendKnown(
  reply: FastifyReply,
  { language, email }: { language: Language; email: string },
): FastifyReply {
  const text = words[language]
  const lead = html`${text.knownAs} <strong>${email}</strong>.`
  const body = signInCard(text.known, lead, html`<p>${text.application}</p>`)
  return sendSignInPage(reply, { language, title: `${text.known} · Millrace`, body })
}

/** The language that the sign-in began in, else the one that the browser asks for. */
function languageFor(request: FastifyRequest, error: DomainError): Language {
  return (error instanceof SignInRefused ? error.language : undefined) ?? languageOfRequest(request)
}

function sendFailurePage(request: FastifyRequest, reply: FastifyReply, error: DomainError): FastifyReply {
  const language = languageFor(request, error)
  const text = words[language]
  const body =
    error instanceof SignInRefused && error.localizedMessage === undefined
      ? signInCard(text.failed, text.refused, html`<p><code>${request.id}</code></p>`)
      : signInCard(
          text.failed,
          failureText(error, language),
          html`<p>${text.reference}: <code>${request.id}</code></p>`,
        )
  if (error.retryAfterSeconds !== undefined)
    reply.header('retry-after', String(Math.ceil(error.retryAfterSeconds)))
  return sendSignInPage(reply, { status: error.status, language, title: `${text.failed} · Millrace`, body })
}

/** A failure of a sign-in step: a page for a browser, the fail envelope for any other caller. */
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
