import type { FastifyReply, FastifyRequest } from 'fastify'
import { readCookie, setCookie } from '../../../../platform/http/cookies.ts'

/** docs/interface.md, Authentication 7. */
const cookieName = 'refresh_token'

/** Any value will do: a page of another site cannot send a header of its own without asking first. */
const csrfHeader = 'x-csrf-protection'

const lifetimeSeconds = 30 * 24 * 60 * 60

/** Whether the request comes from a page of this same site, as the browser says. */
function isSameSite({ headers, protocol, host, server }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'same-site'
  const { origin } = headers
  const from = URL.parse(origin ?? '')?.origin
  const own = [server.publicUrl ?? '', `${protocol}://${host}`]
  return from !== undefined && own.some((address) => URL.parse(address)?.origin === from)
}

/**
 * The refresh token of the web application's cookie. Browsers send a cookie with any request that a page causes, so
 * that it counts only from the same site and with a header that a form of another site cannot set; otherwise it is
 * ignored.
 */
export function readRefreshCookie(request: FastifyRequest): string | undefined {
  if (!request.headers[csrfHeader] || !isSameSite(request)) return undefined
  return readCookie(request, cookieName)
}

/** The cookie follows its token: to the next one where there is one, and to the same end. */
export function setRefreshCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  const path = request.routeOptions.url ?? '/'
  setCookie(request, reply, { name: cookieName, value: token, seconds: lifetimeSeconds, path })
}
