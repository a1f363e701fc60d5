import type { FastifyReply, FastifyRequest } from 'fastify'

/** The value of a cookie; undefined when it is missing, empty or there twice. */
export function readCookie(request: FastifyRequest, name: string): string | undefined {
  const pairs = request.headers.cookie?.split(';').map((pair) => pair.trim()) ?? []
  const [found, ...more] = pairs.filter((pair) => pair.startsWith(`${name}=`))
  return more.length === 0 ? found?.slice(name.length + 1) || undefined : undefined
}

export interface Cookie {
  readonly name: string
  readonly value: string
  /** 0 takes the cookie away. */
  readonly seconds: number
  readonly path: string
}

/** Sets a cookie that no script reads, that comes along on links but not on forms of other sites (SameSite=Lax). */
export function setCookie(request: FastifyRequest, reply: FastifyReply, cookie: Cookie): void {
  const { name, value, seconds, path } = cookie
  const attributes = [`Max-Age=${seconds}`, `Path=${path}`, 'HttpOnly', 'SameSite=Lax']
  // By the address that users reach: the socket does not show a proxy before the service.
  const isSecure = request.protocol === 'https' || request.server.publicUrl?.startsWith('https:')
  if (isSecure) attributes.push('Secure')
  reply.header('set-cookie', [`${name}=${value}`, ...attributes].join('; '))
}
