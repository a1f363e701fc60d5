import type { FastifyRequest } from 'fastify'

/** The text after `Bearer` of the one header `Authorization`; undefined when there is none or more than one. */
export function readBearer(request: FastifyRequest): string | undefined {
  const { rawHeaders } = request.raw
  let headers = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === 'authorization') headers++
  }
  if (headers !== 1) return undefined
  return /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
}
