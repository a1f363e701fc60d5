import type { FastifyInstance } from 'fastify'
import * as oauth from 'oauth4webapi'
import { testOrigin } from './auth.ts'

/** The service under its public address, for a client library that knows nothing of tests. */
export function libraryOptions(app: FastifyInstance) {
  const customFetch = async (url: string, options: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(url)
    const reply = await app.inject({
      method: (options.method ?? 'GET') as 'GET',
      url: pathname + search,
      headers: Object.fromEntries(new Headers(options.headers)),
      ...(options.body ? { payload: String(options.body) } : {}),
    })
    const headers = new Headers()
    for (const [name, value] of Object.entries(reply.headers)) headers.set(name, String(value))
    return new Response(reply.statusCode === 204 ? null : reply.body, { status: reply.statusCode, headers })
  }
  return { [oauth.customFetch]: customFetch as never }
}

/** What the library finds out about the service by itself. */
export async function discover(
  options: ReturnType<typeof libraryOptions>,
): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(testOrigin)
  const discovered = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' })
  return oauth.processDiscoveryResponse(issuer, discovered)
}
