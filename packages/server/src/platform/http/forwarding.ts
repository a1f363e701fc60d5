import type { IncomingMessage } from 'node:http'
import type { Logger } from '../logger.ts'
import { isListed, rangesOf } from '../outgoing/public-addresses.ts'

const headers = ['x-forwarded-for', 'x-forwarded-proto', 'forwarded'] as const

/** Neighbours that are named; a flood from many addresses does not fill the log. */
const maxNamed = 100

export interface ForwardingOptions {
  readonly publicUrl: string | undefined
  readonly trustedProxies: readonly string[]
  readonly logger: Pick<Logger, 'warn'>
}

/**
 * Warns of a proxy in front of the service that is not configured: then all clients have the
 * address of the proxy, so that the failures and floods of one affect all clients.
 * @returns what is to see each request
 */
export function watchForwarding({
  publicUrl,
  trustedProxies,
  logger,
}: ForwardingOptions): (request: IncomingMessage) => void {
  if (publicUrl?.startsWith('https:') && trustedProxies.length === 0) {
    logger.warn(
      { publicUrl },
      'MILLRACE_PUBLIC_URL begins with https://, which a proxy before this service must serve, but MILLRACE_TRUSTED_PROXIES is not set: all clients count as one address. Set it to the address of the proxy',
    )
  }
  const trusted = rangesOf(trustedProxies)
  const named = new Set<string>()
  return (request) => {
    const header = headers.find((name) => request.headers[name] !== undefined)
    const neighbour = request.socket.remoteAddress
    const isNew = header !== undefined && neighbour !== undefined && !named.has(neighbour)
    if (isNew && named.size < maxNamed && !isListed(trusted, neighbour)) {
      named.add(neighbour)
      logger.warn(
        { neighbour, header },
        'a request came with a header that proxies add, from an address that is not in MILLRACE_TRUSTED_PROXIES, so that the header is ignored. If this is your proxy, add its address there',
      )
    }
  }
}
