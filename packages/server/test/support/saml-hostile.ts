import { createHash, sign } from 'node:crypto'
import { DOMParser } from '@xmldom/xmldom'
import { ExclusiveCanonicalization, findAncestorNs } from 'xml-crypto'
import type { RefusalReason } from '../../src/features/identity/single-sign-on/assertion/saml-refusal.ts'

const signature = 'http://www.w3.org/2000/09/xmldsig#'
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256'

export interface HostileParts {
  /** Inside the assertion's attribute statement. */
  readonly inner?: string
  /** Inside the assertion, after its signature. */
  readonly beside?: string
  readonly prefixList?: string
  /** Attributes of the response. */
  readonly attributes?: string
  /** Whether the response has a signature of its own, too. */
  readonly twice?: boolean
  /** Changes the assertion's signature. */
  readonly change?: (signature: string) => string
}

export const hostileAcsUrl = 'https://millrace.example/acs'

/** What stands where a digest and the value of a signature belong, by the element that would be signed. */
const unmade = { Assertion: 'AAAA', Response: 'BBBB' } as const

type Signed = keyof typeof unmade

function unmadeSignature(signed: Signed, id: string, prefixList: string): string {
  const transforms = `<Transform Algorithm="${signature}enveloped-signature"/><Transform Algorithm="${exclusive}"><InclusiveNamespaces xmlns="${exclusive}" PrefixList="${prefixList}"/></Transform>`
  const reference = `<Reference URI="#${id}"><Transforms>${transforms}</Transforms><DigestMethod Algorithm="${sha256}"/><DigestValue>${unmade[signed]}</DigestValue></Reference>`
  const method = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
  const info = `<SignedInfo><CanonicalizationMethod Algorithm="${exclusive}"/><SignatureMethod Algorithm="${method}"/>${reference}</SignedInfo>`
  return `<Signature xmlns="${signature}">${info}<SignatureValue>${unmade[signed]}</SignatureValue></Signature>`
}

/** A response of the right form whose signatures nobody has made: as much work as an attacker without a key can ask for. */
export function hostileResponse(parts: HostileParts): string {
  const { inner = '', beside = '', prefixList = '', attributes = '', twice = false } = parts
  const { change = (unchanged) => unchanged } = parts
  const signed = change(unmadeSignature('Assertion', '_a', prefixList))
  const status = '<p:Status><p:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></p:Status>'
  const statement = `<a:AttributeStatement>${inner}</a:AttributeStatement>`
  const assertion = `<a:Assertion ID="_a" Version="2.0"><a:Issuer>i</a:Issuer>${signed}${beside}${statement}</a:Assertion>`
  const outer = twice ? unmadeSignature('Response', '_r', prefixList) : ''
  return `<p:Response xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:a="urn:oasis:names:tc:SAML:2.0:assertion" ID="_r" Version="2.0" Destination="${hostileAcsUrl}" ${attributes}>${outer}${status}${assertion}</p:Response>`
}

const paths: Readonly<Record<Signed, string>> = { Assertion: '/*/*[@ID="_a"]', Response: '/*' }

/** The signature that nobody has made yet, in a document of its own. */
function findSignature(xml: string, signed: Signed): Element | undefined {
  const ignore = () => undefined
  const parser = new DOMParser({ errorHandler: { warning: ignore, error: ignore } })
  const signatures = parser.parseFromString(xml, 'text/xml').getElementsByTagName('Signature')
  return Array.from(signatures).find(
    (found) => found.getElementsByTagName('SignatureValue')[0]?.textContent === unmade[signed],
  )
}

function withDigest(xml: string, signed: Signed): string {
  const found = findSignature(xml, signed)
  if (!found) return xml
  const element = found.parentNode as Element
  const list = found.getElementsByTagName('InclusiveNamespaces')[0]?.getAttribute('PrefixList') ?? ''
  element.removeChild(found)
  const canonical = new ExclusiveCanonicalization().process(element, {
    inclusiveNamespacesPrefixList: list.split(' ').filter((prefix) => prefix !== ''),
    ancestorNamespaces: findAncestorNs(element.ownerDocument, paths[signed]),
  })
  const digest = createHash('sha256').update(canonical).digest('base64')
  return xml.replace(`<DigestValue>${unmade[signed]}`, `<DigestValue>${digest}`)
}

function withValue(xml: string, signed: Signed, key: string): string {
  const info = findSignature(xml, signed)?.getElementsByTagName('SignedInfo')[0]
  if (!info) return xml
  const value = sign('sha256', Buffer.from(new ExclusiveCanonicalization().process(info, {})), key)
  return xml.replace(`<SignatureValue>${unmade[signed]}`, `<SignatureValue>${value.toString('base64')}`)
}

/**
 * The same message with a true signature of its `SignedInfo`, as a user has who signed in once and kept what the
 * identity provider signed; only the digest does not fit the document.
 */
export function withSignedInfo(xml: string, key: string): string {
  return withValue(xml, 'Assertion', key)
}

/** The same message as an identity provider signs it that is hostile itself. */
export function withSignatures(xml: string, key: string): string {
  const assertion = withValue(withDigest(xml, 'Assertion'), 'Assertion', key)
  return withValue(withDigest(assertion, 'Response'), 'Response', key)
}

/** `count` texts side by side, each made from its number. */
const each = (count: number, part: (at: number) => string, between = ''): string =>
  Array.from({ length: count }, (_, at) => part(at)).join(between)

/** Declarations of `count` prefixes: z0, z1 and so on. */
const declarations = (count: number, uri = 'u'): string => each(count, (i) => `xmlns:z${i}="${uri}"`, ' ')

const nested = (levels: number, attributes: (level: number) => string, inside: string): string =>
  each(levels, (level) => `<a:n ${attributes(level)}>`) + inside + '</a:n>'.repeat(levels)

const names = (count: number): string => each(count, (i) => `z${i}`, ' ')

/** Messages that stay just within every bound; what is asked for by each is done to its end. */
export const costlyResponses: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    'many elements below many namespaces': {
      inner: '<a:b/>'.repeat(1_900),
      prefixList: names(20),
      attributes: declarations(45),
    },
    'many elements of many prefixes': {
      inner: each(1_900, (i) => `<z${i % 40}:b/>`),
      prefixList: names(20),
      attributes: declarations(40, 'u'.repeat(200)),
    },
    'a long namespace that each element takes up again': {
      inner: '<b/>'.repeat(1_900),
      attributes: `xmlns="${'u'.repeat(200)}"`,
    },
    'prefixes that change at each level': {
      inner: nested(
        11,
        (level) => declarations(3, level % 2 === 0 ? 'u' : 'v'),
        each(1_800, (i) => `<z${i % 3}:b z${(i + 1) % 3}:c=""/>`),
      ),
      prefixList: names(3),
    },
    'many attributes with prefixes': {
      inner: `<a:b ${each(45, (i) => `z${i}:c=""`, ' ')}/>`.repeat(80),
      prefixList: names(20),
      attributes: declarations(45),
    },
    'elements that declare namespaces': {
      inner: `<a:b ${declarations(2)}/>`.repeat(1_900),
      prefixList: names(20),
    },
    'the same namespaces below many others': {
      inner: '<a:b xmlns:q="u" xmlns:r="v"/>'.repeat(1_850),
      prefixList: 'q r',
      attributes: declarations(40),
    },
    'elements of two attributes': { inner: '<a:b c="" d=""/>'.repeat(1_900) },
    'many identifiers': { inner: each(1_900, (i) => `<a:b ID="_${i}"/>`) },
    'many values of one attribute': {
      inner: '<a:Attribute Name="x"><a:AttributeValue>v</a:AttributeValue></a:Attribute>'.repeat(900),
    },
    'text between many elements': { inner: `<a:b>${'x<a:b/>'.repeat(1_900)}</a:b>` },
    'much text': { inner: `<a:b>${'x>'.repeat(13_000)}${'x'.repeat(210_000)}</a:b>` },
    'many elements before much text': {
      inner: `${'<a:b/>'.repeat(1_900)}<a:b>${'x'.repeat(230_000)}</a:b>`,
    },
    'many names before much text': {
      inner: `${each(40, (i) => `<a:n${i}></a:n${i} >`)}<a:b>${'x'.repeat(230_000)}</a:b>`,
    },
    'many lines': { inner: `<a:b>${'\r'.repeat(240_000)}</a:b>` },
    'a value of spaces': { inner: `<a:b c="${'\t'.repeat(240_000)}"/>` },
    'a value of quotes': { inner: `<a:b c='${'"'.repeat(19_000)}'/>` },
    'many references': { inner: `<a:b>${'&#65;'.repeat(3_900)}</a:b>` },
    'deep elements': { inner: nested(11, () => declarations(3), '').repeat(100), prefixList: names(20) },
    'many certificates': {
      change: (unchanged: string) =>
        unchanged.replace(
          '</Signature>',
          `<KeyInfo>${`<X509Data>${'A'.repeat(100)}</X509Data>`.repeat(1_500)}</KeyInfo></Signature>`,
        ),
    },
  } satisfies Record<string, HostileParts>).map(([name, parts]) => [
    name,
    hostileResponse({ ...parts, twice: true }),
  ]),
)

/** Replaces a part of the assertion's signature. */
const signedWith = (part: string | RegExp, by: (found: string) => string): string =>
  hostileResponse({ change: (unchanged) => unchanged.replace(part, by) })

/** Messages that go beyond a bound, and why each is refused. */
export const excessiveResponses: Readonly<
  Record<string, { xml: string; reason: RefusalReason; isParsed?: boolean }>
> = {
  'many prefixes to include': {
    xml: hostileResponse({ prefixList: names(21) }),
    reason: 'signature-malformed',
    isParsed: true,
  },
  'thousands of prefixes to include': {
    xml: hostileResponse({ prefixList: names(3_000) }),
    reason: 'signature-malformed',
    isParsed: true,
  },
  'one prefix, 50 000 times': {
    xml: hostileResponse({ prefixList: 'z1 '.repeat(50_000) }),
    reason: 'signature-malformed',
    isParsed: true,
  },
  'a long prefix': {
    xml: hostileResponse({ prefixList: 'z'.repeat(501) }),
    reason: 'signature-malformed',
    isParsed: true,
  },
  'a list of prefixes beside its signature': {
    xml: hostileResponse({
      beside: `<CanonicalizationMethod><InclusiveNamespaces PrefixList="${names(20_000)}"/></CanonicalizationMethod>`,
    }),
    reason: 'unexpected-structure',
    isParsed: true,
  },
  '51 namespaces in one element': {
    xml: hostileResponse({ attributes: declarations(51) }),
    reason: 'too-many-elements',
  },
  '51 namespaces one inside the other': {
    xml: hostileResponse({
      attributes: declarations(20),
      inner: `<a:b ${declarations(15)}><a:b ${declarations(15)}/></a:b>`,
    }),
    reason: 'too-many-elements',
  },
  'a namespace of 200 000 characters': {
    xml: hostileResponse({
      inner: '<z0:b/>'.repeat(1_900),
      attributes: declarations(1, 'u'.repeat(200_000)),
    }),
    reason: 'too-large',
    isParsed: true,
  },
  '1 900 elements, each inside the one before, that seem to end': {
    xml: hostileResponse({ inner: `${'<a:b></x>'.repeat(1_900)}<a:b></a:b>` }),
    reason: 'malformed-xml',
  },
  '1 900 namespaces, each inside the one before, in elements that seem to end': {
    xml: hostileResponse({
      inner: `${each(1_900, (i) => `<a:b xmlns:z${i}="u"></x>`)}<a:b></a:b>`,
    }),
    reason: 'malformed-xml',
  },
  '101 attributes': {
    xml: hostileResponse({ attributes: each(101, (i) => `a${i}=""`, ' ') }),
    reason: 'too-many-elements',
  },
  'elements of a thousand names': {
    xml: hostileResponse({ inner: each(1_000, (i) => `<a:n${i}></a:n${i}>`) }),
    reason: 'too-many-elements',
  },
  '100 000 angle brackets': {
    xml: hostileResponse({ inner: `<a:b>${'x>'.repeat(100_000)}</a:b>` }),
    reason: 'too-many-elements',
  },
  '100 000 quotes': {
    xml: hostileResponse({ inner: `<a:b c='${'"'.repeat(100_000)}'/>` }),
    reason: 'too-many-elements',
  },
  'an angle bracket in a value': { xml: hostileResponse({ attributes: 'c="<"' }), reason: 'malformed-xml' },
  '30 000 comments': {
    xml: hostileResponse({ inner: '<!---->'.repeat(30_000) }),
    reason: 'markup-declaration',
  },
  '30 000 processing instructions': {
    xml: hostileResponse({ inner: '<?a?>'.repeat(30_000) }),
    reason: 'processing-instruction',
  },
  'a value of 200 000 spaces': {
    xml: signedWith('<SignatureValue>AAAA', (value) => `${value}${' '.repeat(200_000)}!`),
    reason: 'signature-malformed',
    isParsed: true,
  },
  'a digest of 200 000 spaces': {
    xml: signedWith('<DigestValue>AAAA', (value) => `${value}${' '.repeat(200_000)}!`),
    reason: 'signature-malformed',
    isParsed: true,
  },
  'much text in what is signed': {
    xml: signedWith('<SignedInfo>', (tag) => `${tag}${'x'.repeat(200_000)}`),
    reason: 'signature-malformed',
    isParsed: true,
  },
  'a long attribute in what is signed': {
    xml: signedWith('<SignedInfo', (tag) => `${tag} a="${'x'.repeat(200_000)}"`),
    reason: 'signature-malformed',
    isParsed: true,
  },
  'elements in the digest’s method': {
    xml: signedWith(/(?<=<DigestMethod [^>]*)\/>/, () => `>${'<b/>'.repeat(1_900)}</DigestMethod>`),
    reason: 'algorithm-refused',
    isParsed: true,
  },
  'elements in the list of prefixes': {
    xml: signedWith(
      /(?<=<InclusiveNamespaces [^>]*)\/>/,
      () => `>${'<b/>'.repeat(1_900)}</InclusiveNamespaces>`,
    ),
    reason: 'algorithm-refused',
    isParsed: true,
  },
  '150 references': {
    xml: signedWith(/<Reference.*<\/Reference>/, (reference) => reference.repeat(150)),
    reason: 'signature-malformed',
    isParsed: true,
  },
  '1 500 transforms': {
    xml: signedWith(/<Transform Algorithm.*?\/>/, (transform) => transform.repeat(1_500)),
    reason: 'algorithm-refused',
    isParsed: true,
  },
  '150 signatures': {
    xml: signedWith(/.*/, (whole) => whole.repeat(150)),
    reason: 'signature-wrapped',
    isParsed: true,
  },
  'an id of 100 000 characters': {
    xml: hostileResponse({}).replaceAll('_a"', `_${'a'.repeat(100_000)}"`),
    reason: 'foreign-id',
    isParsed: true,
  },
}
