import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isSecret, newSecret } from '../../../../platform/crypto/secrets.ts'
import { readCookie, setCookie } from '../../../../platform/http/cookies.ts'

/** Names one browser during a sign-in; says nothing about who uses it. */
const cookieName = 'millrace_browser'

const lifetimeSeconds = 3_600

/** The secret that names the browser, when it has one. */
export function browserOf(request: FastifyRequest): string | undefined {
  const value = readCookie(request, cookieName)
  return value !== undefined && isSecret(value) ? value : undefined
}

/** Gives the browser a secret, or moves the end of the one it has. */
export function ensureBrowserCookie(request: FastifyRequest, reply: FastifyReply): string {
  const browser = browserOf(request) ?? newSecret()
  setCookie(request, reply, { name: cookieName, value: browser, seconds: lifetimeSeconds, path: '/v2' })
  return browser
}

/** The CSRF token of a form, which shows that this service wrote it for this browser; it does not disclose the cookie. */
export function formTokenOf(browser: string): string {
  return createHash('sha256').update(`form\0${browser}`).digest('base64url')
}

/**
 * Whether a form was not sent by a page of another site. Browsers say where it comes from; those too old to say
 * so, and pages that hide it, show the token instead. Programs that are no browsers say nothing.
 * @param ownOrigin address of this service as users reach it
 */
export function isOwnForm(request: FastifyRequest, token: string | undefined, ownOrigin: string): boolean {
  const browser = browserOf(request)
  const hasToken = browser !== undefined && token === formTokenOf(browser)
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || (site === 'none' && hasToken)
  const { origin } = request.headers
  if (origin === undefined || origin === URL.parse(ownOrigin)?.origin) return true
  return origin === 'null' && hasToken
}
