import { SignedXml } from 'xml-crypto'
import type { RefusalReason } from './saml-refusal.ts'
import { SamlRefusal } from './saml-refusal.ts'
import {
  attributeOf,
  childElements,
  childrenNamed,
  isNamed,
  namespaces,
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
  for (const certificate of certificates) {
    const canonical = signedTextBy(certificate, signature, text)
    if (canonical === undefined) continue
    const root = parseSignedXml(canonical)
    const isSame =
      root.localName === element.localName &&
      root.namespaceURI === element.namespaceURI &&
      attributeOf(root, 'ID') === id
    if (!isSame) throw new SamlRefusal('signature-wrapped')
    return root
  }
  throw new SamlRefusal('signature-invalid')
}
