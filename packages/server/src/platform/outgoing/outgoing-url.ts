import { isIP } from 'node:net'
import { OutgoingError } from './outgoing-error.ts'

/** Where a request may go, as far as the text of an address shows. */
export interface UrlRules {
  readonly ports: ReadonlySet<number>
  /** Whether `http:` may be asked for at all; the address that is connected to is checked besides. */
  readonly allowsHttp: boolean
  /** Whether a host name, in lower case and without a final dot, is one of this service. */
  readonly isOwnHost: (host: string) => boolean
}

export interface OutgoingUrl {
  readonly url: URL
  /** Name or address as it is connected to: lower case, without brackets and final dot. */
  readonly host: string
  readonly port: number
}

const longest = 2048

/** Only what every reader of an address understands in the same way: printable ASCII, no backslash, a plain host. */
const plain = /^https?:\/\/[^/?#@\\]+(?:[/?#][^\\]*)?$/i
const printable = /^[\x21-\x7e]+$/

/**
 * Validates the text of an address before anything is resolved. Spellings of an IPv4 address (`0177.0.0.1`,
 * `2130706433`, `127.1`) come out as the address they mean.
 * @throws OutgoingError `refused`, saying what would be right
 */
export function parseOutgoingUrl(text: string, { ports, allowsHttp, isOwnHost }: UrlRules): OutgoingUrl {
  const refuse = (message: string) => new OutgoingError('refused', message)
  if (text.length > longest) throw refuse(`the address is longer than ${longest} characters`)
  if (!printable.test(text)) throw refuse('the address must consist of printable ASCII characters')
  const scheme = allowsHttp ? 'https:// or http://' : 'https://'
  if (!/^https?:\/\//i.test(text)) throw refuse(`the address must begin with ${scheme}`)
  if (!plain.test(text) || !URL.canParse(text))
    throw refuse('the address must be plain: a host, without user, password and backslashes')
  const url = new URL(text)
  if (url.protocol === 'http:' && !allowsHttp) throw refuse(`the address must begin with ${scheme}`)
  if (url.username !== '' || url.password !== '')
    throw refuse('the address must be plain: a host, without user, password and backslashes')
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (!ports.has(port)) throw refuse(`the port must be one of ${[...ports].join(', ')}`)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (host === '') throw refuse('the address has no host')
  if (isIP(host) === 0 && isOwnHost(host)) throw refuse('the address is one of this service itself')
  return { url, host, port }
}
