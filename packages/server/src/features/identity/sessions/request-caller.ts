import type { FastifyRequest } from 'fastify'
import type { Caller } from './principal.ts'

/** Who makes a request of the authenticated scope, and from where. */
export function callerOf({ principal, ip }: Pick<FastifyRequest, 'principal' | 'ip'>): Caller {
  return { principal, address: ip }
}
