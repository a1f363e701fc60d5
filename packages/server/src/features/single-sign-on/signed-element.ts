import { ExclusiveCanonicalization, SignedXml } from 'xml-crypto'
import type { RefusalReason } from './saml-refusal.ts'
import { SamlRefusal } from './saml-refusal.ts'
import {
  attributeOf,
  childElements,
  childrenNamed,
  isNamed,
  namespaces,
  onlyChild,
  parseSignedXml,
  plainText,
} from './saml-xml.ts'
import {
  digestAlgorithms,
  envelopedSignature,
  exclusiveCanonicalization,
  signatureAlgorithms,
} from './signature-algorithms.ts'

const base64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/

/** Each name costs the canonicalisation a look at every element; identity providers list `xs` and its like. */
const mostPrefixes = 20
const longestPrefixList = 500

/** Each one is tried on every response; identity providers have two while they change them. */
export const mostCertificates = 4

/** The children of an element by name, each once, in this order, and nothing else. */
function partsOf(
  element: Element,
  wanted: readonly string[],
  optional: readonly string[] = [],
): Map<string, Element> {
  const parts = new Map<string, Element>()
  const children = childElements(element)
  for (const child of children) {
    const name = child.localName
    const isKnown = wanted.includes(name) || optional.includes(name)
    if (child.namespaceURI !== namespaces.signature || !isKnown || parts.has(name))
      throw new SamlRefusal('signature-malformed')
    parts.set(name, child)
  }
  if (wanted.some((name) => !parts.has(name))) throw new SamlRefusal('signature-malformed')
  return parts
}

function part(parts: Map<string, Element>, name: string): Element {
  const found = parts.get(name)
  if (!found) throw new SamlRefusal('signature-malformed')
  return found
}

function requireAlgorithm(element: Element, accepts: (algorithm: string) => boolean): void {
  const algorithm = attributeOf(element, 'Algorithm')
  if (algorithm === undefined || !accepts(algorithm)) throw new SamlRefusal('algorithm-refused')
}

function requireBase64(element: Element): void {
  const text = plainText(element)
  if (text === undefined || !base64.test(text)) throw new SamlRefusal('signature-malformed')
}

function assertTransforms(transforms: Element): void {
  const each = childrenNamed(transforms, namespaces.signature, 'Transform')
  if (each.length !== childElements(transforms).length) throw new SamlRefusal('signature-malformed')
  const algorithms = each.map((transform) => attributeOf(transform, 'Algorithm'))
  if (algorithms.join(' ') !== `${envelopedSignature} ${exclusiveCanonicalization}`)
    throw new SamlRefusal('algorithm-refused')
  for (const transform of each) {
    const inner = childElements(transform)
    const isAllowed = inner.every((child) => isNamed(child, exclusiveCanonicalization, 'InclusiveNamespaces'))
    if (!isAllowed || inner.length > 1) throw new SamlRefusal('algorithm-refused')
    const prefixes = inner[0] && (attributeOf(inner[0], 'PrefixList') ?? '')
    if (prefixes && (prefixes.length > longestPrefixList || prefixes.split(' ').length > mostPrefixes))
      throw new SamlRefusal('signature-malformed')
  }
}

/**
 * Looks at every part of a signature before anything is computed from it: exactly one reference, to the element
 * that holds it; only the listed algorithms; values that are text alone (CVE-2025-29774, CVE-2025-29775).
 */
function assertSignatureForm(signature: Element, signedId: string): void {
  const parts = partsOf(signature, ['SignedInfo', 'SignatureValue'], ['KeyInfo'])
  requireBase64(part(parts, 'SignatureValue'))
  const signedInfo = part(parts, 'SignedInfo')
  const info = partsOf(signedInfo, ['CanonicalizationMethod', 'SignatureMethod', 'Reference'])
  const canonicalization = part(info, 'CanonicalizationMethod')
  requireAlgorithm(canonicalization, (name) => name === exclusiveCanonicalization)
  if (childElements(canonicalization).length > 0) throw new SamlRefusal('algorithm-refused')
  requireAlgorithm(part(info, 'SignatureMethod'), (name) => Object.hasOwn(signatureAlgorithms, name))
  const reference = part(info, 'Reference')
  if (attributeOf(reference, 'URI') !== `#${signedId}`) throw new SamlRefusal('signature-wrapped')
  const refers = partsOf(reference, ['Transforms', 'DigestMethod', 'DigestValue'])
  assertTransforms(part(refers, 'Transforms'))
  requireAlgorithm(part(refers, 'DigestMethod'), (name) => digestAlgorithms.has(name))
  requireBase64(part(refers, 'DigestValue'))
}

/**
 * The certificate whose key made the signature's value; undefined when it is none of them. A signature of the form
 * that was asserted: what is computed from here is a few elements, whatever document they stand in, so that whoever
 * has no signed message has the document canonicalised not even once, and others once for all certificates.
 */
function signerOf(signature: Element, certificates: readonly string[]): string | undefined {
  const parts = partsOf(signature, ['SignedInfo', 'SignatureValue'], ['KeyInfo'])
  const info = part(parts, 'SignedInfo')
  const method = onlyChild(info, namespaces.signature, 'SignatureMethod')
  const Algorithm = signatureAlgorithms[(method && attributeOf(method, 'Algorithm')) ?? '']
  if (!Algorithm) throw new SamlRefusal('algorithm-refused')
  const value = plainText(part(parts, 'SignatureValue')) ?? ''
  const text = new ExclusiveCanonicalization().process(info.cloneNode(true) as Element, {})
  return certificates
    .slice(0, mostCertificates)
    .find((certificate) => new Algorithm().verifySignature(text, certificate, value))
}

/** The signed text when this certificate's key made the signature. */
function signedTextBy(certificate: string, signature: Element, text: string): string | undefined {
  // Nothing of `KeyInfo` is ever read: whose key it was is decided by the configuration alone.
  const signed = new SignedXml({ publicCert: certificate, getCertFromKeyInfo: () => null })
  signed.SignatureAlgorithms = { ...signatureAlgorithms }
  signed.idAttributes = ['ID']
  try {
    signed.loadSignature(signature)
    if (!signed.checkSignature(text)) return undefined
  } catch {
    return undefined
  }
  const references = signed.getSignedReferences()
  return references.length === 1 ? references[0] : undefined
}

/**
 * Verifies the signature that stands in an element and signs it.
 * @param text the document that the element was parsed from
 * @param certificates in PEM; one of them must have made the signature
 * @param unsigned the reason where there is no signature
 * @returns the element as it was signed, parsed again from the signed bytes: the only one that may be read
 * @throws SamlRefusal
 */
export function verifySignedElement(
  element: Element,
  text: string,
  certificates: readonly string[],
  unsigned: RefusalReason = 'unsigned',
): Element {
  const [signature, ...more] = childrenNamed(element, namespaces.signature, 'Signature')
  if (!signature) throw new SamlRefusal(unsigned)
  if (more.length > 0) throw new SamlRefusal('signature-wrapped')
  const id = attributeOf(element, 'ID')
  if (id === undefined || !/^[A-Za-z_][A-Za-z0-9_.-]{0,255}$/.test(id)) throw new SamlRefusal('foreign-id')
  assertSignatureForm(signature, id)
  const signer = signerOf(signature, certificates)
  const canonical = signer === undefined ? undefined : signedTextBy(signer, signature, text)
  if (canonical === undefined) throw new SamlRefusal('signature-invalid')
  const root = parseSignedXml(canonical)
  const isSame =
    root.localName === element.localName &&
    root.namespaceURI === element.namespaceURI &&
    attributeOf(root, 'ID') === id
  if (!isSame) throw new SamlRefusal('signature-wrapped')
  return root
}
