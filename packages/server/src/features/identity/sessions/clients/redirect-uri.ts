import type { DomainError } from '../../../../platform/errors.ts'
import { invalid } from '../../../../platform/invalid.ts'

/** A name of this machine. Plain http stays on it, and needs no certificate. */
const isLoopback = (hostname: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(hostname)

/** RFC 8252 7.1: a domain name in reverse order, so that no other application has it by chance, and one slash. */
const privateUse = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:\//

/** The loopback address of an application on a device, without its port (RFC 8252 7.3). */
const loopbackAddress = /^http:\/\/(127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?(?=[/?]|$)/

/** A path of the service itself, whatever its address is: segments of plain characters, none of which leads upwards. */
const ownPath = /^(?:\/[\w-]+)+\/?$/

function faultOfRedirectUri(uri: string, native: boolean): string | undefined {
  if (ownPath.test(uri)) return undefined
  const parsed = URL.parse(uri)
  // A parser would strip or escape what is no visible ASCII, and it would be another address.
  const isPlain = /^[\x21-\x7e]+$/.test(uri) && !uri.includes('#')
  if (!parsed || !isPlain || parsed.username + parsed.password !== '')
    return 'must be a full address without user, password and fragment'
  // The policy of the sign-in pages names it: other characters would be a directive or a keyword there.
  if (!/^[\w.:[\]-]*$/.test(parsed.hostname))
    return 'must be at a host whose name has letters, digits, - and . alone'
  if (parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback(parsed.hostname)))
    return undefined
  if (!native) return 'must begin with https:// (http:// only for this machine, other schemes with --native)'
  return privateUse.test(uri)
    ? undefined
    : 'must begin with https://, http:// of this machine, or a domain name in reverse as com.example.app:/'
}

/**
 * What a client may return to, kept as given: it is compared character by character (RFC 9700 2.1).
 * @throws DomainError `validation`
 */
export function requireRedirectUri(uri: string, native: boolean): string {
  const fault = faultOfRedirectUri(uri, native)
  if (fault !== undefined) throw invalid('redirect-uri', `${fault}; it is "${uri}"`)
  return uri
}

/** The address without its port; undefined for every other one, `localhost` too (RFC 8252 8.3). */
function withoutPort(uri: string): string | undefined {
  const port = loopbackAddress.exec(uri)?.[2]
  if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535)) return undefined
  return loopbackAddress.test(uri) ? uri.replace(loopbackAddress, 'http://$1') : undefined
}

/** Registered places as full addresses: what is a path of the service itself is below its present address. */
export function redirectAddresses(registered: readonly string[], publicUrl: string): string[] {
  return registered.map((uri) => (ownPath.test(uri) ? `${publicUrl}${uri}` : uri))
}

/**
 * Whether an address is one that the operator wrote, character by character, without a parser's reading of it
 * (RFC 9700 2.1). An application on a device listens on a port that is free at the moment: of a loopback address any
 * port will do (RFC 8252 7.3).
 */
export function isRegisteredRedirect(registered: readonly string[], uri: string): boolean {
  if (registered.includes(uri)) return true
  const wanted = withoutPort(uri)
  return wanted !== undefined && registered.some((each) => withoutPort(each) === wanted)
}

/**
 * An origin as browsers send it (RFC 6454 6.2), so that it can be compared as a text.
 * @throws DomainError `validation`
 */
export function requireOrigin(origin: string): string {
  const refuse = (fault: string): DomainError => invalid('origin', `${fault}; it is "${origin}"`)
  const parsed = URL.parse(origin)
  if (!parsed || !/^https?:\/\/[^/]/i.test(origin)) throw refuse('must be an origin as https://app.example')
  if (parsed.hostname.includes('*')) throw refuse('must name one host; repeat the option for more')
  if (parsed.protocol === 'http:' && !isLoopback(parsed.hostname))
    throw refuse('must begin with https:// (http:// only for this machine)')
  if (parsed.origin !== origin) throw refuse(`must be written as browsers send it, ${parsed.origin}`)
  return origin
}
