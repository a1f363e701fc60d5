import { refusedSchemes } from '@millrace/contract/resources/workflow-definition.ts'

/** Of an address that is answered in a header. */
const maxAddressLength = 8_192

/** Printable ASCII without the characters that end a header, an attribute or an address. */
const plain = /^[\x21\x23-\x3b\x3d\x3f-\x7e]+$/

/** The address as it can stand in a header; undefined where it is none of http or https. */
export function webAddress(text: string): string | undefined {
  const url = parse(text)
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  return url.href
}

/** The same, or a deep link into an app, which stays as it is. */
export function linkAddress(text: string): string | undefined {
  const url = parse(text)
  if (url === undefined || refusedSchemes.has(url.protocol.slice(0, -1))) return undefined
  if (url.protocol === 'http:' || url.protocol === 'https:') return url.href
  return plain.test(text) ? text : url.href
}

function parse(text: string): URL | undefined {
  const trimmed = text.trim()
  if (trimmed.length > maxAddressLength || !URL.canParse(trimmed)) return undefined
  const url = new URL(trimmed)
  return url.href.length > maxAddressLength ? undefined : url
}

/** A value as one part of an address. */
export const encodePart = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Host of a web address in lower case, with its port; undefined for any other text. */
export function hostOf(address: string): string | undefined {
  const url = parse(address)
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.host : undefined
}

/** Whether an address leads to one of the hosts, or below the domain. */
export function leadsWithin(
  address: string,
  hosts: ReadonlySet<string>,
  domain: string | undefined,
): boolean {
  const host = hostOf(address)
  if (host === undefined) return false
  if (hosts.has(host)) return true
  const own = domain === undefined ? undefined : hostOf(domain.includes('://') ? domain : `https://${domain}`)
  return own !== undefined && (host === own || host.endsWith(`.${own}`))
}
