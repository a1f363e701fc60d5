import type { FastifyReply, FastifyRequest } from 'fastify'
import { readCookie, setCookie } from '../../../../platform/http/cookies.ts'

/** Names a browser that a user has signed in with; opens no account, and is worth something only while sign-ins are held. */
const cookieName = 'millrace_device'

const lifetimeSeconds = 90 * 24 * 60 * 60

export const readDeviceCookie = (request: FastifyRequest): string | undefined =>
  readCookie(request, cookieName)

export function setDeviceCookie(request: FastifyRequest, reply: FastifyReply, value: string): void {
  setCookie(request, reply, { name: cookieName, value, seconds: lifetimeSeconds, path: '/v2' })
}
