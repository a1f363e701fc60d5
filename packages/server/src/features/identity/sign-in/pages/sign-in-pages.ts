import { type Html, type HtmlPart, html } from '../../../../platform/http/documents/html.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { type AuthorizationRequest, toParameters } from '../authorization-request.ts'
import { type SignInPage, signInCard } from './sign-in-page.ts'
import { type SignInWords, signInWords } from './sign-in-words.ts'

export const signInUrl = '/v2/oauth/authorize'
export const forgotUrl = '/v2/oauth/forgot-password'
export const setPasswordUrl = '/v2/oauth/set-password'

/** What every page of a sign-in knows. */
export interface PageContext {
  readonly request: AuthorizationRequest
  readonly clientName: string
  /** Shows that this service wrote the form for this browser. */
  readonly formToken: string
}

const fault = (text: string | undefined): HtmlPart =>
  text !== undefined && html`<p class="fault" role="alert" id="fault">${text}</p>`

const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`

function hiddenParameters({ request, formToken }: PageContext): Html {
  const parameters = [...toParameters(request)].map(([name, value]) => hidden(name, value))
  return html`${parameters}${hidden('form_token', formToken)}`
}

function languageLinks(request: AuthorizationRequest): Html {
  const to = (language: Language, label: string) =>
    language === request.language
      ? html`<strong>${label}</strong>`
      : html`<a href="${signInUrl}?${toParameters({ ...request, language }).toString()}" hreflang="${language}" lang="${language}">${label}</a>`
  return html`<p class="languages">${to('en', 'English')} · ${to('fr', 'Français')}</p>`
}

/** Where a form leads to, as a source of a policy, which has no words for an IPv6 address (CSP 3, 2.3.1). */
function formTargetOf(redirectUri: string): string {
  const { origin, protocol, hostname } = new URL(redirectUri)
  if (origin === 'null') return protocol
  return hostname.startsWith('[') ? origin.replace(hostname, '*') : origin
}

/** A form leads to the application in the end, by redirects. */
function pageOf(context: PageContext, title: string, body: HtmlPart, status = 200): SignInPage {
  const { language, redirectUri } = context.request
  const formTargets = [formTargetOf(redirectUri)]
  return { status, language, title: `${title} · Millrace`, body, formTargets }
}

const startAgainUrl = (request: AuthorizationRequest): string => `${signInUrl}?${toParameters(request)}`

export function emailPage(context: PageContext, message?: string, typed = ''): SignInPage {
  const words = signInWords[context.request.language]
  const body = html`${fault(message)}
<form method="post" action="/v2/oauth/check-email">
${hiddenParameters(context)}
<div class="field"><label for="username">${words.email}</label>
<input id="username" name="username" type="email" autocomplete="username" required autofocus maxlength="254" value="${typed}"></div>
<button>${words.next}</button>
</form>`
  const content = signInCard(
    words.signIn,
    words.toApplication(context.clientName),
    body,
    languageLinks(context.request),
  )
  return pageOf(context, words.signIn, content, message === undefined ? 200 : 400)
}

export interface PasswordStep {
  readonly username: string
  /** Where the domain's single sign-on begins, where there is one that need not be used. */
  readonly singleSignOn?: string | undefined
  readonly message?: string | undefined
  readonly status?: number
}

export function passwordPage(context: PageContext, step: PasswordStep): SignInPage {
  const { request } = context
  const words = signInWords[request.language]
  const forgot = toParameters(request)
  forgot.set('username', step.username)
  const body = html`<p class="as"><span>${step.username}</span><a href="${startAgainUrl(request)}">${words.change}</a></p>
${fault(step.message)}
<form method="post" action="/v2/oauth/sign-in">
${hiddenParameters(context)}
<input type="hidden" name="username" value="${step.username}" autocomplete="username">
<div class="field"><label for="password">${words.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus></div>
<button>${words.signIn}</button>
</form>
<p class="links"><a href="${forgotUrl}?${forgot.toString()}">${words.forgot}</a>
${step.singleSignOn !== undefined && html`<a href="${step.singleSignOn}">${words.singleSignOn}</a>`}</p>`
  const content = signInCard(words.signIn, words.toApplication(context.clientName), body)
  return pageOf(context, words.signIn, content, step.status ?? 200)
}

export function codePage(
  context: PageContext,
  signIn: string,
  refused?: { readonly message: string; readonly status: number },
): SignInPage {
  const words = signInWords[context.request.language]
  const body = html`${fault(refused?.message)}
<form method="post" action="/v2/oauth/one-time-code">
${hiddenParameters(context)}${hidden('sign_in', signIn)}
<div class="field"><label for="code">${words.code}</label>
<input id="code" name="code" inputmode="text" autocomplete="one-time-code" required autofocus maxlength="40">
<p class="hint">${words.codeHint}</p></div>
<button>${words.verify}</button>
</form>
<p class="links"><a href="${startAgainUrl(context.request)}">${words.startAgain}</a></p>`
  return pageOf(context, words.code, signInCard(words.code, words.codeLead, body), refused?.status)
}

export function consentPage(context: PageContext, signIn: string, email: string): SignInPage {
  const words = signInWords[context.request.language]
  const title = words.consentTitle(context.clientName)
  const body = html`<ul class="scopes">${words.consentPoints.map((point) => html`<li>${point}</li>`)}</ul>
<p class="as"><span>${words.signedInAs} ${email}</span></p>
<form method="post" action="/v2/oauth/consent">
${hiddenParameters(context)}${hidden('sign_in', signIn)}
<button name="decision" value="allow">${words.allow}</button>
<button class="quiet" name="decision" value="deny">${words.deny}</button>
</form>`
  return pageOf(context, title, signInCard(title, words.consentLead, body))
}

/** A page that says something and leads on by at most one link. */
export function messagePage(
  language: Language,
  message: {
    readonly title: string
    readonly lead: string
    /** What went wrong, in the words of the interface. */
    readonly detail?: string | undefined
    readonly link?: { readonly label: string; readonly url: string } | undefined
    readonly status?: number
  },
): SignInPage {
  const { title, lead, detail, link, status = 200 } = message
  const body = html`${detail !== undefined && html`<p class="fault">${detail}</p>`}
${link && html`<p class="links"><a href="${link.url}">${link.label}</a></p>`}`
  return { status, language, title: `${title} · Millrace`, body: signInCard(title, lead, body) }
}

export function expiredPage(request: AuthorizationRequest): SignInPage {
  const words = signInWords[request.language]
  return messagePage(request.language, {
    title: words.refusedTitle,
    lead: words.expired,
    link: { label: words.startAgain, url: startAgainUrl(request) },
    status: 400,
  })
}

export interface ForgotStep {
  readonly language: Language
  readonly formToken: string
  readonly username: string
  /** The sign-in to come back to, where it began with one. */
  readonly request: AuthorizationRequest | undefined
  readonly message?: string
}

export function forgotPage({ language, formToken, username, request, message }: ForgotStep): SignInPage {
  const words: SignInWords = signInWords[language]
  const body = html`${fault(message)}
<form method="post" action="${forgotUrl}">
${request && [...toParameters(request)].filter(([name]) => name !== 'lang').map(([name, value]) => hidden(name, value))}
${hidden('lang', language)}${hidden('form_token', formToken)}
<div class="field"><label for="username">${words.email}</label>
<input id="username" name="username" type="email" autocomplete="username" required autofocus maxlength="254" value="${username}"></div>
<button>${words.sendLink}</button>
</form>
${request && html`<p class="links"><a href="${startAgainUrl(request)}">${words.backToSignIn}</a></p>`}`
  const content = signInCard(words.forgotTitle, words.forgotLead, body)
  return {
    status: message === undefined ? 200 : 400,
    language,
    title: `${words.forgotTitle} · Millrace`,
    body: content,
  }
}

export function mailSentPage(language: Language, request: AuthorizationRequest | undefined): SignInPage {
  const words = signInWords[language]
  const link = request && { label: words.backToSignIn, url: startAgainUrl(request) }
  return messagePage(language, { title: words.mailSentTitle, lead: words.mailSentLead, link })
}

export interface SetPasswordStep {
  readonly language: Language
  readonly formToken: string
  readonly token: string
  readonly email: string
  readonly isInvitation: boolean
  readonly message?: string
  readonly status?: number
}

export function setPasswordPage(step: SetPasswordStep): SignInPage {
  const { language, formToken, token, email, isInvitation, message, status = 200 } = step
  const words = signInWords[language]
  const title = isInvitation ? words.welcomeTitle : words.setTitle
  const body = html`<p class="as"><span>${email}</span></p>
${fault(message)}
<form method="post" action="${setPasswordUrl}">
${hidden('token', token)}${hidden('lang', language)}${hidden('form_token', formToken)}
<input type="hidden" name="username" value="${email}" autocomplete="username">
<div class="field"><label for="password">${words.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password" required autofocus>
<p class="hint">${words.passwordHint}</p></div>
<div class="field"><label for="repeated">${words.repeatPassword}</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required></div>
<button>${words.savePassword}</button>
</form>`
  return {
    status,
    language,
    title: `${title} · Millrace`,
    body: signInCard(title, undefined, body),
  }
}
