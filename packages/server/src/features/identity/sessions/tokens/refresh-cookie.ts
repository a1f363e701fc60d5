import { createToken, revokeToken } from '@millrace/contract/operations/auth.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readCookie, setCookie } from '../../../../platform/http/cookies.ts'

/** docs/interface.md, Authentication 7. */
const name = 'refresh_token'

/** The operations that read it: no other request carries it. */
const paths = [createToken.url, revokeToken.url]

const lifetimeSeconds = 30 * 24 * 60 * 60

/**
 * Whether the request comes from a page of this service, as the browser says. A page of another origin of the same
 * site is none: it may be somebody else's.
 */
export function isOwnPage({ headers, protocol, host, server }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin } = headers
  const from = URL.parse(origin ?? '')?.origin
  const own = [server.publicUrl ?? '', `${protocol}://${host}`]
  return from !== undefined && own.some((address) => URL.parse(address)?.origin === from)
}

/**
 * The refresh token of the web application's cookie. Browsers send a cookie with any request that a page causes, so it
 * counts for pages of the service alone. Where there are two of the name, another host has set one of them for its
 * whole domain, and neither counts.
 */
export function readRefreshCookie(request: FastifyRequest): string | undefined {
  return isOwnPage(request) ? readCookie(request, name) : undefined
}

function set(request: FastifyRequest, reply: FastifyReply, value: string, seconds: number): void {
  for (const path of paths) setCookie(request, reply, { name, value, seconds, path })
}

/** The cookie ends with its token. */
export function setRefreshCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  set(request, reply, token, lifetimeSeconds)
}

export function removeRefreshCookie(request: FastifyRequest, reply: FastifyReply): void {
  set(request, reply, '', 0)
}
