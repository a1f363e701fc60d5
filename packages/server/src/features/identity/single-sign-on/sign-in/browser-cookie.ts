import type { FastifyReply, FastifyRequest } from 'fastify'
import { readCookie, setCookie } from '../../../../platform/http/cookies.ts'
import { requestSeconds } from './saml-sign-in-start.ts'

const path = '/v2/sso/saml'

/** One for each request, so that sign-ins in two tabs do not interfere. */
const nameOf = (requestId: string) => `sso_${requestId.replace(/^_/, '')}`

/** Binds a sign-in to this browser until it comes back. */
export function keepBrowserSecret(
  request: FastifyRequest,
  reply: FastifyReply,
  kept: { requestId: string; browserSecret: string },
): void {
  const { requestId, browserSecret: value } = kept
  setCookie(request, reply, { name: nameOf(requestId), value, seconds: requestSeconds, path })
}

export function readBrowserSecret(request: FastifyRequest, requestId: string): string | undefined {
  return readCookie(request, nameOf(requestId))
}

export function forgetBrowserSecret(request: FastifyRequest, reply: FastifyReply, requestId: string): void {
  setCookie(request, reply, { name: nameOf(requestId), value: '', seconds: 0, path })
}
