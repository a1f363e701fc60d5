import type { FastifyReply, FastifyRequest } from 'fastify'
import { requestSeconds } from './sign-in-service.ts'

const path = '/v2/sso/saml'

/** One for each request, so that sign-ins in two tabs do not meet. */
const nameOf = (requestId: string) => `sso_${requestId.replace(/^_/, '')}`

function setCookie(request: FastifyRequest, reply: FastifyReply, pair: string, seconds: number): void {
  const attributes = [`Max-Age=${seconds}`, `Path=${path}`, 'HttpOnly', 'SameSite=Lax']
  if (request.protocol === 'https') attributes.push('Secure')
  reply.header('set-cookie', [pair, ...attributes].join('; '))
}

/** Binds a sign-in to this browser until it comes back. */
export function keepBrowserSecret(
  request: FastifyRequest,
  reply: FastifyReply,
  kept: { requestId: string; browserSecret: string },
): void {
  setCookie(request, reply, `${nameOf(kept.requestId)}=${kept.browserSecret}`, requestSeconds)
}

export function readBrowserSecret(request: FastifyRequest, requestId: string): string | undefined {
  const name = `${nameOf(requestId)}=`
  const pairs = request.headers.cookie?.split(';').map((pair) => pair.trim()) ?? []
  return pairs.find((pair) => pair.startsWith(name))?.slice(name.length)
}

export function forgetBrowserSecret(request: FastifyRequest, reply: FastifyReply, requestId: string): void {
  setCookie(request, reply, `${nameOf(requestId)}=`, 0)
}
