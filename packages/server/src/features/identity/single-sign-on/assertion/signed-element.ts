import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { SignatureAlgorithm } from 'xml-crypto'
import { SamlRefusal } from './saml-refusal.ts'
import {
  attributeOf,
  childElements,
  childrenNamed,
  everyElement,
  isNamed,
  namespaces,
  parseSignedXml,
  plainText,
} from './saml-xml.ts'
import {
  canonicalizationAlgorithms,
  digestAlgorithms,
  envelopedSignature,
  exclusiveCanonicalization,
  signatureAlgorithms,
} from './signature-algorithms.ts'

const require = createRequire(import.meta.url)
/** Loaded at first use: most services have no single sign-on. */
const library = () => require('xml-crypto') as typeof import('xml-crypto')

/** In one pass: space stands in the first class, or after an equals sign. */
const base64 = /^[A-Za-z0-9+/\s]+(?:=\s*){0,2}$/

/** The value of a key of 16 384 bits has 2 732 characters, without the space in it. */
const maxValueLength = 8_192

/** Text, names and values of attributes together, in characters; identity providers write some 1 500. */
const maxSignedInfoLength = 16_384

/** Each name costs the canonicalisation a look at every element; identity providers list `xs` and its like. */
const maxPrefixes = 20
const maxPrefixListLength = 500

/** Each one is tried on every response; identity providers have two while they change them. */
export const maxCertificates = 4

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

/** The algorithm that an empty element names, as it stands in the table of those that are accepted. */
function algorithmOf<T>(element: Element, accepted: Readonly<Record<string, T>>): T {
  const name = attributeOf(element, 'Algorithm')
  const algorithm = name !== undefined && Object.hasOwn(accepted, name) ? accepted[name] : undefined
  if (algorithm === undefined || childElements(element).length > 0) throw new SamlRefusal('algorithm-refused')
  return algorithm
}

function base64Of(element: Element): string {
  const text = plainText(element)
  if (text === undefined || text.length > maxValueLength || !base64.test(text))
    throw new SamlRefusal('signature-malformed')
  return text
}

/** @returns the prefixes that the canonicalisation includes though nothing uses them */
function readTransforms(transforms: Element): string[] {
  const each = childrenNamed(transforms, namespaces.signature, 'Transform')
  if (each.length !== childElements(transforms).length) throw new SamlRefusal('signature-malformed')
  const algorithms = each.map((transform) => attributeOf(transform, 'Algorithm'))
  if (algorithms.join(' ') !== `${envelopedSignature} ${exclusiveCanonicalization}`)
    throw new SamlRefusal('algorithm-refused')
  const [inEnveloped = [], [inclusive, ...more] = []] = each.map(childElements)
  if (inEnveloped.length > 0 || more.length > 0) throw new SamlRefusal('algorithm-refused')
  if (!inclusive) return []
  const isEmpty = childElements(inclusive).length === 0
  if (!isEmpty || !isNamed(inclusive, exclusiveCanonicalization, 'InclusiveNamespaces'))
    throw new SamlRefusal('algorithm-refused')
  const list = attributeOf(inclusive, 'PrefixList') ?? ''
  if (list.length > maxPrefixListLength) throw new SamlRefusal('signature-malformed')
  const prefixes = list.split(' ').filter((prefix) => prefix !== '')
  if (prefixes.length > maxPrefixes) throw new SamlRefusal('signature-malformed')
  return prefixes
}

/** What is signed: that an element, so transformed, has this digest. */
interface SignedInfo {
  readonly Algorithm: new () => SignatureAlgorithm
  /** As `createHash` calls it. */
  readonly hash: string
  /** In base64. */
  readonly digest: string
  readonly prefixes: readonly string[]
}

/**
 * Looks at every part before anything is computed from it: exactly one reference, to the element that holds the
 * signature; only the listed algorithms; values that are text alone (CVE-2025-29774, CVE-2025-29775).
 */
function readSignedInfo(signedInfo: Element, signedId: string): SignedInfo {
  const info = partsOf(signedInfo, ['CanonicalizationMethod', 'SignatureMethod', 'Reference'])
  algorithmOf(part(info, 'CanonicalizationMethod'), canonicalizationAlgorithms)
  const Algorithm = algorithmOf(part(info, 'SignatureMethod'), signatureAlgorithms)
  const reference = part(info, 'Reference')
  if (attributeOf(reference, 'URI') !== `#${signedId}`) throw new SamlRefusal('signature-wrapped')
  const refers = partsOf(reference, ['Transforms', 'DigestMethod', 'DigestValue'])
  return {
    Algorithm,
    prefixes: readTransforms(part(refers, 'Transforms')),
    hash: algorithmOf(part(refers, 'DigestMethod'), digestAlgorithms),
    digest: base64Of(part(refers, 'DigestValue')),
  }
}

/** Of the form that was read, so that there are few elements; but each may hold much. */
function assertShort(signedInfo: Element): void {
  let length = signedInfo.textContent?.length ?? 0
  for (const element of everyElement(signedInfo))
    for (const { name, value } of Array.from(element.attributes)) length += name.length + value.length
  if (length > maxSignedInfoLength) throw new SamlRefusal('signature-malformed')
}

/**
 * What one of the certificates has signed, read from the signed bytes. Only a few elements are canonicalised before
 * the signature is verified, so that an unsigned document costs little.
 */
function verifySignedInfo(signature: Element, signedId: string, certificates: readonly string[]): SignedInfo {
  const parts = partsOf(signature, ['SignedInfo', 'SignatureValue'], ['KeyInfo'])
  const value = base64Of(part(parts, 'SignatureValue'))
  const signedInfo = part(parts, 'SignedInfo')
  const { Algorithm } = readSignedInfo(signedInfo, signedId)
  assertShort(signedInfo)
  const canonical = new (library().ExclusiveCanonicalization)().process(signedInfo, {})
  // Nothing of `KeyInfo` is ever read: whose key it was is decided by the configuration alone.
  const isSigned = certificates
    .slice(0, maxCertificates)
    .some((certificate) => new Algorithm().verifySignature(canonical, certificate, value))
  if (!isSigned) throw new SamlRefusal('signature-invalid')
  return readSignedInfo(parseSignedXml(canonical), signedId)
}

function elementPathOf(element: Element): string {
  const parent = element.parentNode
  if (!parent || parent === element.ownerDocument) return '/*'
  return `${elementPathOf(parent as Element)}/*[${childElements(parent).indexOf(element) + 1}]`
}

/** The text of an element as it was signed: without its signature, and canonical. */
function canonicalTextOf(element: Element, signature: Element, prefixes: readonly string[]): string {
  // Out of the document and in again: a copy of the element costs as much as all else together.
  const next = signature.nextSibling
  const { ExclusiveCanonicalization, findAncestorNs } = library()
  element.removeChild(signature)
  try {
    return new ExclusiveCanonicalization().process(element, {
      inclusiveNamespacesPrefixList: [...prefixes],
      ancestorNamespaces: findAncestorNs(element.ownerDocument, elementPathOf(element)),
    })
  } catch (cause) {
    throw new SamlRefusal('signature-invalid', cause)
  } finally {
    element.insertBefore(signature, next)
  }
}

/**
 * Verifies the signature that stands in an element of a document and signs that element.
 * @param certificates in PEM; one of them must have made the signature
 * @returns the text that was signed
 * @throws SamlRefusal
 */
export function verifySignedText(element: Element, certificates: readonly string[]): string {
  const [signature, ...more] = childrenNamed(element, namespaces.signature, 'Signature')
  if (!signature) throw new SamlRefusal('unsigned')
  if (more.length > 0) throw new SamlRefusal('signature-wrapped')
  const id = attributeOf(element, 'ID')
  if (id === undefined || !/^[A-Za-z_][A-Za-z0-9_.-]{0,255}$/.test(id)) throw new SamlRefusal('foreign-id')
  const { hash, digest, prefixes } = verifySignedInfo(signature, id, certificates)
  const text = canonicalTextOf(element, signature, prefixes)
  const isSame = createHash(hash).update(text, 'utf8').digest().equals(Buffer.from(digest, 'base64'))
  if (!isSame) throw new SamlRefusal('signature-invalid')
  return text
}

/**
 * The element as it was signed, parsed again from the signed bytes: the only one that may be read.
 * @throws SamlRefusal as `verifySignedText` does
 */
export function readSignedElement(element: Element, certificates: readonly string[]): Element {
  const root = parseSignedXml(verifySignedText(element, certificates))
  const isSame =
    root.localName === element.localName &&
    root.namespaceURI === element.namespaceURI &&
    attributeOf(root, 'ID') === attributeOf(element, 'ID')
  if (!isSame) throw new SamlRefusal('signature-wrapped')
  return root
}
