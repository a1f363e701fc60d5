import { SamlRefusal } from './saml-refusal.ts'
import { attributeOf, childElements, everyElement, isNamed, namespaces } from './saml-xml.ts'

/** Attributes that some reader somewhere takes for an identifier. */
function identifiersOf(element: Element): Attr[] {
  return Array.from(element.attributes).filter((each) => {
    // `xmlns:id` declares a prefix and identifies nothing.
    if (each.namespaceURI === namespaceOfDeclarations) return false
    return (each.localName ?? each.name).toLowerCase() === 'id'
  })
}

const namespaceOfDeclarations = 'http://www.w3.org/2000/xmlns/'

/**
 * Most namespaces declared by an element and those around it: a canonicalisation holds them against everything
 * inside. Not in the whole document: identity providers declare the same two again for each value.
 */
const mostDeclarations = 50

function assertFewDeclarations(element: Element, outside = 0): void {
  const own = Array.from(element.attributes).filter((each) => each.namespaceURI === namespaceOfDeclarations)
  const declared = outside + own.length
  if (declared > mostDeclarations) throw new SamlRefusal('too-many-elements')
  for (const child of childElements(element)) assertFewDeclarations(child, declared)
}

function assertIdentifiers(elements: readonly Element[]): void {
  const seen = new Set<string>()
  for (const element of elements) {
    for (const { name, value } of identifiersOf(element)) {
      const wanted = element.namespaceURI === namespaces.signature ? 'Id' : 'ID'
      if (name !== wanted) throw new SamlRefusal('foreign-id')
      if (seen.has(value)) throw new SamlRefusal('duplicate-id')
      seen.add(value)
    }
  }
}

/**
 * The one response and its one assertion, when the document has the only shape in which there is nothing to
 * wrap: a response that directly holds one assertion, no second of either anywhere, and signatures directly
 * inside these two alone.
 * @throws SamlRefusal
 */
export function readResponseStructure(root: Element): { response: Element; assertion: Element | undefined } {
  assertFewDeclarations(root)
  const elements = [...everyElement(root)]
  assertIdentifiers(elements)
  if (!isNamed(root, namespaces.protocol, 'Response')) throw new SamlRefusal('unexpected-structure')
  if (elements.some(({ localName }) => localName.startsWith('Encrypted'))) throw new SamlRefusal('encrypted')
  const children = childElements(root)
  const named = (name: string) => elements.filter(({ localName }) => localName === name)
  if (named('Response').length !== 1) throw new SamlRefusal('signature-wrapped')
  const [assertion, ...more] = named('Assertion')
  if (more.length > 0) throw new SamlRefusal('signature-wrapped')
  if (assertion && !(isNamed(assertion, namespaces.assertion, 'Assertion') && children.includes(assertion)))
    throw new SamlRefusal('signature-wrapped')
  for (const signature of named('Signature')) {
    const isPlaced = signature.parentNode === root || signature.parentNode === assertion
    if (!isPlaced || signature.namespaceURI !== namespaces.signature)
      throw new SamlRefusal('signature-wrapped')
  }
  const allowed = [
    [namespaces.assertion, 'Issuer'],
    [namespaces.signature, 'Signature'],
    [namespaces.protocol, 'Status'],
    [namespaces.assertion, 'Assertion'],
  ] as const
  for (const child of children)
    if (!allowed.some(([namespace, name]) => isNamed(child, namespace, name)))
      throw new SamlRefusal('unexpected-structure')
  if (attributeOf(root, 'Version') !== '2.0') throw new SamlRefusal('unexpected-structure')
  return { response: root, assertion }
}
