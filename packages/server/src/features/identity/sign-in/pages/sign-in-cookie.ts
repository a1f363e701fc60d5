import type { FastifyReply, FastifyRequest } from 'fastify'
import { isSecret } from '../../../../platform/crypto/secrets.ts'
import { readCookie, setCookie } from '../../../../platform/http/cookies.ts'

/** Names a sign-in that is complete and waits for an application to ask for it. */
const name = 'millrace_sign_in'
const path = '/v2/oauth'

/** An application asks at once: the browser is on its way there. */
const keptSeconds = 120

export function keepSignIn(request: FastifyRequest, reply: FastifyReply, value: string): void {
  setCookie(request, reply, { name, value, seconds: keptSeconds, path })
}

export function readKeptSignIn(request: FastifyRequest): string | undefined {
  const value = readCookie(request, name)
  return value !== undefined && isSecret(value) ? value : undefined
}

export function forgetKeptSignIn(request: FastifyRequest, reply: FastifyReply): void {
  setCookie(request, reply, { name, value: '', seconds: 0, path })
}
