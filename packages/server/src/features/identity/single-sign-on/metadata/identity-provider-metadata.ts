import { X509Certificate } from 'node:crypto'
import { SamlRefusal } from '../assertion/saml-refusal.ts'
import {
  attributeOf,
  childrenNamed,
  isNamed,
  namespaces,
  onlyChild,
  parseForeignXml,
  type XmlLimits,
} from '../assertion/saml-xml.ts'
import { maxCertificates, verifySignedText } from '../assertion/signed-element.ts'

/** What is used of the metadata of an identity provider (saml-metadata 2.4.3). */
export interface IdentityProvider {
  readonly entityId: string
  /** Where a browser goes with a request, HTTP-Redirect binding; `https`. */
  readonly signInUrl: string
  /** In PEM, each valid and of a strong key. */
  readonly certificates: readonly string[]
}

/** Why a metadata document is not usable, in words for the user who gave it. */
export class UnusableMetadata extends Error {}

const limits: XmlLimits = {
  bytes: 512 * 1024,
  depth: 32,
  elements: 5_000,
  names: 200,
  declarations: 200,
  signs: 10_000,
  tagSigns: 200,
  escapes: 50_000,
  comments: true,
}
const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
/** With those that have ended, or come twice. */
const maxCertificateTexts = 20

/** @throws UnusableMetadata */
export function refuse(reason: string, cause?: unknown): never {
  throw new UnusableMetadata(reason, { cause })
}

const wordsOfRefusals: Readonly<Record<string, string>> = {
  'too-large': `it is longer than ${limits.bytes} bytes`,
  'not-utf8': 'it is not UTF-8',
  'markup-declaration': 'it has a document type or declares entities; remove the DOCTYPE',
  'processing-instruction': 'it holds a processing instruction',
  'too-deep': `it is nested deeper than ${limits.depth} levels`,
  'too-many-elements': `it has more than ${limits.elements} elements or ${limits.names} different ones, more than ${limits.signs} attributes or ${limits.tagSigns} in one element, or more than ${limits.declarations} namespaces`,
}

function parseRoot(xml: string): Element {
  try {
    return parseForeignXml(Buffer.from(xml.trim(), 'utf8'), limits)
  } catch (error) {
    if (!(error instanceof SamlRefusal)) throw error
    return refuse(wordsOfRefusals[error.reason] ?? 'it is not well-formed XML', error)
  }
}

/** The one entity that is an identity provider. */
function findEntity(root: Element): Element {
  if (isNamed(root, namespaces.metadata, 'EntityDescriptor')) return root
  if (!isNamed(root, namespaces.metadata, 'EntitiesDescriptor'))
    return refuse('it is no SAML 2.0 metadata: its root is not EntityDescriptor')
  const providers = childrenNamed(root, namespaces.metadata, 'EntityDescriptor').filter(
    (entity) => childrenNamed(entity, namespaces.metadata, 'IDPSSODescriptor').length > 0,
  )
  const [provider, ...more] = providers
  if (!provider) return refuse('it describes no identity provider')
  if (more.length > 0)
    return refuse(`it describes ${providers.length} identity providers; give the metadata of one`)
  return provider
}

function findDescriptor(entity: Element): Element {
  const [descriptor, ...more] = childrenNamed(entity, namespaces.metadata, 'IDPSSODescriptor')
  if (!descriptor) return refuse('it describes no identity provider: there is no IDPSSODescriptor')
  if (more.length > 0) return refuse('it describes 2 identity providers; give the metadata of one')
  return descriptor
}

function readSignInUrl(descriptor: Element): string {
  const services = childrenNamed(descriptor, namespaces.metadata, 'SingleSignOnService')
  const service = services.find((each) => attributeOf(each, 'Binding') === redirectBinding)
  if (!service) return refuse('it has no SingleSignOnService with the HTTP-Redirect binding')
  const location = attributeOf(service, 'Location') ?? ''
  const url = URL.parse(location)
  if (url?.protocol !== 'https:')
    return refuse(
      `its sign-in address must begin with https://, it is ${JSON.stringify(location.slice(0, 200))}`,
    )
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    return refuse('its sign-in address must hold no user name, password or fragment')
  return url.href
}

function readCertificate(text: string): X509Certificate {
  const packed = text.replaceAll(/\s/g, '')
  try {
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(packed)) throw new Error('not base64')
    return new X509Certificate(Buffer.from(packed, 'base64'))
  } catch (cause) {
    return refuse('one of its certificates cannot be read', cause)
  }
}

/** A signature costs as many squarings as the exponent has bits; keys have 65537 or less. */
const largestExponent = 2n ** 32n

function assertStrongKey({ publicKey }: X509Certificate): void {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey
  if ((details?.publicExponent ?? 0n) > largestExponent)
    refuse('one of its certificates has a key whose exponent has more than 32 bits; 65537 is usual')
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= 2048) return
  if (type === 'ec' && ['prime256v1', 'secp384r1', 'secp521r1'].includes(details?.namedCurve ?? '')) return
  refuse(
    'one of its certificates has a key that is too weak: RSA of 2048 bits or more, or ECDSA P-256 and up',
  )
}

function readCertificates(descriptor: Element, now: number): string[] {
  const signing = childrenNamed(descriptor, namespaces.metadata, 'KeyDescriptor').filter((key) =>
    [undefined, 'signing'].includes(attributeOf(key, 'use')),
  )
  const texts = signing.flatMap((key) => {
    const info = onlyChild(key, namespaces.signature, 'KeyInfo')
    const data = info ? childrenNamed(info, namespaces.signature, 'X509Data') : []
    return data.flatMap((each) => childrenNamed(each, namespaces.signature, 'X509Certificate'))
  })
  if (texts.length === 0) return refuse('it holds no certificate to verify signatures with')
  if (texts.length > maxCertificateTexts)
    return refuse(`it holds more than ${maxCertificateTexts} certificates`)
  const certificates = texts.map((element) => readCertificate(element.textContent ?? ''))
  const living = certificates.filter(({ validToDate }) => validToDate.getTime() > now)
  if (living.length === 0) {
    const end = Math.max(...certificates.map(({ validToDate }) => validToDate.getTime()))
    return refuse(`its certificate has expired, on ${new Date(end).toISOString().slice(0, 10)}`)
  }
  for (const certificate of living) assertStrongKey(certificate)
  const different = [...new Set(living.map((certificate) => certificate.toString()))]
  if (different.length > maxCertificates)
    return refuse(
      `it holds more than ${maxCertificates} valid certificates; leave out those that do not sign`,
    )
  return different
}

/**
 * Reads and validates metadata before it is saved.
 * @param now milliseconds since 1970
 * @throws UnusableMetadata saying what is wrong with it
 */
export function readIdentityProvider(xml: string, now: number): IdentityProvider {
  const entity = findEntity(parseRoot(xml))
  const entityId = attributeOf(entity, 'entityID') ?? ''
  if (entityId === '' || entityId.length > 1024 || /\s/.test(entityId))
    return refuse('it has no usable entityID (1 to 1024 characters without spaces)')
  const descriptor = findDescriptor(entity)
  const protocols = attributeOf(descriptor, 'protocolSupportEnumeration')?.split(/\s+/) ?? []
  if (!protocols.includes(namespaces.protocol)) return refuse('it does not support SAML 2.0')
  return {
    entityId,
    signInUrl: readSignInUrl(descriptor),
    certificates: readCertificates(descriptor, now),
  }
}

const isSigned = (element: Element): boolean =>
  childrenNamed(element, namespaces.signature, 'Signature').length > 0

/** Whether a document is signed as a whole, or what it says of the one identity provider. */
export function isSignedMetadata(xml: string): boolean {
  const root = parseRoot(xml)
  return isSigned(root) || isSigned(findEntity(root))
}

/**
 * Reads metadata that is used without a review. Where it is signed, one of the known keys must have signed
 * it, and nothing but what was signed is read.
 * @param certificates of the identity provider, in PEM
 * @param now milliseconds since 1970
 * @throws UnusableMetadata
 */
export function readTrustedProvider(
  xml: string,
  certificates: readonly string[],
  now: number,
): IdentityProvider {
  const root = parseRoot(xml)
  const living = certificates.filter((pem) => new X509Certificate(pem).validToDate.getTime() > now)
  let text = xml
  for (const element of new Set([root, findEntity(root)])) {
    if (!isSigned(element)) continue
    try {
      text = verifySignedText(element, living)
    } catch (error) {
      if (!(error instanceof SamlRefusal)) throw error
      refuse(
        'its signature was not made with a certificate of the identity provider that is known here, or not in a way that is accepted',
        error,
      )
    }
  }
  return readIdentityProvider(text, now)
}
