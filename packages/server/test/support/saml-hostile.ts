import { sign } from 'node:crypto'
import { DOMParser } from '@xmldom/xmldom'
import { ExclusiveCanonicalization } from 'xml-crypto'

const signature = 'http://www.w3.org/2000/09/xmldsig#'
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256'

export interface HostileParts {
  /** Inside the assertion, after its signature. */
  readonly inner?: string
  readonly prefixList?: string
  /** Attributes of the response. */
  readonly attributes?: string
}

export const hostileAcsUrl = 'https://millrace.example/acs'

/** A response of the right form whose signature nobody has made: as much work as an attacker without a key can ask for. */
export function hostileResponse({ inner = '', prefixList = '', attributes = '' }: HostileParts): string {
  const transforms = `<Transform Algorithm="${signature}enveloped-signature"/><Transform Algorithm="${exclusive}"><InclusiveNamespaces xmlns="${exclusive}" PrefixList="${prefixList}"/></Transform>`
  const reference = `<Reference URI="#_a"><Transforms>${transforms}</Transforms><DigestMethod Algorithm="${sha256}"/><DigestValue>AAAA</DigestValue></Reference>`
  const method = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
  const info = `<SignedInfo><CanonicalizationMethod Algorithm="${exclusive}"/><SignatureMethod Algorithm="${method}"/>${reference}</SignedInfo>`
  const signed = `<Signature xmlns="${signature}">${info}<SignatureValue>AAAA</SignatureValue></Signature>`
  const status = '<p:Status><p:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></p:Status>'
  const assertion = `<a:Assertion ID="_a" Version="2.0"><a:Issuer>i</a:Issuer>${signed}${inner}</a:Assertion>`
  return `<p:Response xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:a="urn:oasis:names:tc:SAML:2.0:assertion" ID="_r" Version="2.0" Destination="${hostileAcsUrl}" ${attributes}>${status}${assertion}</p:Response>`
}

/**
 * The same message with a true signature of its `SignedInfo`, as somebody has who signed in once and kept what the
 * identity provider signed; only the digest does not fit the document.
 */
export function withSignedInfo(xml: string, key: string): string {
  const info = new DOMParser().parseFromString(xml, 'text/xml').getElementsByTagName('SignedInfo')[0]
  if (!info) throw new Error('the message has no SignedInfo')
  const canonical = new ExclusiveCanonicalization().process(info, {})
  const value = sign('sha256', Buffer.from(canonical), key).toString('base64')
  return xml.replace('<SignatureValue>AAAA', `<SignatureValue>${value}`)
}

/** Declarations of `count` prefixes: z0, z1 and so on. */
export const declarations = (count: number, uri = 'u'): string =>
  Array.from({ length: count }, (_, i) => `xmlns:z${i}="${uri}"`).join(' ')

const nested = (levels: number, attributes: (level: number) => string, inside: string): string =>
  Array.from({ length: levels }, (_, level) => `<a:n ${attributes(level)}>`).join('') +
  inside +
  '</a:n>'.repeat(levels)

const names = (count: number): string => Array.from({ length: count }, (_, i) => `z${i}`).join(' ')

/** Messages that stay just within every bound; what is asked for by each is done to its end. */
export const costlyResponses: Readonly<Record<string, string>> = {
  'many elements below many namespaces': hostileResponse({
    inner: '<a:b/>'.repeat(1_900),
    prefixList: names(20),
    attributes: declarations(45),
  }),
  'many elements of many prefixes': hostileResponse({
    inner: Array.from({ length: 1_900 }, (_, i) => `<z${i % 45}:b/>`).join(''),
    prefixList: names(20),
    attributes: declarations(45),
  }),
  'prefixes that change at each level': hostileResponse({
    inner: nested(
      12,
      (level) => declarations(3, level % 2 === 0 ? 'u' : 'v'),
      Array.from({ length: 1_800 }, (_, i) => `<z${i % 3}:b z${(i + 1) % 3}:c=""/>`).join(''),
    ),
    prefixList: names(3),
  }),
  'many attributes with prefixes': hostileResponse({
    inner: `<a:b ${Array.from({ length: 45 }, (_, i) => `z${i}:c=""`).join(' ')}/>`.repeat(80),
    attributes: declarations(45),
    prefixList: names(20),
  }),
  'much text': hostileResponse({ inner: `<a:b>${'x>'.repeat(120_000)}</a:b>` }),
  'many references': hostileResponse({ inner: `<a:b>${'&#65;'.repeat(3_900)}</a:b>` }),
  'deep elements': hostileResponse({
    inner: nested(12, () => declarations(3), '').repeat(100),
    prefixList: names(20),
  }),
}
