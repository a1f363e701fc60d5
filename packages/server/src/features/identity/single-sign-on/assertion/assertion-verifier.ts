import { X509Certificate } from 'node:crypto'
import {
  checkAge,
  checkAuthentication,
  checkConditions,
  checkSubjectConfirmation,
} from './assertion-conditions.ts'
import { readResponseStructure } from './response-structure.ts'
import { SamlRefusal } from './saml-refusal.ts'
import {
  attributeOf,
  childElements,
  childrenNamed,
  namespaces,
  onlyChild,
  parseForeignXml,
  plainText,
  responseLimits,
} from './saml-xml.ts'
import { readSignedElement, verifySignedText } from './signed-element.ts'

/** What a response is verified against. */
export interface Expectation {
  /** Entity id of the company's identity provider. */
  readonly issuer: string
  /** Its certificates in PEM. */
  readonly certificates: readonly string[]
  /** Our entity id for the company. */
  readonly audience: string
  /** Our address for responses of the company. */
  readonly acsUrl: string
  /** Whether it may answer no request of ours. */
  readonly allowUnsolicited?: boolean
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Whether the name is an e-mail address, which is compared without case, or a text compared as it is. */
export type NameFormat = 'email' | 'other'

/** What the identity provider has signed. */
export interface VerifiedAssertion {
  readonly assertionId: string
  /** Undefined when the sign-in began at the identity provider. */
  readonly inResponseTo: string | undefined
  readonly nameId: string
  readonly nameFormat: NameFormat
  /** Values by the attribute's name, each without space around it. */
  readonly attributes: ReadonlyMap<string, readonly string[]>
  /** Until when the assertion could be used again, in milliseconds. */
  readonly end: number
}

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success'
const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'
const entityFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity'
const emailAddress = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
const base64 = /^[A-Za-z0-9+/]+={0,2}$/
const maxNameIdLength = 1_024

function decodeMessage(message: string): Buffer {
  const packed = message.replaceAll(/[\r\n\t ]/g, '')
  if (packed.length > Math.ceil(responseLimits.bytes / 3) * 4) throw new SamlRefusal('too-large')
  if (!base64.test(packed)) throw new SamlRefusal('not-base64')
  return Buffer.from(packed, 'base64')
}

function checkIssuer(element: Element, issuer: string, isRequired: boolean): void {
  const found = onlyChild(element, namespaces.assertion, 'Issuer')
  if (!found) {
    if (isRequired) throw new SamlRefusal('wrong-issuer')
    return
  }
  const format = attributeOf(found, 'Format')
  if (format !== undefined && format !== entityFormat) throw new SamlRefusal('wrong-issuer')
  if (plainText(found)?.trim() !== issuer) throw new SamlRefusal('wrong-issuer')
}

function checkStatus(response: Element): void {
  const status = onlyChild(response, namespaces.protocol, 'Status')
  const code = status && onlyChild(status, namespaces.protocol, 'StatusCode')
  if (!code || attributeOf(code, 'Value') !== success) throw new SamlRefusal('status-not-success')
}

function readNameId(subject: Element): { nameId: string; nameFormat: NameFormat } {
  const element = onlyChild(subject, namespaces.assertion, 'NameID')
  const text = element && plainText(element)?.trim()
  if (!element || !text || text.length > maxNameIdLength) throw new SamlRefusal('no-subject')
  const format = attributeOf(element, 'Format')
  // It is another one at the next sign-in, and identifies no user.
  if (format === transient) throw new SamlRefusal('transient-name-id')
  return { nameId: text, nameFormat: format === emailAddress ? 'email' : 'other' }
}

function readAttributes(assertion: Element): Map<string, readonly string[]> {
  const attributes = new Map<string, string[]>()
  for (const statement of childrenNamed(assertion, namespaces.assertion, 'AttributeStatement')) {
    for (const attribute of childrenNamed(statement, namespaces.assertion, 'Attribute')) {
      const name = attributeOf(attribute, 'Name')
      if (name === undefined) throw new SamlRefusal('unexpected-structure')
      const values = attributes.get(name) ?? []
      for (const value of childElements(attribute)) {
        const text = plainText(value)?.trim()
        if (text) values.push(text)
      }
      attributes.set(name, values)
    }
  }
  return attributes
}

/** Those of the certificates that have not ended; a key whose certificate has ended proves nothing. */
function requireLiving(certificates: readonly string[], now: number): string[] {
  const living = certificates.filter((pem) => new X509Certificate(pem).validToDate.getTime() > now)
  if (living.length === 0) throw new SamlRefusal('certificate-expired')
  return living
}

/** Everything about a response whose text could be read. */
function validate(root: Element, expected: Expectation): VerifiedAssertion {
  const { response, assertion: unverified } = readResponseStructure(root)
  checkStatus(response)
  if (!unverified) throw new SamlRefusal('unexpected-structure')
  checkIssuer(response, expected.issuer, false)
  const destination = attributeOf(response, 'Destination')
  if (destination !== expected.acsUrl) throw new SamlRefusal('wrong-destination')
  const certificates = requireLiving(expected.certificates, expected.now)

  const assertion = readSignedElement(unverified, certificates)
  if (childrenNamed(response, namespaces.signature, 'Signature').length > 0)
    verifySignedText(response, certificates)

  if (attributeOf(assertion, 'Version') !== '2.0') throw new SamlRefusal('unexpected-structure')
  checkIssuer(assertion, expected.issuer, true)
  const subject = onlyChild(assertion, namespaces.assertion, 'Subject')
  if (!subject) throw new SamlRefusal('no-subject')
  const validUntil = checkConditions(assertion, expected.audience, expected.now)
  const confirmation = checkSubjectConfirmation(subject, expected.acsUrl, expected.now)
  checkAuthentication(assertion, expected.now)
  const answered = attributeOf(response, 'InResponseTo')
  if (confirmation.inResponseTo === undefined) {
    if (!expected.allowUnsolicited || answered !== undefined) throw new SamlRefusal('unsolicited')
    checkAge(assertion, expected.now)
  } else if (answered !== confirmation.inResponseTo) throw new SamlRefusal('unknown-request')
  return {
    assertionId: attributeOf(assertion, 'ID') ?? '',
    inResponseTo: confirmation.inResponseTo,
    ...readNameId(subject),
    attributes: readAttributes(assertion),
    end: Math.max(validUntil, confirmation.end),
  }
}

/**
 * Verifies a SAML response of the HTTP-POST binding. The assertion itself must be signed; a signature of the
 * response is verified too where there is one, but never stands in for the assertion's. Everything that decides
 * who signs in is read from the signed bytes of the assertion.
 * @param message `SAMLResponse` as it was posted
 * @throws SamlRefusal naming the first thing that is wrong
 */
export function verifyResponse(message: string, expected: Expectation): VerifiedAssertion {
  const root = parseForeignXml(decodeMessage(message), responseLimits)
  try {
    return validate(root, expected)
  } catch (error) {
    if (!(error instanceof SamlRefusal)) throw error
    throw new SamlRefusal(error.reason, error, attributeOf(root, 'InResponseTo'))
  }
}
