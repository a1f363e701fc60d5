import { SamlRefusal } from './saml-refusal.ts'
import {
  attributeOf,
  childElements,
  childrenNamed,
  isNamed,
  namespaces,
  onlyChild,
  plainText,
} from './saml-xml.ts'

/** Clocks of two organisations may differ by this much. */
const skewMs = 60_000

const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'

/** Milliseconds of an attribute that is an instant; undefined when it is absent. */
function instantOf(element: Element, name: string): number | undefined {
  const text = attributeOf(element, name)
  if (text === undefined) return undefined
  const instant = instantPattern.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(instant)) throw new SamlRefusal('unexpected-structure')
  return instant
}

/** @returns when it ends */
function requireValidNow(element: Element, now: number): number {
  const from = instantOf(element, 'NotBefore')
  const to = instantOf(element, 'NotOnOrAfter')
  if (from !== undefined && now + skewMs < from) throw new SamlRefusal('not-yet-valid')
  if (to === undefined) throw new SamlRefusal('no-time-limit')
  if (now - skewMs >= to) throw new SamlRefusal('expired')
  return to
}

function requireAudience(conditions: Element, audience: string): void {
  const restrictions = childrenNamed(conditions, namespaces.assertion, 'AudienceRestriction')
  const names = (restriction: Element) =>
    childrenNamed(restriction, namespaces.assertion, 'Audience').map((each) => plainText(each)?.trim())
  const matchesAudience =
    restrictions.length > 0 && restrictions.every((each) => names(each).includes(audience))
  if (!matchesAudience) throw new SamlRefusal('wrong-audience')
}

/**
 * `Conditions` (saml-core 2.5): times, audience, and nothing that is not understood.
 * @returns the end of the assertion's validity in milliseconds
 * @throws SamlRefusal
 */
export function checkConditions(assertion: Element, audience: string, now: number): number {
  const conditions = onlyChild(assertion, namespaces.assertion, 'Conditions')
  if (!conditions) throw new SamlRefusal('no-time-limit')
  const known = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction']
  for (const condition of childElements(conditions))
    if (!known.some((name) => isNamed(condition, namespaces.assertion, name)))
      throw new SamlRefusal('unknown-condition')
  const end = requireValidNow(conditions, now)
  requireAudience(conditions, audience)
  return end
}

/** A session that the identity provider has ended already is refused (saml-core 2.7.2). */
export function checkAuthentication(assertion: Element, now: number): void {
  const statements = childrenNamed(assertion, namespaces.assertion, 'AuthnStatement')
  if (statements.length === 0) throw new SamlRefusal('no-authentication')
  for (const statement of statements) {
    const end = instantOf(statement, 'SessionNotOnOrAfter')
    if (end !== undefined && now - skewMs >= end) throw new SamlRefusal('session-expired')
  }
}

export interface Confirmation {
  /** The request that the assertion answers; undefined when it began at the identity provider. */
  readonly inResponseTo: string | undefined
  /** In milliseconds. */
  readonly end: number
}

function checkConfirmation(confirmation: Element, recipient: string, now: number): Confirmation {
  const data = onlyChild(confirmation, namespaces.assertion, 'SubjectConfirmationData')
  if (!data) throw new SamlRefusal('no-bearer-confirmation')
  if (attributeOf(data, 'Recipient') !== recipient) throw new SamlRefusal('wrong-recipient')
  const end = requireValidNow(data, now)
  const inResponseTo = attributeOf(data, 'InResponseTo')
  if (inResponseTo === '') throw new SamlRefusal('unsolicited')
  return { inResponseTo, end }
}

/** No browser waits for an assertion that answers no request: it is for the moment that it was made in. */
const maxAgeMs = 120_000

/**
 * An assertion without a request is taken for two minutes after it was made, however long it says that it is valid.
 * @throws SamlRefusal `too-old`
 */
export function checkAge(assertion: Element, now: number): void {
  const issued = instantOf(assertion, 'IssueInstant')
  if (issued === undefined) throw new SamlRefusal('no-time-limit')
  if (now + skewMs < issued) throw new SamlRefusal('not-yet-valid')
  if (now - skewMs > issued + maxAgeMs) throw new SamlRefusal('too-old')
}

/**
 * The one bearer confirmation of the subject (saml-profiles 4.1.4.2): for this address, now, and the request that it
 * answers.
 * @throws SamlRefusal
 */
export function checkSubjectConfirmation(subject: Element, recipient: string, now: number): Confirmation {
  const confirmations = childrenNamed(subject, namespaces.assertion, 'SubjectConfirmation')
  const [found, ...more] = confirmations.filter((each) => attributeOf(each, 'Method') === bearer)
  if (!found || more.length > 0) throw new SamlRefusal('no-bearer-confirmation')
  return checkConfirmation(found, recipient, now)
}
