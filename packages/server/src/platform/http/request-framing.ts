import type { IncomingMessage } from 'node:http'
import { DomainError } from '../errors.ts'

function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts
}

/**
 * What is wrong with the framing of a request that Node lets through, and that a proxy before it may read
 * differently: no header `Host` or several of them (RFC 9112 3.2), or a coding of the transfer that nothing
 * here undoes (RFC 9112 6.1).
 */
export function faultOfFraming(request: IncomingMessage): DomainError | undefined {
  const hosts = hostsOf(request)
  if (hosts > 1 || (hosts === 0 && request.httpVersion !== '1.0')) {
    const message = `The request has ${hosts === 0 ? 'no header Host' : 'several headers Host'}; send exactly one`
    return new DomainError('malformed', {}, { message })
  }
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
    const message = 'The only Transfer-Encoding that is read is chunked'
    return new DomainError('malformed', {}, { message })
  }
  return undefined
}

/** Max bytes of an unread body that are drained, so that its sender gets the reply and can reuse the connection. */
const drainedBytes = 20 * 1024 * 1024

/** Whether the rest of a body is not worth waiting for: its connection ends with the reply. */
export function isTooMuchToDrain(request: IncomingMessage): boolean {
  return !request.complete && Number(request.headers['content-length'] ?? 0) > drainedBytes
}
