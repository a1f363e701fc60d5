import type { FastifyReply } from 'fastify'
import { type Html, type HtmlPart, html } from '../../../../platform/http/documents/html.ts'
import { contentSecurityPolicy, page } from '../../../../platform/http/documents/page.ts'
import type { Language } from '../../../../platform/i18n/language.ts'

/** A page on the way of a sign-in. */
export interface SignInPage {
  /** HTTP status; default 200. */
  readonly status?: number
  readonly language: Language
  readonly title: string
  readonly body: HtmlPart
  /** Other origins that a form of the page may lead to, redirects included. */
  readonly formTargets?: readonly string[]
  /** Where the browser is redirected. */
  readonly refreshTo?: string
}

const mark = html`<p class="mark"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M1 5q3.5-3 7 0t7 0M1 11q3.5-3 7 0t7 0" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"/></svg>Millrace</p>`

/** The one card of a page: title, what it is about, the rest, and what stands below the card. */
export function signInCard(title: string, lead: HtmlPart, body: HtmlPart, below: HtmlPart = undefined): Html {
  return html`<main class="sign-in"><div>
<div class="card">${mark}
<h1>${title}</h1>
${lead !== undefined && html`<p class="lead">${lead}</p>`}
${body}
</div>${below}
</div></main>`
}

/** Sends a page that is neither cached nor embedded and sends no referrer to other sites. */
export function sendSignInPage(reply: FastifyReply, wanted: SignInPage): FastifyReply {
  const { status = 200, language, title, body, formTargets = [], refreshTo } = wanted
  const policy = contentSecurityPolicy.replace(
    "form-action 'none'",
    ["form-action 'self'", ...formTargets].join(' '),
  )
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-language': language,
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
      'x-frame-options': 'DENY',
    })
    .send(page(title, body, { language, refreshTo }))
}
