import { SamlRefusal } from './saml-refusal.ts'
import { attributeOf, childElements, everyElement, isNamed, namespaces } from './saml-xml.ts'

const namespaceOfDeclarations = 'http://www.w3.org/2000/xmlns/'

/** A canonicalisation writes the name of a namespace again for each element that first uses it. */
const maxNamespaceLength = 200

/** Attributes that some reader somewhere takes for an identifier. */
function assertIdentifier(element: Element, { name, value }: Attr, seen: Set<string>): void {
  const wanted = element.namespaceURI === namespaces.signature ? 'Id' : 'ID'
  if (name !== wanted) throw new SamlRefusal('foreign-id')
  if (seen.has(value)) throw new SamlRefusal('duplicate-id')
  seen.add(value)
}

function assertAttributes(elements: readonly Element[]): void {
  const identifiers = new Set<string>()
  for (const element of elements) {
    const { attributes } = element
    for (let i = 0; i < attributes.length; i++) {
      const attribute = attributes[i] as Attr
      // `xmlns:id` declares a prefix and identifies nothing.
      if (attribute.namespaceURI === namespaceOfDeclarations) {
        if (attribute.value.length > maxNamespaceLength) throw new SamlRefusal('too-large')
      } else if ((attribute.localName ?? attribute.name).toLowerCase() === 'id') {
        assertIdentifier(element, attribute, identifiers)
      }
    }
  }
}

/** What stands directly in a response, and in an assertion (saml-core 2.3.3); nothing else may. */
const partsOfResponse = [
  [namespaces.assertion, 'Issuer'],
  [namespaces.signature, 'Signature'],
  [namespaces.protocol, 'Status'],
  [namespaces.assertion, 'Assertion'],
] as const
const partsOfAssertion = [
  [namespaces.assertion, 'Issuer'],
  [namespaces.signature, 'Signature'],
  [namespaces.assertion, 'Subject'],
  [namespaces.assertion, 'Conditions'],
  [namespaces.assertion, 'Advice'],
  [namespaces.assertion, 'Statement'],
  [namespaces.assertion, 'AuthnStatement'],
  [namespaces.assertion, 'AuthzDecisionStatement'],
  [namespaces.assertion, 'AttributeStatement'],
] as const

function assertChildren(parent: Element, allowed: readonly (readonly [string, string])[]): void {
  for (const child of childElements(parent))
    if (!allowed.some(([namespace, name]) => isNamed(child, namespace, name)))
      throw new SamlRefusal('unexpected-structure')
}

/**
 * The one response and its one assertion, when the document has the only shape in which there is nothing to
 * wrap: a response that directly holds one assertion, no second of either anywhere, and signatures directly
 * inside these two alone.
 * @throws SamlRefusal
 */
export function readResponseStructure(root: Element): { response: Element; assertion: Element | undefined } {
  const elements = [...everyElement(root)]
  assertAttributes(elements)
  if (!isNamed(root, namespaces.protocol, 'Response')) throw new SamlRefusal('unexpected-structure')
  if (elements.some(({ localName }) => localName.startsWith('Encrypted'))) throw new SamlRefusal('encrypted')
  const named = (name: string) => elements.filter(({ localName }) => localName === name)
  if (named('Response').length !== 1) throw new SamlRefusal('signature-wrapped')
  const [assertion, ...more] = named('Assertion')
  if (more.length > 0) throw new SamlRefusal('signature-wrapped')
  if (assertion && !(isNamed(assertion, namespaces.assertion, 'Assertion') && assertion.parentNode === root))
    throw new SamlRefusal('signature-wrapped')
  for (const signature of named('Signature')) {
    const isPlaced = signature.parentNode === root || signature.parentNode === assertion
    if (!isPlaced || signature.namespaceURI !== namespaces.signature)
      throw new SamlRefusal('signature-wrapped')
  }
  assertChildren(root, partsOfResponse)
  if (assertion) assertChildren(assertion, partsOfAssertion)
  if (attributeOf(root, 'Version') !== '2.0') throw new SamlRefusal('unexpected-structure')
  return { response: root, assertion }
}
