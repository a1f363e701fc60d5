import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isSecret, newSecret } from '../../../../platform/crypto/secrets.ts'
import { readCookie, setCookie } from '../../../../platform/http/cookies.ts'

/** Names one browser during a sign-in; says nothing about who uses it. */
const browserCookie = 'millrace_browser'
const browserSeconds = 3_600

function readSecret(request: FastifyRequest, name: string): string | undefined {
  const value = readCookie(request, name)
  return value !== undefined && isSecret(value) ? value : undefined
}

/** The secret that names the browser, when it has one. */
export function browserOf(request: FastifyRequest): string | undefined {
  return readSecret(request, browserCookie)
}

/** Gives the browser a secret, or moves the end of the one it has. */
export function ensureBrowserCookie(request: FastifyRequest, reply: FastifyReply): string {
  const browser = browserOf(request) ?? newSecret()
  setCookie(request, reply, { name: browserCookie, value: browser, seconds: browserSeconds, path: '/v2' })
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

/** Names a browser that a user has signed in with; opens no account, and is worth something only while sign-ins are held. */
const deviceCookie = 'millrace_device'
const deviceSeconds = 90 * 24 * 60 * 60

export const readDeviceCookie = (request: FastifyRequest): string | undefined =>
  readCookie(request, deviceCookie)

export const setDeviceCookie = (request: FastifyRequest, reply: FastifyReply, value: string): void =>
  setCookie(request, reply, { name: deviceCookie, value, seconds: deviceSeconds, path: '/v2' })

/** Names a sign-in that is complete and waits for an application, which asks at once: the browser is on its way there. */
const signIn = { name: 'millrace_sign_in', path: '/v2/oauth' }
const keptSeconds = 120

export const keepSignIn = (request: FastifyRequest, reply: FastifyReply, value: string): void =>
  setCookie(request, reply, { ...signIn, value, seconds: keptSeconds })

export const readKeptSignIn = (request: FastifyRequest): string | undefined =>
  readSecret(request, signIn.name)

export const forgetKeptSignIn = (request: FastifyRequest, reply: FastifyReply): void =>
  setCookie(request, reply, { ...signIn, value: '', seconds: 0 })
